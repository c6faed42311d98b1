"""Bins of rewards."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.reports.rewards import MOST_BINS, bins
from harbor_metrics.trials.column import Column

REWARDS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60)


@given(REWARDS)
def test_every_reward_is_in_one_bin(rewards: list[float]) -> None:
    found = bins(Column(rewards, [str(i) for i in range(len(rewards))]))
    assert sum(found.times) == len(rewards)
    assert len(found.edges) == len(found.times) + 1 <= MOST_BINS + 1
    assert found.edges[0] == min(rewards)
    assert found.edges[-1] == max(rewards)
    assert all(a <= b for a, b in pairwise(found.edges))
    for i, (low, high) in enumerate(pairwise(found.edges)):
        last = i == len(found.times) - 1
        inside = sum(low <= r < high or (last and r == high) for r in rewards)
        assert found.times[i] == inside or low == high


def test_one_value_is_one_bin() -> None:
    assert bins(Column([0.5, 0.5], ["a", "b"])) == ([0.5, 0.5], [2])
