"""`check_metric`, for those who write a metric."""

from __future__ import annotations

import pytest

from harbor_metrics import Column, Undefined, check_metric


def test_check_metric_tells_what_is_wrong() -> None:
    def first(rewards: Column) -> float:
        """first reward"""
        return rewards.values[0] if rewards.values else 0.0

    case = {"what": "two", "rewards": [{"r": 1.0}, {"r": 2.0}], "tasks": ["b", "a"]}
    with pytest.raises(AssertionError) as caught:
        check_metric(first, [{**case, "values": {"first": 1.0}}])
    for words in ("no sentence", "two: first is 2.0, not 1.0"):
        assert words in str(caught.value)

    seen = iter(range(100))

    def counts_calls(rewards: Column) -> float | Undefined:
        """Another number each time."""
        return float(next(seen)) if rewards.values else Undefined("none")

    with pytest.raises(AssertionError, match="another order of the trials gives"):
        check_metric(counts_calls, [{**case, "values": {"counts-calls": 0.0}}])
