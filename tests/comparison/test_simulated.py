"""Intervals hold what they promise: a small simulation; `benchmarks/compare.py` has them all."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from comparison.runs_by_hand import write_run
from comparison.simulated import (
    compared,
    erring,
    erring_again,
    erring_ratios,
    holding_single,
    rejecting_single,
)

from harbor_metrics import compare

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("null", ["equal", "redrawn"])
@pytest.mark.parametrize(("n", "k"), [(20, 3), (50, 5)])
def test_equal_agents_are_seldom_called_different(null: str, n: int, k: int) -> None:
    # Of 600 runs at 5 % fewer than 2 in a thousand lie outside.
    assert 0.025 <= erring("uniform", null, n, k, 600).rejected <= 0.078


def test_losses_of_few_tasks_are_held() -> None:
    assert erring("uniform", "skewed", 50, 3, 300).held >= 0.91


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("flips", [4, 8])
def test_single_attempts_reject_as_often_as_they_may(n: int, flips: int) -> None:
    assert 0.035 <= rejecting_single(n, flips / n) <= 0.06


@pytest.mark.parametrize("expected", [1, 2, 3])
def test_of_few_flips_the_test_rejects_less(expected: int) -> None:
    assert rejecting_single(50, expected / 50) <= 0.06


@pytest.mark.parametrize(("fixing", "breaking"), [(0.25, 0.0), (0.2, 0.1), (0.15, 0.15)])
@pytest.mark.parametrize("n", [20, 50])
def test_tangos_interval_holds_the_difference(n: int, fixing: float, breaking: float) -> None:
    assert 0.93 <= holding_single(n, fixing, breaking) <= 0.98


def test_the_same_tasks_again() -> None:
    assert 0.925 <= erring_again("uniform", 20, 5, 500) <= 1


def test_ratios_of_costs() -> None:
    assert 0.9 <= erring_ratios(30, 3, 200) <= 0.99


def test_what_is_simulated_is_what_the_library_answers(tmp_path: Path) -> None:
    sides = [[[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]] * 3]
    paths = [
        write_run(tmp_path / str(i), {f"t{task:04}": own for task, own in enumerate(side)})
        for i, side in enumerate(sides)
    ]
    ((row,),) = [pair.rows for pair in compare(*paths).comparisons]
    # One comparison alone is adjusted for none.
    own = compared(sides)
    assert msgspec.structs.replace(own, p_adjusted=row.p, origin=row.origin) == row
