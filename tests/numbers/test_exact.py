"""Sums, roots and quantiles are exact and rounded once; laws/ has their laws."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers import exact


@pytest.mark.parametrize("values", [[], [1, 2], [2**60, 1]])
def test_sum_of_integers_is_an_integer(values: list[int]) -> None:
    amount = exact.total(values)
    assert (amount, type(amount)) == (sum(values), int)


def test_sum_beyond_binary64_is_none_and_its_mean_is_not() -> None:
    assert exact.total([1e308, 1e308]) is None
    assert exact.mean([1e308, 1e308]) == 1e308


def test_large_integer_beside_a_float_loses_no_digit() -> None:
    assert exact.total([2**53 + 1, -(2.0**53)]) == 1


@pytest.mark.parametrize("number", [2, 9, 10**40, Fraction(1, 3), Fraction(2**200 + 1, 7)])
def test_root_is_the_nearest_number(number: Fraction) -> None:
    number = Fraction(number)
    root = exact.root(number.numerator, number.denominator)
    assert root is not None
    near = Fraction(root)
    step = Fraction(2) ** -52 * near
    assert (near - step) ** 2 < number < (near + step) ** 2


def test_root_of_a_square_is_exact_and_of_too_much_none() -> None:
    assert exact.root(9, 4) == 1.5
    assert exact.root(0, 1) == 0.0
    assert exact.root(10**1000, 1) is None


NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(NUMBERS, min_size=1), st.integers(1, 5))
def test_scaled_integers_are_the_numbers(values: list[float], times: int) -> None:
    integers, scale = exact.scaled(values * times)
    assert [Fraction(i, scale) for i in integers] == [Fraction(v) for v in values * times]


def test_values_are_counted_where_most_repeat() -> None:
    assert exact.tally([0, 1] * 10) == {0: 10, 1: 10}
    assert exact.tally(list(range(20))) is None


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [([1, 2, 3, 4], 0.5, 2.5), ([1, 2, 3, 4], 0.0, 1), ([1, 2], 1.0, 2), ([0, 10], 0.3, 3)],
)
def test_quantile_lies_linearly_between_neighbours(
    values: list[float], q: float, expected: float
) -> None:
    assert exact.quantile(values, q) == expected


def test_place_of_a_quantile_is_that_of_its_decimal_text() -> None:
    assert exact.place(11, 0.3) == (3, 0)
    assert exact.place(4, 0.5) == (1, Fraction(1, 2))


def test_middle_does_not_overflow() -> None:
    assert exact.middle(1.7e308, 1.7e308) == 1.7e308
    assert exact.middle(10**400, 10**400) is None
