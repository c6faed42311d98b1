"""How many, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.parameters import Threshold
from ..numbers.exact import Number
from ..trials.column import Column, label_text
from .moments import NO_VALUES

_Share = Annotated[bool, Meta(description="Shares that add up to 1, or numbers of trials.")]


def count(rewards: Column, *, threshold: Threshold | None = None) -> Number:
    """Number of rewards, or of those that reach the threshold.

    With `missing` `skip` it is the number of trials that have the reward.
    """
    if threshold is None:
        return len(rewards)
    return sum(reward >= threshold for reward in rewards.values)


def frequency(rewards: Column, *, normalize: _Share = True) -> dict[str, Number | Undefined]:
    """How often each reward stands, as a share of all.

    One value for each different reward, named as JSON writes it, 1 and 1.0 as `1`; in the order of
    the rewards. Inspect's `frequency` is over attempts too, and names 1 and 1.0 apart.
    """
    if not rewards.values:
        return {"frequency": Undefined(NO_VALUES)}
    times = rewards.tally or Counter(rewards.values)
    n = len(rewards)
    return {
        label_text(value): times[value] / n if normalize else times[value]
        for value in sorted(times)
    }
