"""The exact sign flip test: how often chance alone makes differences of tasks add up to so much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from . import exact

# What the sums of subsets may take: bits of them all, times tasks. A fifth of a second.
_MOST_WORK = 2**34
_MOST_TASKS = 1000
# Rewards are often written with so many decimals.
_DECIMALS = 9
_ROUNDING = 1e-6


def sign_flip(differences: Sequence[int], scale: int = 1) -> float | None:
    """The share of all choices of signs that give a sum as far from 0; None where it takes long.

    `differences` are over the scale. Binary numbers that stand for decimals are taken as these,
    so that equal differences are equal.
    """
    moved = [abs(d) for d in differences if d]
    if not moved:
        return 1.0
    if len(moved) > _MOST_TASKS:
        return None
    total = sum(differences)
    if not _is_short(moved):
        decimals = _as_decimals(differences, scale)
        if decimals is None:
            return None
        total, moved = sum(decimals), [abs(d) for d in decimals if d]
    if not total:
        return 1.0
    common = math.gcd(*moved)
    sizes = sorted(size // common for size in moved)
    return 2 * _ways(sizes, (sum(sizes) + abs(total) // common) // 2) / (1 << len(sizes))


def _is_short(sizes: Sequence[int]) -> bool:
    n = len(sizes)
    return sum(sizes) // math.gcd(*sizes) * n * n <= _MOST_WORK


def _as_decimals(differences: Sequence[int], scale: int) -> list[int] | None:
    """The differences as integers of the last decimal, where they are decimals of few digits."""
    # Thirds of decimals, from three attempts, are decimals again when multiplied by three.
    odd = scale // (scale & -scale)
    values = [exact.rounded(Fraction(d * odd, scale)) for d in differences]
    if None in values:
        return None
    known = [value for value in values if value is not None]
    for digits in range(_DECIMALS + 1):
        shifted = [value * 10**digits for value in known]
        if all(abs(value - round(value)) <= _ROUNDING for value in shifted):
            whole = [round(value) for value in shifted]
            moved = [abs(d) for d in whole if d]
            return whole if moved and _is_short(moved) else None
    return None


def _ways(sizes: Sequence[int], least: int) -> int:
    """How many subsets have a sum of at least that: all sums in the digits of one integer."""
    width = len(sizes) + 1
    sums = 1
    for size in sizes:
        sums += sums << (width * size)
    # Digits add up to what is left of a division by the base less 1.
    return (sums >> (width * least)) % ((1 << width) - 1)
