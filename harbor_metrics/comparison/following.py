"""Which metrics are larger where tasks have more of a reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contract.spec import HARBOR_TYPES, UV_SCRIPT
from ..evaluation.planned import Planned

# What says nothing of which value is better, and is taken to mean rewards, of which more is better.
OF_REWARDS = {*HARBOR_TYPES, "mean-reward", "median", "quantile", "weighted-mean", "micro-average"}
# What is larger where tasks have more reward.
FOLLOWING = (OF_REWARDS - {UV_SCRIPT}) | {
    "accuracy", "all-first-k", "any-first-k", "at-least-k", "best-at-k", "g-pass-at-k",
    "normalized-mean", "pass-at-k", "pass-hat-k", "pass-rate", "worst-at-k",
}  # fmt: skip


def is_of_rewards(name: str) -> bool:
    """Whether a name means metrics that are larger where tasks have more of a reward."""
    if name in FOLLOWING:
        return True
    # For weight: hardly anybody says which way is better.
    from ..catalogue.aliases import METRICS, meanings

    meant = meanings(name, METRICS)
    return bool(meant) and all(one.type in FOLLOWING for one in meant)


def _grows(ends: Mapping[str, Any]) -> bool:
    """Whether a share of the way from `low` to `high` is known to grow with the reward."""
    low, high = ends["low"], ends["high"]
    return not isinstance(low, str) and not isinstance(high, str) and bool(low < high)


def follows(planned: Planned, key: str) -> bool:
    """Whether a metric is larger where tasks have more of a reward."""
    bound = planned.bound
    if bound is None or bound.measures.metric.name not in FOLLOWING:
        return False
    if bound.measures.metric.name == "normalized-mean" and not _grows(bound.measures.arguments):
        return False
    # Of groups each can say which reward they are of.
    return {bound.common.key, bound.measures.common.key} <= {None, key}
