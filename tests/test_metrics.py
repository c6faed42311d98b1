"""The cases of tests/metrics and tests/reducers: one file a name, and what every metric must do."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics import metric, reducer
from harbor_metrics.estimate import Undefined
from harbor_metrics.metric import UV_SCRIPT
from harbor_metrics.signature import SpecError
from harbor_metrics.testing import mistakes, outcome

FILES = sorted((HERE / "metrics").glob("*.json"))
REDUCERS = sorted((HERE / "reducers").glob("*.json"))
NAMES = sorted(set(metric.names()) - {UV_SCRIPT})
# What a metric needs to be called at all.
NEEDED: dict[str, dict[str, Any]] = {
    "grouped": {"metric": "mean", "by": "label"},
    "micro-average": {"weight": "label"},
    "quantile": {"q": 0.3},
    "weighted-mean": {"weight": "label"},
    "weighted-perplexity": {"weight": "label"},
    "bits-per-byte": {"weight": "label"},
    "f1": {"reference": "label"},
    "matthews-corrcoef": {"reference": "label"},
    "brier-score": {"probabilities": "reward"},
    **{
        name: {"k": 1}
        for name in ("pass-at-k", "pass-hat-k", "at-least-k", "any-first-k", "all-first-k")
    },
}


def cases(files: list[Any]) -> list[Any]:
    return [
        pytest.param(path.stem, case, id=f"{path.stem}: {case['what']}")
        for path in files
        for case in json.loads(path.read_text())
    ]


@pytest.mark.parametrize(("type_", "case"), cases(FILES))
def test_case(type_: str, case: dict[str, Any]) -> None:
    assert not mistakes(outcome(type_, case), case)


@pytest.mark.parametrize(("name", "case"), cases(REDUCERS))
def test_reducer_case(name: str, case: dict[str, Any]) -> None:
    value = reducer.bind(reducer.ReducerSpec(type=name, kwargs=case.get("kwargs", {})))
    found = value.function(case["attempts"], **value.arguments)
    if "reason" in case:
        assert isinstance(found, Undefined)
        assert case["reason"] in found.reason
    else:
        assert found == case["value"]
        assert type(found) is type(case["value"])


def test_every_metric_and_reducer_has_cases() -> None:
    assert {path.stem for path in FILES} == set(NAMES)
    assert {path.stem for path in REDUCERS} == set(reducer.names())


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_says_what_it_is(name: str) -> None:
    assert metric.lookup(name).description.partition("\n")[0].endswith(".")


@pytest.mark.parametrize("name", reducer.names())
def test_every_reducer_says_what_it_is(name: str) -> None:
    assert reducer.lookup(name).description.partition("\n")[0].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_no_trials_give_no_number(name: str) -> None:
    one = outcome(name, {"rewards": [], "kwargs": NEEDED.get(name, {})})
    assert one.status == "undefined"
    assert set(one.values.values()) == {None}
    assert all(one.reasons.values())


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"bleu", "chrf", "ter", "exact-match"}))
def test_nothing_scored_gives_no_number(name: str) -> None:
    labels = [{"label": 1}, {"label": 2}]
    case = {"rewards": [None, None], "labels": labels, "kwargs": NEEDED.get(name, {})}
    one = outcome(name, case)
    assert one.status == "undefined"
    assert set(one.values.values()) == {None}


@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_trials_changes_no_number(name: str) -> None:
    rewards = [{"reward": x} for x in (0.1, 1e16, 0.7, -1e16, 1 / 3, 0.0)] + [None]
    rows = [
        (reward, f"t{i // 2}", {"label": i % 3}, {"seconds": 0.1 * i, "cost_usd": i / 7})
        for i, reward in enumerate(rewards)
    ]
    seen = set()
    for seed in range(20):
        # Attempts of a task keep their order: it is theirs, not the file's.
        attempts = {row: i % 2 for i, row in enumerate(map(id, rows))}
        shuffled = random.Random(seed).sample(rows, len(rows))
        one = outcome(
            name,
            {
                "rewards": [row[0] for row in shuffled],
                "tasks": [row[1] for row in shuffled],
                "labels": [row[2] for row in shuffled],
                "usage": [row[3] for row in shuffled],
                "texts": [{"prediction": row[1], "reference": "t1"} for row in shuffled],
                "attempts": [attempts[id(row)] for row in shuffled],
                "kwargs": NEEDED.get(name, {}),
            },
        )
        assert one.status != "failed", one.error
        seen.add(repr((one.values, one.n, one.uncertainty)))
    assert len(seen) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_kwarg_is_refused_with_the_nearest(name: str) -> None:
    known = metric.lookup(name)
    for kwarg in (*known.kwargs.__struct_fields__, *known.common):
        wrong = f"{kwarg[:-1]}{chr(ord(kwarg[-1]) + 1)}x" if len(kwarg) > 2 else f"{kwarg}_"
        with pytest.raises(SpecError, match=f"takes no `{wrong}`"):
            known.bind({**NEEDED.get(name, {}), wrong: 1})
