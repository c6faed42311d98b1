"""Tasks that pass on one side and fail on the other."""

from __future__ import annotations

from typing import Any

import pytest
from golden_comparisons import near, of_method
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers import flips


@of_method("score")
def test_as_published_and_computed_elsewhere(case: dict[str, Any]) -> None:
    expected = case["expected"]
    counts = expected["fixed"], expected["broken"]
    low, high = flips.interval(*counts, expected["n"], case["options"]["level"])
    found = {
        "low": low,
        "high": high,
        "p": flips.score_p(*counts),
        "mcnemar_exact": flips.exact_p(*counts),
        "mcnemar_mid_p": flips.mid_p(*counts),
    }
    assert found == {name: near(case, expected[name]) for name in found}


@st.composite
def moved(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 400))
    fixed = draw(st.integers(0, n))
    return fixed, draw(st.integers(0, n - fixed)), n


@given(moved(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_swapping_the_sides_turns_the_interval(counts: tuple[int, int, int], level: float) -> None:
    fixed, broken, n = counts
    low, high = flips.interval(fixed, broken, n, level)
    turned = flips.interval(broken, fixed, n, level)
    assert turned == pytest.approx((-high, -low), abs=1e-12)
    for p in (flips.score_p, flips.exact_p, flips.mid_p):
        assert p(fixed, broken) == p(broken, fixed)


@given(moved(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_leaves_out_0_where_the_test_rejects(
    counts: tuple[int, int, int], level: float
) -> None:
    fixed, broken, n = counts
    low, high = flips.interval(fixed, broken, n, level)
    assert (low > 0 or high < 0) == (flips.score_p(fixed, broken) < 1 - level)


@given(moved())
def test_the_interval_holds_the_difference_and_stays_possible(counts: tuple[int, int, int]) -> None:
    fixed, broken, n = counts
    low, high = flips.interval(fixed, broken, n, 0.95)
    assert -1 <= low <= (fixed - broken) / n <= high <= 1
    assert low < high


@given(st.integers(0, 60), st.integers(0, 60))
def test_mid_p_lies_below_the_exact_p(fixed: int, broken: int) -> None:
    assert 0 < flips.mid_p(fixed, broken) <= flips.exact_p(fixed, broken) <= 1


def test_no_error_is_known_where_no_task_moved() -> None:
    assert flips.stderr(0, 0, 50) is None
    assert flips.stderr(7, 1, 21) == pytest.approx(((8 - 36 / 21) ** 0.5) / 21)
