"""Laws of intervals: what must hold whatever the rewards, the level, and what is taken to vary."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harbor_metrics.catalogue.names import bind
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.measurement import measure
from harbor_metrics.evaluation.result import Uncertainty
from harbor_metrics.numbers.uncertainty import Over
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial, Usage

Tasks = list[list[float]]
OVER = st.sampled_from(["tasks", "attempts"])
LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.999])
BINARY = st.sampled_from([0, 1])
SHARES = st.one_of(st.sampled_from([0, 1, 0.5]), st.floats(0, 1))
AMOUNTS = st.one_of(st.sampled_from([0.01, 1, 3]), st.floats(1e-6, 1e6))
ANY = st.one_of(st.integers(-3, 3), st.floats(-1e6, 1e6))
# The metric, its kwargs, and what an interval of shares may rest on.
MEANS: list[tuple[str, dict[str, Any]]] = [
    ("mean", {}),
    ("accuracy", {}),
    ("mean-reward", {}),
    ("accuracy", {"reducer": "mean"}),
    ("weighted-mean", {"weight": "size"}),
    ("pass-rate", {"threshold": 0.5}),
    ("pass-at-k", {"k": 1, "threshold": 0.5}),
    ("grouped", {"metric": "accuracy", "by": "group", "all": "groups"}),
    ("grouped", {"metric": "accuracy", "by": "group", "all": "pooled"}),
]


def tasks_of(rewards: st.SearchStrategy[float]) -> st.SearchStrategy[Tasks]:
    return st.lists(st.lists(rewards, min_size=1, max_size=5), min_size=1, max_size=9)


def trials(tasks: Tasks) -> list[Trial]:
    return [
        Trial(
            task=f"t{i}",
            rewards={"r": reward},
            attempt=j,
            labels={"group": "ab"[i % 2], "size": 1 + (i + j) % 3},
            usage=Usage(cost_usd=abs(reward)),
        )
        for i, task in enumerate(tasks)
        for j, reward in enumerate(task)
    ]


def beside(
    metric: tuple[str, dict[str, Any]], table: Table, level: float, over: Over
) -> list[tuple[float, Uncertainty]]:
    """Each value of the metric, and what stands beside it."""
    spec = MetricSpec(type=metric[0], kwargs=metric[1])
    found = measure(bind(spec), spec, table, missing=None, level=level, over=over)
    values = [(found.values[name], sure) for name, sure in found.uncertainty.items()]
    return [(value, sure) for value, sure in values if value is not None]


@settings(max_examples=40, deadline=None)
@given(st.one_of(*map(tasks_of, (BINARY, SHARES, AMOUNTS, ANY))), LEVELS, OVER)
@example([[0.01, 0.01, 6145.0], [0.01], [0.01, 0.01, 6145.000000000001]], 0.5, "tasks")
@pytest.mark.parametrize("metric", MEANS, ids=lambda metric: metric[0])
def test_a_value_lies_in_its_interval(
    metric: tuple[str, dict[str, Any]], tasks: Tasks, level: float, over: Over
) -> None:
    for value, sure in beside(metric, Table(trials(tasks)), level, over):
        assert (sure.low is None) == (sure.high is None)
        if sure.low is not None and sure.high is not None:
            assert sure.low <= value <= sure.high
            # Less than from one number to the next is no width.
            assert sure.low < sure.high or (sure.stderr or 0) < math.ulp(value)
        else:
            assert sure.reason


@settings(max_examples=40, deadline=None)
@given(tasks_of(SHARES), LEVELS, OVER)
@pytest.mark.parametrize("metric", MEANS, ids=lambda metric: metric[0])
def test_an_interval_of_shares_stays_between_0_and_1(
    metric: tuple[str, dict[str, Any]], tasks: Tasks, level: float, over: Over
) -> None:
    for _, sure in beside(metric, Table(trials(tasks)), level, over):
        if sure.low is not None and sure.high is not None:
            assert 0 <= sure.low < sure.high <= 1
        elif over == "tasks":
            # Only a group of a single task says nothing of others of its kind.
            assert metric[0] == "grouped"


@settings(max_examples=60, deadline=None)
@given(tasks_of(AMOUNTS), LEVELS, OVER)
@pytest.mark.parametrize("metric", ["accuracy", "mean-reward", "cost-per-task"])
def test_an_interval_of_amounts_stays_above_0(
    metric: str, tasks: Tasks, level: float, over: Over
) -> None:
    for value, sure in beside((metric, {}), Table(trials(tasks)), level, over):
        assert value > 0
        # Of 5 tasks of 0.95 a t of 1e5 or more standard errors underflows.
        assert sure.low is None or sure.low >= 0


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(4, 10), st.integers(1, 10))
def test_one_success_more_lowers_no_end_by_more_than_a_fiftieth(
    data: st.DataObject, tasks: int, attempts: int
) -> None:
    # Of fewer tasks by up to 0.034, and more where tasks have very unequal numbers of attempts.
    passed = data.draw(st.lists(st.integers(0, attempts), min_size=tasks, max_size=tasks))
    place = data.draw(st.integers(0, tasks - 1))
    passed[place] = min(passed[place], attempts - 1)
    more = [*passed[:place], passed[place] + 1, *passed[place + 1 :]]
    before, after = (
        beside(
            ("accuracy", {}),
            Table(trials([[1] * n + [0] * (attempts - n) for n in counts])),
            0.95,
            "tasks",
        )[0][1]
        for counts in (passed, more)
    )
    assert before.low is not None
    assert after.low is not None
    assert before.high is not None
    assert after.high is not None
    assert after.low >= before.low - 0.02
    assert after.high >= before.high - 0.02


@settings(max_examples=150, deadline=None)
@given(st.lists(BINARY, min_size=1, max_size=40), LEVELS)
def test_one_attempt_of_0_or_1_a_task_has_the_interval_of_wilson(
    rewards: list[float], level: float
) -> None:
    table = Table(trials([[reward] for reward in rewards]))
    ((_, sure),) = beside(("accuracy", {}), table, level, "tasks")
    ci = MetricSpec(type="ci", kwargs={"method": "wilson", "level": level})
    assert measure(bind(ci), ci, table, missing=None, level=None).values == {
        "low": sure.low,
        "high": sure.high,
    }
    assert (sure.method, sure.n_effective) == ("wilson", len(rewards))


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(*map(tasks_of, (BINARY, SHARES, AMOUNTS, ANY))),
    OVER,
    st.integers(0, 45),
    st.randoms(),
)
@pytest.mark.parametrize("metric", [*MEANS, ("cost-per-task", {})], ids=lambda metric: metric[0])
def test_order_and_partition_change_no_interval(
    metric: tuple[str, dict[str, Any]], tasks: Tasks, over: Over, cut: int, rng: random.Random
) -> None:
    whole = trials(tasks)
    shuffled = rng.sample(whole, len(whole))
    parts = Table(shuffled[:cut]) + Table(shuffled[cut:])
    assert beside(metric, parts, 0.95, over) == beside(metric, Table(whole), 0.95, over)


# What is taken from 1 without rounding.
EXACT = st.integers(0, 64).map(lambda n: n / 64)


@settings(max_examples=100, deadline=None)
@given(tasks_of(EXACT), LEVELS)
def test_failures_for_successes_turn_the_interval_around(tasks: Tasks, level: float) -> None:
    turned = [[1 - reward for reward in task] for task in tasks]
    ((_, one),) = beside(("accuracy", {}), Table(trials(tasks)), level, "tasks")
    ((_, other),) = beside(("accuracy", {}), Table(trials(turned)), level, "tasks")
    assert one.low is not None
    assert one.high is not None
    assert (other.low, other.high) == (
        pytest.approx(1 - one.high, abs=1e-12),
        pytest.approx(1 - one.low, abs=1e-12),
    )
