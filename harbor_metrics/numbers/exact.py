"""Sums, means, variances and roots that are rounded once and depend on no order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import repeat
from operator import mul, neg
from typing import NamedTuple

Number = int | float
_LARGEST_EXPONENT = 1023
_MANTISSA = 53
# So many values tell whether it is worth looking for repeated ones among all.
_SAMPLE = 1000
# Bits of an integer root: enough that what is cut off cannot change the rounding to 53 bits.
_ROOT_BITS = 64


class Scaled(NamedTuple):
    """Numbers as integers over one power of two: `values[i] == integers[i] / scale`, exactly."""

    integers: Sequence[int]
    scale: int


def total(values: Sequence[Number]) -> Number | None:
    """The sum, rounded once; an int when all values are ints, None beyond binary64.

    Equal to the compensated `sum` of CPython 3.12 and later, on every Python version.
    """
    if float not in map(type, values):
        whole: int = sum(values)  # type: ignore[arg-type]  # all of them are integers
        return whole if ratio(whole, 1) is not None else None
    try:
        if int not in map(type, values) or max(map(abs, values)) <= 2**_MANTISSA:
            return math.fsum(values)
    except OverflowError:
        pass
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
    return ratio(value.numerator, value.denominator)


def ratio(numerator: int, denominator: int) -> float | None:
    """The quotient rounded once, None where that would be infinite."""
    try:
        return numerator / denominator
    except OverflowError:
        return None


def root(numerator: int, denominator: int) -> float | None:
    """The square root of a quotient that is not negative, rounded once; None beyond binary64."""
    missing = _ROOT_BITS - (numerator.bit_length() - denominator.bit_length()) // 2
    shift = max(0, missing)
    shifted = numerator << 2 * shift
    whole = math.isqrt(shifted // denominator)
    # A last bit that says whether anything was cut off keeps the division from rounding twice.
    cut = whole * whole * denominator != shifted
    return ratio(2 * whole + cut, 2 << shift)


def scaled(values: Sequence[Number]) -> Scaled:
    """The numbers as integers over the power of two that makes them all integers."""
    if float not in map(type, values):
        return Scaled(values, 1)  # type: ignore[arg-type]  # all are ints
    times = tally(values)
    if times is not None:
        few = list(times)
        integers, scale = _by_ratio(few)
        known = dict(zip(few, integers, strict=True))
        return Scaled([known[value] for value in values], scale)
    return _by_shift(values) or _by_ratio(values)


def tally(values: Sequence[Number]) -> Counter[Number] | None:
    """How often each number stands, None where too few repeat to be worth counting."""
    if 2 * len(set(values[:_SAMPLE])) > len(values[:_SAMPLE]):
        return None
    times = Counter(values)
    return times if 2 * len(times) < len(values) else None


def _by_ratio(values: Sequence[Number]) -> Scaled:
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(denominator for _, denominator in ratios)
    return Scaled([numerator * (scale // denominator) for numerator, denominator in ratios], scale)


def _by_shift(values: Sequence[Number]) -> Scaled | None:
    """Three times as fast, for numbers whose exponents are not too far apart."""
    low, high = min(values), max(values)
    if low <= 0:
        magnitudes = list(filter(None, map(abs, values)))
        if not magnitudes:
            return Scaled([0] * len(values), 1)
        low, high = min(magnitudes), max(magnitudes)
    # An int above 2^53 may be no float.
    if high > 2**_LARGEST_EXPONENT or (high > 2**_MANTISSA and int in map(type, values)):
        return None
    shift = max(0, _MANTISSA - math.frexp(low)[1])
    if shift + max(0, math.frexp(high)[1]) > _LARGEST_EXPONENT:
        return None
    return Scaled(list(map(int, map(mul, values, repeat(math.ldexp(1.0, shift))))), 1 << shift)


def add_up(values: Sequence[Number]) -> Fraction:
    """The exact sum, of floats in a fifth of the time: what each is rounded to is taken away."""
    if int not in map(type, values):
        parts: list[float] = []
        try:
            while part := math.fsum([*values, *map(neg, parts)]):
                parts.append(part)
            return sum(map(Fraction, parts), Fraction(0))
        except OverflowError:
            pass
    integers, scale = scaled(values)
    return Fraction(sum(integers), scale)


def quantile(ordered: Sequence[Number], q: float) -> Fraction:
    """Between the two neighbours of the place q·(n - 1), linearly (Hyndman and Fan's type 7)."""
    below, part = place(len(ordered), q)
    low = Fraction(ordered[below])
    if not part:
        return low
    return low + part * (Fraction(ordered[below + 1]) - low)


def place(n: int, q: float) -> tuple[int, Fraction]:
    """The index q·(n - 1) of n sorted numbers: whole, and what is left; q as it is written."""
    # The shortest text: 0.3 is three tenths, and not the binary number next to it.
    at = Fraction(repr(q)) * (n - 1)
    below = math.floor(at)
    return below, at - below


def middle(low: Number, high: Number) -> Number | None:
    """Half way between two numbers, rounded once; None beyond binary64."""
    return rounded((Fraction(low) + Fraction(high)) / 2)
