"""Exact sums of binary64 numbers on engines that only know 64-bit integers.

A number becomes five digits to the base 2^24 on a grid that all numbers of the column fit on.
Digits add up in any order, on any engine, to the same integers, and Python joins them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import narwhals.stable.v2 as nw

from ..numbers.exact import Number

BITS = 24
BASE = 1 << BITS
DIGITS = 5
# Below the point of the grid: all digits but the first.
FRACTION = BITS * (DIGITS - 1)
# Magnitudes may lie so many powers of two apart that the last bit of the smallest is on the grid.
SPREAD = BITS * DIGITS - 53
# Added to the digits of every number: none is then negative, and division is the same everywhere.
BIAS = sum(BASE << BITS * place for place in range(DIGITS))
# Below, the power that brings a number onto the grid would itself be beyond binary64.
_LEAST_EXPONENT = -990


def grid(smallest: Number, most: Number) -> int | None:
    """The power of two that brings magnitudes onto the grid; None where it cannot hold both."""
    if not most:
        return 0
    high, low = math.frexp(most)[1], math.frexp(smallest)[1]
    if high - low > SPREAD or high < _LEAST_EXPONENT:
        return None
    return BITS - high


def digits(value: nw.Expr, power: int, names: Sequence[str]) -> list[nw.Expr]:
    """The digits of a number that is not null, highest first, each from 0 to 2^25."""
    rest = value.abs() * math.ldexp(1.0, power)
    sign = nw.when(value < 0).then(nw.lit(-1)).otherwise(nw.lit(1))
    parts = []
    for name in names:
        whole = rest.floor()
        parts.append((whole.cast(nw.Int64) * sign + BASE).alias(name))
        rest = (rest - whole) * float(BASE)
    return parts


def carried(parts: Sequence[str], name: str) -> tuple[list[nw.Expr], list[str]]:
    """The same numbers with smaller digits, of which there is one more; and their names."""
    smaller = [_high(parts[0])]
    smaller += [_low(part) + _high(following) for part, following in pairwise(parts)]
    smaller.append(_low(parts[-1]))
    names = [f"{name}{place}" for place in range(len(smaller))]
    return [part.alias(each) for part, each in zip(smaller, names, strict=True)], names


def halves(parts: Sequence[str]) -> tuple[list[nw.Expr], list[str]]:
    """The last 24 bits of each of these integers, then what is left of each; and their names."""
    names = [f"{part}{half}" for half in "lh" for part in parts]
    split = [*map(_low, parts), *map(_high, parts)]
    return [part.alias(name) for part, name in zip(split, names, strict=True)], names


def _low(part: str) -> nw.Expr:
    return nw.col(part) % BASE


def _high(part: str) -> nw.Expr:
    # A double holds what is left exactly, and engines do not agree on division of integers.
    left = (nw.col(part) - _low(part)).cast(nw.Float64)
    return (left * (1.0 / BASE)).cast(nw.Int64)


def product(
    first: Sequence[str], second: Sequence[str], name: str
) -> tuple[list[nw.Expr], list[str]]:
    """The products of two numbers by their places, highest first, each below 2^63; their names."""
    places = []
    for place in range(len(first) + len(second) - 1):
        terms = [
            nw.col(first[i]) * nw.col(second[place - i])
            for i in range(len(first))
            if 0 <= place - i < len(second)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        places.append(total)
    names = [f"{name}{place}" for place in range(len(places))]
    return [part.alias(each) for part, each in zip(places, names, strict=True)], names


def joined(places: Sequence[int]) -> int:
    """The integer that digits stand for, highest first; they may be larger than their base."""
    whole = 0
    for digit in places:
        whole = (whole << BITS) + digit
    return whole
