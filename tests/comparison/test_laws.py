"""What holds of every comparison."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from comparison.runs_by_hand import Rewards, write_run
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics import Comparison, compare
from harbor_metrics.comparison.document import Row

LEVEL = 0.9
METRICS = ["mean", "mean-reward", '{"type": "pass-at-k", "kwargs": {"k": 1}}']


def compared(base: Rewards, candidate: Rewards, **more: Any) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        ours = write_run(Path(folder) / "base.jsonl", base, agent="base")
        theirs = write_run(Path(folder) / "candidate.jsonl", candidate, agent="candidate")
        more.setdefault("level", LEVEL)
        return compare(f"base={ours}", f"candidate={theirs}", **more)


def rows(comparison: Comparison) -> list[Row]:
    (only,) = comparison.comparisons
    return only.rows


@st.composite
def runs(draw: st.DrawFn, *, equal: bool = False) -> tuple[Rewards, Rewards]:
    """Two runs of the same tasks, of 0 and 1 or of decimals."""
    values = draw(st.sampled_from([[0, 1], [0, 0.25, 0.5, 1.0], [0.1, 0.2, 0.7, 12.5]]))
    tasks = [f"t{i}" for i in range(draw(st.integers(2, 12)))]
    size = draw(st.integers(1, 4))
    sizes = st.just(size) if equal else st.integers(1, 4)
    sides = [
        {
            task: draw(
                sizes.flatmap(lambda n: st.lists(st.sampled_from(values), min_size=n, max_size=n))
            )
            for task in tasks
        }
        for _ in range(2)
    ]
    return sides[0], sides[1]


@given(runs())
@settings(max_examples=60)
def test_exchanging_the_runs_turns_the_sign_of_everything(sides: tuple[Rewards, Rewards]) -> None:
    there = rows(compared(*sides, metrics=METRICS))
    back = rows(compared(*reversed(sides), metrics=METRICS))
    for one, other in zip(there, back, strict=True):
        assert one.difference == -other.difference  # type: ignore[operator]
        assert (one.p, one.stderr, one.method) == (other.p, other.stderr, other.method)
        if one.low is not None and one.high is not None:
            assert (one.low, one.high) == (-other.high, -other.low)  # type: ignore[operator]
        assert one.checks == other.checks


@given(runs(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_order_of_trials_and_tasks_changes_no_byte(
    sides: tuple[Rewards, Rewards], seed: int
) -> None:
    mixed = []
    for side in sides:
        tasks = list(side.items())
        random.Random(seed).shuffle(tasks)
        mixed.append({task: random.Random(seed).sample(r, len(r)) for task, r in tasks})
    first, second = (compared(*pair, metrics=METRICS) for pair in (sides, mixed))
    assert first.comparisons == second.comparisons


@given(runs(equal=True))
@settings(max_examples=60)
def test_with_equal_attempts_trials_and_tasks_weigh_the_same(
    sides: tuple[Rewards, Rewards],
) -> None:
    of_trials, of_tasks, _ = rows(compared(*sides, metrics=METRICS))
    for name in ("difference", "low", "high", "p", "method"):
        assert getattr(of_trials, name) == getattr(of_tasks, name)


@given(runs())
@settings(max_examples=100)
def test_an_interval_leaves_out_0_where_p_is_below(sides: tuple[Rewards, Rewards]) -> None:
    for row in rows(compared(*sides, metrics=METRICS)):
        if row.low is None or row.high is None or row.p is None:
            continue
        if abs(row.p - (1 - LEVEL)) > 1e-9:
            assert (row.low > 0 or row.high < 0) == (row.p < 1 - LEVEL)
        assert row.low <= row.difference <= row.high  # type: ignore[operator]
        shown = row.verdict in ("better", "worse")
        assert shown == (row.low > 0 or row.high < 0)


@given(runs())
@settings(max_examples=40)
def test_a_run_against_one_like_it_differs_by_nothing(sides: tuple[Rewards, Rewards]) -> None:
    for row in rows(compared(sides[0], sides[0], metrics=METRICS)):
        assert (row.difference, row.p, row.verdict) == (0, 1, "~")


@given(runs())
@settings(max_examples=40)
def test_adjusted_p_are_not_smaller(sides: tuple[Rewards, Rewards]) -> None:
    for how in ("holm", "bh", "none"):
        for row in rows(compared(*sides, metrics=METRICS, adjust=how)):
            if row.p is not None:
                assert row.p_adjusted >= row.p  # type: ignore[operator]
