"""A metric says the same of trials that lie on an engine as of trials that are kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import metrics_said
import msgspec
import pytest
from conftest import CASES
from metrics_said import said
from relations import ENGINES, frame, source_of, table_of

from harbor_metrics.errors import InputError, OutputError, UsageError
from harbor_metrics.numbers.exact import Number
from harbor_metrics.testing import trials
from harbor_metrics.trials.labelled import label_text
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Label, Trial

pytestmark = pytest.mark.one_python

CONNECTION = duckdb.connect(config={"threads": 1})
# Of the first two the inner metric, or the kwargs, decide on an engine, and the others need pairs
# of rewards, or what was used.
NEED_ROWS = metrics_said.NEED_ROWS - {
    "grouped",
    "likelihood",
    "balanced-accuracy",
    "cohen-kappa",
    "f1",
    "matthews-corrcoef",
}


def needs_rows(name: str, kwargs: dict[str, Any]) -> bool:
    """Whether these kwargs make a metric need rows, or it needs them anyway."""
    inner = kwargs.get("metric", "")
    inner = inner if isinstance(inner, str) else inner["type"]
    reducer = kwargs.get("reducer", "mean")
    return (
        name in NEED_ROWS
        or inner in NEED_ROWS
        or kwargs.get("average") == "micro"
        or reducer not in ("mean", "min", "max")
        or ("reducer" in kwargs and (name == "grouped" or "cluster" in kwargs))
        or bool({"label", "likelihoods", "per"} & kwargs.keys())
        or (name == "bootstrap-stderr" and bool({"metric", "method"} & kwargs.keys()))
    )


def on_engine(case: dict[str, Any]) -> list[Trial]:
    """The trials of a case; an empty object of rewards is null there."""
    return [msgspec.structs.replace(t, rewards=t.rewards or None) for t in trials(case)]


def labels_by_name(rows: list[Trial]) -> dict[str, list[Label]]:
    """The values of each label."""
    names = {name for row in rows for name in row.labels}
    return {name: [row.labels.get(name) for row in rows] for name in names}


def are_others_as_texts(labels: list[Label]) -> bool:
    """Whether two of these are one as texts and were not, such as 1 and "1", or the other way."""
    texts = list(map(label_text, labels))
    return not len({*labels}) == len({*texts}) == len({*zip(labels, texts, strict=True)})


@cache
def on_duckdb(rows: bytes) -> Table:
    """The trials as a relation, which is asked once what several metrics ask."""
    return table_of(frame(msgspec.json.decode(rows, type=list[Trial]), connection=CONNECTION))


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_says_the_same_on_duckdb(name: str) -> None:
    for case in CASES[name]:
        rows, kwargs = on_engine(case), case.get("kwargs", {})
        if not rows:
            continue
        values = [n for row in rows for n in (row.rewards or {}).values()]
        if any(type(n) is int and abs(n) > 2**53 for n in values):
            with pytest.raises((InputError, OutputError), match=r"2\^53|no column of Parquet"):
                table_of(frame(rows, connection=CONNECTION))
            continue
        if any(map(are_others_as_texts, labels_by_name(rows).values())):
            with pytest.raises(OutputError, match="no column of Parquet holds what label"):
                table_of(frame(rows, connection=CONNECTION))
            continue
        table = on_duckdb(msgspec.json.encode(rows))
        entry = {"type": name, "kwargs": kwargs}
        for over in ("tasks", "attempts"):
            kept, outcome = said(entry, Table(rows), over=over), said(entry, table, over=over)
            rule = outcome.error.rule if outcome.error else ""
            if rule == "needs-rows":
                assert needs_rows(name, kwargs), (case, outcome.error)
            elif rule == "missing-label":
                # A label that is null is none, on an engine.
                assert any(None in labels.values() for labels in case["labels"])
            else:
                assert msgspec.to_builtins(outcome) == msgspec.to_builtins(kept), case


KINDS: dict[str, Callable[[random.Random], Number]] = {
    "zeros and ones": lambda rng: float(rng.random() < 0.5),
    "passes": lambda rng: rng.randrange(2),
    "grades": lambda rng: rng.randrange(5) / 4,
    "integers": lambda rng: rng.randrange(-(2**53), 2**53),
    "shares": lambda rng: rng.random(),
    "signed": lambda rng: rng.gauss(0, 1e6),
    "wide": lambda rng: rng.choice([-1, 1]) * rng.random() * 2.0 ** rng.randrange(-20, 40),
    "huge": lambda rng: rng.choice([-1, 1]) * rng.random() * 1e306,
    "tiny": lambda rng: rng.random() * 1e-290,
    "same": lambda rng: 0.1,
}
ASKED = [
    {"type": "sum"},
    {"type": "min"},
    {"type": "max"},
    {"type": "mean"},
    {"type": "mean", "kwargs": {"missing": "skip"}},
    {"type": "mean-reward"},
    {"type": "mean-reward", "kwargs": {"missing": "skip"}},
    {"type": "median"},
    {"type": "std"},
    {"type": "ci", "kwargs": {"method": "hall"}},
    {"type": "ci", "kwargs": {"method": "bootstrap", "samples": 50}},
    {"type": "count", "kwargs": {"threshold": 0.5}},
    {"type": "pass-at-k", "kwargs": {"k": 2, "threshold": 0.5}},
    {"type": "consistency"},
    {"type": "variance-components"},
    {"type": "mean", "kwargs": {"reducer": "max"}},
    {"type": "median", "kwargs": {"reducer": "min"}},
    {"type": "count", "kwargs": {"reducer": "min", "missing": "skip", "threshold": 0.5}},
    {"type": "std", "kwargs": {"reducer": "mean", "missing": "skip"}},
    {"type": "ci", "kwargs": {"reducer": "mean"}},
]


def attempts(number: Callable[[random.Random], Number], rng: random.Random) -> list[Trial]:
    """Attempts at a few tasks, some without a reward."""
    return [
        Trial(
            task=f"t{task}",
            attempt=attempt,
            trial=f"t{task}__{attempt}",
            rewards=None if rng.random() < 0.2 else {"reward": number(rng)},
        )
        for task in range(rng.randrange(2, 9))
        for attempt in range(rng.randrange(1, 6))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_engines_and_orders_of_rows_say_the_same_and_have_one_digest(kind: str) -> None:
    rng = random.Random(f"{kind} 2")
    rows = attempts(KINDS[kind], rng)
    kept = [said(entry, Table(rows)) for entry in ASKED]
    digests = set()
    for engine in ENGINES:
        rng.shuffle(rows)
        source = source_of(frame(rows, engine, CONNECTION))
        assert source.counted is not None
        assert source.engine is not None
        (table,) = source.counted.groups.values()
        found = [said(entry, table) for entry in ASKED]
        assert list(map(msgspec.to_builtins, found)) == list(map(msgspec.to_builtins, kept))
        digests.add(source.engine.answers_sha256())
    assert len(digests) == 1


WORLDS: dict[str, Callable[[int], dict[str, Any]]] = {
    "no rewards": lambda _: {"rewards": None},
    "some": lambda i: {"rewards": {"reward": i % 2} if i % 3 else None},
    "two keys": lambda i: {"rewards": {"reward": 0.1 * i, "x": float(i % 2)} if i % 3 else None},
    "huge": lambda i: {"rewards": {"reward": 1e308 * (-1) ** i, "x": 1.7e308}},
    "tiny": lambda i: {"rewards": {"reward": 5e-324 * i, "x": -0.0}},
    "negative": lambda i: {"rewards": {"reward": -3, "x": -i}},
    "labels": lambda i: {"rewards": {"reward": i % 2}, "labels": {"x": i % 2, "y": "NaN"}},
}


@pytest.mark.parametrize("world", WORLDS)
def test_whatever_is_lacking_every_metric_says_the_same_or_why_not(world: str) -> None:
    rows = [Trial(task=f"t{i % 3}", attempt=i, trial=f"t{i}", **WORLDS[world](i)) for i in range(6)]
    table, kept = table_of(frame(rows, connection=CONNECTION)), Table(rows)
    for name in sorted(CASES):
        kinds = {msgspec.json.encode(case.get("kwargs", {})) for case in CASES[name]}
        for kwargs in map(msgspec.json.decode, sorted(kinds)):
            # Of keys and labels that are there, and of those that are not.
            other = {k: "x" for k in ("reference", "probabilities") if k in kwargs}
            for more in ({}, {**other, "key": "reward"}, {**other, "key": "absent"}):
                entry = {"type": name, "kwargs": {**kwargs, **more}}
                try:
                    of_rows = said(entry, kept, missing="skip")
                except UsageError:
                    continue  # it takes no `key`
                outcome = said(entry, table, missing="skip")
                if outcome.error:
                    on_engines = outcome.error.rule in ("needs-rows", "beyond-engine")
                    assert on_engines or of_rows.error, entry
                else:
                    assert msgspec.to_builtins(outcome) == msgspec.to_builtins(of_rows), entry
