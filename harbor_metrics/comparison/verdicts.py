"""What an interval around a difference says, in a word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import msgspec

from ..contract.spec import HARBOR_TYPES, UV_SCRIPT
from ..evaluation.planned import Planned

Verdict = Literal["better", "worse", "higher", "lower", "same", "~"]
# From the worst to the best.
VERDICTS: tuple[Verdict, ...] = ("worse", "lower", "~", "same", "higher", "better")
# What says nothing of which value is better, and is taken to mean rewards, of which more is better.
OF_REWARDS = {*HARBOR_TYPES, "mean-reward", "median", "quantile", "weighted-mean", "micro-average"}
# What is larger where tasks have more reward.
FOLLOWING = (OF_REWARDS - {UV_SCRIPT}) | {
    "accuracy", "all-first-k", "any-first-k", "at-least-k", "best-at-k", "g-pass-at-k",
    "normalized-mean", "pass-at-k", "pass-hat-k", "pass-rate", "worst-at-k",
}  # fmt: skip


class Direction(msgspec.Struct, frozen=True):
    """Whether more is better, None where nobody says; `assumed`: it is not the metric's word."""

    higher: bool | None
    assumed: bool = False


class Directions(msgspec.Struct, frozen=True):
    """What the user says of metrics, or of values, by their names; of a value's own name first."""

    higher: Collection[str] = ()
    lower: Collection[str] = ()

    def of(self, planned: Planned, value: str, keys: Sequence[str]) -> Direction:
        """Which of two values of a metric is the better one; `keys` are the rewards there are."""
        return self._of((value, planned.name, planned.spec.type), planned, keys)

    def _of(self, names: Sequence[str], planned: Planned, keys: Sequence[str]) -> Direction:
        for name in names:
            if name in self.higher or name in self.lower:
                return Direction(name in self.higher)
        bound = planned.bound and planned.bound.measures
        if bound is not None and bound.metric.higher_is_better is not None:
            return Direction(bound.metric.higher_is_better)
        type_ = bound.metric.name if bound is not None else planned.spec.type
        if type_ in OF_REWARDS and len(keys) <= 1:
            return Direction(True, assumed=True)
        return Direction(None)

    def of_reward(self, key: str, metrics: Iterable[Planned], keys: Sequence[str]) -> bool | None:
        """Whether a task is better with more of a reward, as metrics that follow it say.

        A perplexity, which falls where its reward grows, says nothing of it; nor do two metrics
        that contradict each other.
        """
        if key in self.higher or key in self.lower:
            return key in self.higher
        metrics = list(metrics)
        following = [metric for metric in metrics if _follows(metric, key)]
        others = [metric for metric in metrics if not _follows(metric, key)]
        known = {self._of(_named(metric), metric, keys).higher for metric in following}
        # What is said of a mean holds where a registry has none, too.
        said = [name for name in (*self.higher, *self.lower) if _is_of_rewards(name)]
        # Of a name that a reward has, or a metric of another one, nobody knows what is meant.
        names_of_others = {name for metric in others for name in _named(metric)}
        doubtful = {*keys, *names_of_others.difference(*map(_named, following))}
        known |= {name in self.higher for name in said if name not in doubtful}
        known -= {None}
        doubted = {name in self.higher for name in said if name in doubtful}
        return known.pop() if len(known) == 1 and doubted <= known else None


def _named(planned: Planned) -> tuple[str, ...]:
    """What a metric is called, and groups as what measures them: others are called groups, too."""
    if planned.bound is not None and planned.bound.measures is not planned.bound:
        return (planned.bound.measures.metric.name,)
    return planned.name, planned.spec.type


def _is_of_rewards(name: str) -> bool:
    """Whether a name means metrics that are larger where tasks have more of a reward."""
    if name in FOLLOWING:
        return True
    # For weight: hardly anybody says which way is better.
    from ..catalogue.aliases import METRICS, meanings

    meant = meanings(name, METRICS)
    return bool(meant) and all(one.type in FOLLOWING for one in meant)


def _follows(planned: Planned, key: str) -> bool:
    """Whether a metric is larger where tasks have more of a reward."""
    bound = planned.bound
    if bound is None or bound.measures.metric.name not in FOLLOWING:
        return False
    # Of groups each can say which reward they are of.
    return {bound.common.key, bound.measures.common.key} <= {None, key}


def verdict(
    low: float | None, high: float | None, direction: Direction, margin: float | None
) -> Verdict:
    """`same` inside the margin, else what lies beyond 0; `~` where neither is shown."""
    if low is None or high is None:
        return "~"
    if margin is not None and -margin <= low and high <= margin:
        return "same"
    if low <= 0 <= high:
        return "~"
    return beyond(low > 0, direction)


def beyond(up: bool, direction: Direction) -> Verdict:
    """The word for a difference that is not 0."""
    if direction.higher is None:
        return "higher" if up else "lower"
    return "better" if up == direction.higher else "worse"
