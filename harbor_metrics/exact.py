"""Sums and means that do not depend on the order of the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Number = int | float


def total(values: Sequence[Number]) -> Number | None:
    """The sum, rounded once; an int when all values are ints, None beyond binary64.

    Equal to the compensated `sum` of CPython 3.12 and later, on every Python version.
    """
    if float not in map(type, values):
        return sum(values)
    try:
        return math.fsum(values)
    except OverflowError:
        return rounded(sum(map(Fraction, values), Fraction(0)))


def mean(values: Sequence[Number]) -> Number | None:
    """The sum divided by n, as Harbor divides; from exact arithmetic where the sum overflows."""
    amount = total(values)
    try:
        if amount is not None:
            return amount / len(values)
    except OverflowError:
        pass
    return rounded(sum(map(Fraction, values), Fraction(0)) / len(values))


def rounded(value: Fraction) -> float | None:
    """The nearest binary64 number, None where that would be infinite."""
    try:
        return float(value)
    except OverflowError:
        return None
