"""The exact sign flip test."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers.sign_flip import sign_flip


def by_trying_all(differences: list[int]) -> float:
    seen = abs(sum(differences))
    sums = [
        abs(sum(map(int.__mul__, signs, differences)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(each >= seen for each in sums) / len(sums)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_it_is_the_share_of_all_choices_of_signs(differences: list[int]) -> None:
    assert sign_flip(differences) == by_trying_all(differences)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.integers(1, 10**30))
def test_only_proportions_count(differences: list[int], factor: int) -> None:
    assert sign_flip([factor * d for d in differences]) == sign_flip(differences)


def test_decimals_that_binary_numbers_stand_for_are_equal() -> None:
    values = [Fraction(0.1) + Fraction(0.2) - Fraction(each) for each in (0.2, 0.4, 0.2, 0.9)]
    scale = 3 * 2**60
    wholes = [int(value * scale) for value in values]
    assert sign_flip(wholes, scale) == sign_flip([1, -1, 1, -6])


@pytest.mark.parametrize("differences", [[1] * 1001, [3**i for i in range(60)]])
def test_none_where_it_takes_too_long(differences: list[int]) -> None:
    assert sign_flip(differences, 1) is None
