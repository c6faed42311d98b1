"""The smallest reward, the largest, and those between."""

from __future__ import annotations

import builtins
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from .. import exact
from ..column import Column
from ..estimate import Undefined
from ..exact import Number
from .moments import NO_VALUES

_Q = Annotated[
    float,
    Meta(ge=0, le=1, description="The share of rewards that lies below.", examples=[0.25]),
]
_Middle = Annotated[
    Literal["midpoint", "upper"],
    Meta(description="Of an even number of rewards: between the middle two, or the upper of them."),
]
_Between = Annotated[
    Literal["linear", "lower", "higher", "midpoint", "nearest"],
    Meta(description="What stands between two rewards, in numpy's words."),
]


def min(rewards: Column) -> Number | Undefined:
    """Smallest reward.

    A trial without the reward counts as 0 unless `missing` says otherwise.
    """
    return builtins.min(rewards.values) if rewards.values else Undefined(NO_VALUES)


def max(rewards: Column) -> Number | Undefined:
    """Largest reward.

    A trial without the reward counts as 0 unless `missing` says otherwise, so that it is never
    below 0 where a reward is missing.
    """
    return builtins.max(rewards.values) if rewards.values else Undefined(NO_VALUES)


def median(rewards: Column, *, method: _Middle = "midpoint") -> Number | Undefined:
    """Middle reward when sorted.

    lm-eval's `median` is the `upper` of the middle two, and Python's `statistics.median` their
    midpoint.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    ordered = sorted(rewards.values)
    half, odd = divmod(len(ordered), 2)
    if odd or method == "upper":
        return ordered[half]
    return float((Fraction(ordered[half - 1]) + Fraction(ordered[half])) / 2)


def quantile(rewards: Column, *, q: _Q, method: _Between = "linear") -> Number | Undefined:
    """Reward below which a share `q` of them lies.

    The place q·(n - 1) among the sorted rewards, as numpy's `quantile`; `linear` between two of
    them is rounded once.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    ordered = sorted(rewards.values)
    place = Fraction(q) * (len(ordered) - 1)
    below = place.numerator // place.denominator
    above = builtins.min(below + (place != below), len(ordered) - 1)
    if method == "linear":
        return float(exact.quantile(ordered, q))
    if method == "midpoint":
        return float((Fraction(ordered[below]) + Fraction(ordered[above])) / 2)
    if method == "nearest":
        return ordered[round(place)]
    return ordered[below if method == "lower" else above]
