"""How many, and how often."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.parameters import Threshold
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import NO_VALUES

_Share = Annotated[bool, Meta(description="Shares that add up to 1, or numbers of trials.")]


def count(rewards: Column, *, threshold: Threshold | None = None) -> Number:
    """Number of rewards, or of those that reach the threshold.

    With `missing` `skip` it is the number of trials that have the reward.
    """
    if threshold is None:
        return len(rewards)
    return sum(c * times for (_, c), times in rewards.passes(threshold).items())


def frequency(rewards: Column, *, normalize: _Share = True) -> dict[str, Number | Undefined]:
    """How often each reward stands, as a share of all.

    One value for each different reward, named as JSON writes it, 1 and 1.0 as `1`; in the order of
    the rewards. Inspect's `frequency` is over attempts too, and names 1 and 1.0 apart.
    """
    if not len(rewards):
        return {"frequency": Undefined(NO_VALUES)}
    times = rewards.counter
    n = len(rewards)
    return {
        label_text(value): times[value] / n if normalize else times[value]
        for value in sorted(times)
    }
