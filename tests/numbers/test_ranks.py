"""Ranks and orders, against looking at every pair."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers import ranks

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.floats(-2, 2)), max_size=40)


@given(PAIRS)
def test_order_counts_every_pair_of_places(pairs: list[tuple[int, float]]) -> None:
    both = [((b > a) - (b < a), (d > c) - (d < c)) for (a, c), (b, d) in combinations(pairs, 2)]
    found = ranks.order([a for a, _ in pairs], [b for _, b in pairs])
    assert found == (
        sum(first * second for first, second in both),
        sum(first != 0 for first, _ in both),
        sum(second != 0 for _, second in both),
    )


@given(st.lists(st.integers(-3, 3)))
def test_a_rank_is_one_more_than_those_below_and_half_of_those_beside(values: list[int]) -> None:
    assert ranks.doubled(values) == [
        2 * sum(other < value for other in values) + values.count(value) + 1 for value in values
    ]
