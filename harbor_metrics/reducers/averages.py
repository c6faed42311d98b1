"""The middle of a task's attempts."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.estimate import Undefined
from ..numbers import exact
from ..numbers.exact import Number

_BEYOND = "the value is beyond the largest binary64 number"


def mean(attempts: Sequence[Number]) -> Number | Undefined:
    """Average of the attempts, rounded once."""
    integers, scale = exact.scaled(attempts)
    value = exact.ratio(sum(integers), len(integers) * scale)
    return Undefined(_BEYOND) if value is None else value


def median(attempts: Sequence[Number]) -> Number | Undefined:
    """Middle attempt when sorted; of an even number, half way between the middle two."""
    ordered = sorted(attempts)
    half, odd = divmod(len(ordered), 2)
    if odd:
        return ordered[half]
    value = exact.middle(ordered[half - 1], ordered[half])
    return Undefined(_BEYOND) if value is None else value
