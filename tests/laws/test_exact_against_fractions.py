"""Law: a sum is the exact sum rounded once, whatever the numbers."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers import exact

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@given(FLOATS)
def test_total_is_the_rounded_exact_sum(values: list[float]) -> None:
    true = sum(map(Fraction, values), Fraction(0))
    try:
        assert exact.total(values) == float(true)
    except OverflowError:
        assert exact.total(values) is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers()))
def test_sum_is_exact(values: list[float]) -> None:
    assert exact.add_up(values) == sum(map(Fraction, values), Fraction(0))


@given(FLOATS)
def test_mean_is_the_total_over_n_or_the_exact_quotient(values: list[float]) -> None:
    total = exact.total(values)
    if total is None:
        assert exact.mean(values) == float(sum(map(Fraction, values)) / len(values))
    else:
        assert exact.mean(values) == total / len(values)


@given(st.lists(st.integers(), min_size=1))
def test_integers_stay_exact(values: list[int]) -> None:
    assert exact.total(values) == sum(values)
    assert type(exact.total(values)) is int


def test_huge_integers_have_a_mean() -> None:
    assert exact.mean([10**400, -(10**400), 3, 3]) == 1.5
    assert exact.mean([10**400]) is None
    assert math.isfinite(exact.mean([10**308 * 17, 1]) or 0.0)
