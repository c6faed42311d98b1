"""Law: what classes, scores and tasks are called, or how a scale is numbered, changes no number."""

from __future__ import annotations

import random
from typing import Any

import pytest
from conftest import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.testing import outcome

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)
ATTEMPTS = st.lists(
    st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=5), min_size=1, max_size=8
)
OF_CLASSES: list[tuple[str, dict[str, Any]]] = [
    *((name, {"average": a}) for name in ("f1", "precision", "recall") for a in ("macro", "micro")),
    ("f1", {"average": "weighted"}),
    ("balanced-accuracy", {}),
    ("matthews-corrcoef", {}),
    ("cohen-kappa", {}),
]
OF_ORDERS: list[tuple[str, dict[str, Any]]] = [
    ("correlation", {"method": "spearman"}),
    ("correlation", {"method": "kendall"}),
    ("cohen-kappa", {"weights": "linear"}),
    ("cohen-kappa", {"weights": "quadratic"}),
]
OF_ATTEMPTS: list[tuple[str, dict[str, Any]]] = [
    ("consistency", {}),
    ("consistency", {"method": "hal"}),
    ("flipped", {}),
    ("variance-components", {}),
    ("g-pass-at-k", {"k": 2, "tau": 0.6}),
    ("best-at-k", {"k": 2}),
    ("worst-at-k", {"k": 2}),
    ("normalized-mean", {"high": 4, "low": -1, "reducer": "mean"}),
]


def values(name: str, pairs: list[tuple[Any, Any]], **kwargs: Any) -> dict[str, Any]:
    rewards = [{"a": a, "b": b} for a, b in pairs]
    kwargs = {"key": "a", "reference": "b", **kwargs}
    return outcome(name, {"rewards": rewards, "kwargs": kwargs}).values


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.permutations([0, 1, 2, 3]))
@pytest.mark.parametrize(("name", "kwargs"), OF_CLASSES)
def test_classes_may_have_other_numbers(
    name: str, kwargs: Any, pairs: list[tuple[int, int]], new: list[int]
) -> None:
    renamed = [(new[a], new[b]) for a, b in pairs]
    assert values(name, renamed, **kwargs) == values(name, pairs, **kwargs)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
@pytest.mark.parametrize(("name", "kwargs"), OF_ORDERS)
def test_places_of_an_order_may_have_other_numbers(
    name: str, kwargs: Any, pairs: list[tuple[int, int]]
) -> None:
    new = [-7, 0.25, 3, 1e9]
    renamed = [(new[a], new[b]) for a, b in pairs]
    assert values(name, renamed, **kwargs) == values(name, pairs, **kwargs)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=30))
@pytest.mark.parametrize("name", ["auroc", "average-precision"])
def test_scores_count_by_their_order_alone(name: str, pairs: list[tuple[int, int]]) -> None:
    new = [-7, 0.25, 3, 1e9]
    assert values(name, [(new[a], b) for a, b in pairs]) == values(name, pairs)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_auroc_of_the_opposite_scores_is_its_complement(pairs: list[tuple[int, int]]) -> None:
    ones = [(a, b % 2) for a, b in pairs]
    (value,) = values("auroc", ones).values()
    (opposite,) = values("auroc", [(-a, b) for a, b in ones]).values()
    assert (value is None) == (opposite is None)
    if value is not None:
        assert value + opposite == pytest.approx(1, abs=1e-15)


RATINGS = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=3, max_size=3),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(RATINGS, st.permutations([0, 1, 2, 3]), st.permutations(["x", "y", "z"]))
@pytest.mark.parametrize(
    ("level", "new"),
    [("nominal", None), ("ordinal", [-7, 0.25, 3, 9]), ("interval", [10, 13, 16, 19])],
)
def test_ratings_mean_what_their_level_says(
    level: str, new: Any, units: list[list[int | None]], classes: list[int], raters: list[str]
) -> None:
    new = new or classes

    def alpha(names: list[str], numbers: Any) -> dict[str, Any]:
        rewards = [
            {n: numbers[r] for n, r in zip(names, unit, strict=True) if r is not None}
            for unit in units
        ]
        kwargs = {"raters": sorted(names), "level": level}
        return outcome("krippendorff-alpha", {"rewards": rewards, "kwargs": kwargs}).values

    assert alpha(raters, new) == alpha(["x", "y", "z"], [0, 1, 2, 3])


@settings(max_examples=40, deadline=None)
@given(ATTEMPTS, st.randoms())
@pytest.mark.parametrize(("name", "kwargs"), OF_ATTEMPTS)
def test_tasks_may_have_other_names_and_attempts_another_order(
    name: str, kwargs: Any, tasks: list[list[float]], rng: random.Random
) -> None:
    def of(tasks: list[list[float]]) -> tuple[Any, Any]:
        found = outcome(
            name,
            {
                "rewards": [{"r": r} for task in tasks for r in task],
                "tasks": [f"t{i}" for i, task in enumerate(tasks) for _ in task],
                "kwargs": kwargs,
            },
        )
        return found.values, found.uncertainty

    shuffled = [rng.sample(task, len(task)) for task in rng.sample(tasks, len(tasks))]
    assert of(shuffled) == of(tasks)


# Of each the cases are those of tests/metrics.
OF_TASKS = [
    *("f1", "precision", "recall", "balanced-accuracy", "consistency", "flipped"),
    *("normalized-mean", "majority-at-k", "g-pass-at-k", "best-at-k", "worst-at-k"),
    *("variance-components", "calibration-error", "auroc", "average-precision", "usage-quantile"),
    *("krippendorff-alpha", "cohen-kappa", "correlation", "time-horizon"),
]


@settings(max_examples=20, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", OF_TASKS)
def test_tasks_of_cases_may_have_other_names(name: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([case for case in CASES[name] if case["rewards"]]))
    tasks = case.get("tasks") or [f"t{i}" for i in range(len(case["rewards"]))]
    old = sorted(set(tasks))
    new = dict(
        zip(old, data.draw(st.permutations([f"é/{i}" for i in range(len(old))])), strict=True)
    )
    found = outcome(name, {**case, "tasks": tasks})
    renamed = outcome(name, {**case, "tasks": [new[task] for task in tasks]})
    assert (renamed.values, renamed.n, renamed.uncertainty) == (
        found.values,
        found.n,
        found.uncertainty,
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=5), min_size=1, max_size=6),
    st.permutations(["b", "a", "no", "0"]),
)
def test_answers_may_have_other_names(tasks: list[list[int]], new: list[str]) -> None:
    def of(names: list[str]) -> dict[str, Any]:
        rows = [answer for task in tasks for answer in task]
        return outcome(
            "majority-at-k",
            {
                "rewards": [{"r": int(answer == 0)} for answer in rows],
                "texts": [{"prediction": names[answer]} for answer in rows],
                "tasks": [f"t{i}" for i, task in enumerate(tasks) for _ in task],
                "kwargs": {"k": 2},
            },
        ).values

    (value,) = of(new).values()
    assert value is not None
    assert of(new) == of(["w", "x", "y", "z"])


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_pearson_takes_any_unit_and_zero(pairs: list[tuple[int, int]]) -> None:
    scaled = [(0.25 * a - 7, 1000 * b + 0.5) for a, b in pairs]
    assert values("correlation", scaled) == values("correlation", pairs)
