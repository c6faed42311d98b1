"""The smallest reward, the largest, and those between."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..contract.estimate import Undefined
from ..numbers import exact
from ..numbers.exact import Number
from ..trials.column import Column
from .moments import BEYOND, NO_VALUES

# Below, every integer is a float of its own.
_EXACT = 2**53
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
    if not len(rewards):
        return Undefined(NO_VALUES)
    return _plain(rewards.least, rewards)


def max(rewards: Column) -> Number | Undefined:
    """Largest reward.

    A trial without the reward counts as 0 unless `missing` says otherwise, so that it is never
    below 0 where a reward is missing.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    return _plain(rewards.most, rewards)


def _plain(value: Number, rewards: Column) -> Number:
    """Of equal numbers that are written differently always the same one: a float, and not -0.0."""
    if rewards.integers_only or abs(value) >= _EXACT:
        return value
    return value + 0.0


def median(rewards: Column, *, method: _Middle = "midpoint") -> Number | Undefined:
    """Middle reward when sorted.

    lm-eval's `median` is the `upper` of the middle two, and Python's `statistics.median` their
    midpoint.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    ordered = rewards.ordered
    half, odd = divmod(len(ordered), 2)
    if odd or method == "upper":
        return _plain(ordered[half], rewards)
    return _finite(exact.middle(ordered[half - 1], ordered[half]))


def quantile(rewards: Column, *, q: _Q, method: _Between = "linear") -> Number | Undefined:
    """Reward below which a share `q` of them lies.

    The place q·(n - 1) among the sorted rewards, as numpy's `quantile`; `linear` between two of
    them is rounded once.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    ordered = rewards.ordered
    below, part = exact.place(len(ordered), q)
    above = below + bool(part)
    if method == "linear":
        return _finite(exact.rounded(exact.quantile(ordered, q)))
    if method == "midpoint":
        return _finite(exact.middle(ordered[below], ordered[above]))
    if method == "nearest":
        return _plain(ordered[round(below + part)], rewards)
    return _plain(ordered[below if method == "lower" else above], rewards)


def _finite(value: Number | None) -> Number | Undefined:
    return Undefined(BEYOND) if value is None else value
