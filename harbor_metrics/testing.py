"""Checks of a metric for those who write one: cases as data, and what every metric must do."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from .catalogue.names import resolve
from .contract.metric import metric_of
from .contract.spec import MetricSpec
from .evaluation.binding import bind
from .evaluation.evaluate import evaluate
from .evaluation.result import Outcome
from .trials.table import Missing, Table
from .trials.trial import Trial, Usage

# One case: `what` it is, trials column by column (`rewards`, and as needed `tasks`, `attempts`,
# `labels`, `texts`, `usage`), `kwargs`; and what is expected: `values` (and `n`, words of
# `reasons` and `notes`, `within` which tolerance, 0 by default), or a part of the `error`.
Case = Mapping[str, Any]
_COLUMNS = ("rewards", "tasks", "attempts", "labels", "texts", "usage")


def check_metric(
    function: Callable[..., Any], cases: Sequence[Case] | str | os.PathLike[str] = ()
) -> None:
    """Whether a metric gives the values of the cases, and keeps the rules that all metrics keep.

    Cases are given, or the path of a JSON file with an array of them. Without trials a metric must
    be undefined; the order of the trials must change nothing; its docstring must say what it is.

    Raises:
        AssertionError: it does not; every mistake is listed.
        TypeError: the function is not a metric.
        ValueError: a case lacks what it needs.
    """
    metric = metric_of(function)
    rows: Sequence[Case]
    if isinstance(cases, str | os.PathLike):
        with open(cases, encoding="utf-8") as file:
            rows = json.load(file)
    else:
        rows = cases
    wrong: list[str] = []
    for case in rows:
        if "rewards" not in case or not ({"values", "error"} & case.keys()):
            raise ValueError(f"a case needs `rewards`, and `values` or `error`: {case}")
        lengths = {name: len(case[name]) for name in _COLUMNS if name in case}
        if len(set(lengths.values())) > 1:
            raise ValueError(
                f"{case.get('what', 'a case')}: columns of different lengths: {lengths}"
            )
    if not metric.description.partition("\n")[0].endswith("."):
        wrong.append("the first line of the docstring is no sentence")
    for case in rows:
        title = case.get("what", "a case")
        wrong += [f"{title}: {mistake}" for mistake in mistakes(outcome(function, case), case)]
        wrong += [f"{title}: {mistake}" for mistake in _rules(function, case)]
    assert not wrong, "\n".join([f"{metric.name}:", *wrong])


def outcome(
    metric: str | Callable[..., Any],
    case: Case,
    *,
    level: float | None = 0.95,
    missing: Missing | None = None,
) -> Outcome:
    """What a metric, by its name or its function, says of the trials of a case."""
    kwargs = dict(case.get("kwargs", {}))
    if isinstance(metric, str):
        spec = resolve(MetricSpec(type=metric, kwargs=kwargs))
        planned = bind(metric, spec, "extra")
    else:
        described = metric_of(metric)
        spec = MetricSpec(type=described.name, kwargs=kwargs)
        planned = bind(described.name, spec, "extra", metric=described)
    (result,) = evaluate(
        [planned], Table(trials(case)), missing=missing, level=level, run_scripts=lambda *_: []
    )
    return result


def trials(case: Case) -> list[Trial]:
    """The trials of a case; each is a task of its own unless `tasks` are given."""
    rewards = case["rewards"]
    n = len(rewards)
    nothing: list[dict[str, Any]] = [{}] * n
    columns = [
        case["tasks"] if "tasks" in case else [f"t{i}" for i in range(n)],
        case.get("attempts", range(n)),
        *(case.get(name, nothing) for name in ("labels", "texts", "usage")),
    ]
    return [
        Trial(
            task=task,
            rewards=reward,
            attempt=attempt,
            labels=labels,
            texts=texts,
            usage=msgspec.convert(usage, Usage),
        )
        for reward, task, attempt, labels, texts, usage in zip(rewards, *columns, strict=True)
    ]


def mistakes(outcome: Outcome, case: Case) -> list[str]:
    """What in an outcome is not as the case says."""
    message = outcome.error.message if outcome.error else ""
    if "error" in case:
        expected = case["error"]
        return [] if expected in message else [f"failed with {message!r}, not {expected!r}"]
    if outcome.status == "failed":
        return [f"failed: {message}"]
    wrong = []
    if list(outcome.values) != list(case["values"]):
        return [f"values are called {list(outcome.values)}, not {list(case['values'])}"]
    for name, expected in case["values"].items():
        if not same(outcome.values[name], expected, case.get("within", 0.0)):
            wrong.append(f"{name} is {outcome.values[name]!r}, not {expected!r}")
    if "n" in case and outcome.n != case["n"]:
        wrong.append(f"n is {outcome.n}, not {case['n']}")
    for words, texts in (("reasons", outcome.reasons.values()), ("notes", outcome.notes)):
        together = " ".join(texts)
        wrong += [
            f"{words} lack {w!r}: {together}" for w in case.get(words, ()) if w not in together
        ]
    for name, expected in case.get("uncertainty", {}).items():
        uncertainty = msgspec.to_builtins(outcome.uncertainty.get(name))
        if uncertainty is None or not all(
            _alike(uncertainty[part], expected[part]) for part in expected
        ):
            wrong.append(f"the uncertainty of {name} is {uncertainty}, not {expected}")
    return wrong


def _alike(actual: Any, expected: Any) -> bool:
    if isinstance(expected, str):
        return isinstance(actual, str) and expected in actual
    return same(actual, expected, 1e-12)


def same(actual: float | None, expected: float | None, within: float) -> bool:
    """Whether two numbers are the same, int and float kept apart, or as near as that."""
    if actual is None or expected is None or not within:
        return actual == expected and type(actual) is type(expected)
    return abs(actual - expected) <= within * max(1.0, abs(expected))


def _rules(function: Callable[..., Any], case: Case) -> list[str]:
    """What is wrong with the metric whatever the values should be."""
    if "error" in case:
        return []
    columns = [name for name in _COLUMNS if name in case and name != "attempts"]
    n = len(case["rewards"])
    wrong = []
    none = outcome(function, {**case, **{name: [] for name in columns}, "attempts": []})
    if none.status != "undefined":
        why = f": {none.error.message}" if none.error else f": {none.values}"
        wrong.append(f"without trials it is {none.status}{why}")
    first = outcome(function, case)
    order = random.Random(1).sample(range(n), n)  # noqa: S311  # an order, not a secret
    attempts = case.get("attempts", range(n))
    shuffled = {name: [case[name][i] for i in order] for name in columns}
    tasks = case.get("tasks", [f"t{i}" for i in range(n)])
    shuffled |= {"tasks": [tasks[i] for i in order], "attempts": [attempts[i] for i in order]}
    again = outcome(function, {**case, **shuffled})
    if (again.values, again.n) != (first.values, first.n):
        wrong.append(f"another order of the trials gives {again.values}, not {first.values}")
    return wrong
