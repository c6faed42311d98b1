"""Tasks of one 0 or 1 on both sides: Tango's interval and test, McNemar's exact tests."""

from __future__ import annotations

import math
from functools import cache

from . import exact
from .distributions import normal_quantile

# Halving so often leaves less than 1e-15 of the range from -1 to 1.
_HALVINGS = 52


@cache
def interval(fixed: int, broken: int, n: int, level: float) -> tuple[float, float]:
    """Tango's (1998) score interval of (fixed - broken) / n.

    All δ with |fixed - broken - nδ| <= z·sqrt(n(2q + δ(1 - δ))), where q is the most likely chance
    of a broken task if δ is the difference. Never of width 0.
    """
    z = -normal_quantile((1 - level) / 2)
    # The lower end is the upper one of the sides exchanged, to the last bit.
    return -_upper(broken, fixed, n, z), _upper(fixed, broken, n, z)


def _upper(fixed: int, broken: int, n: int, z: float) -> float:
    if fixed == n:
        return 1.0
    inside, outside = (fixed - broken) / n, 1.0
    for _ in range(_HALVINGS):
        delta = (inside + outside) / 2
        distance = fixed - broken - n * delta
        if distance * distance <= z * z * n * _variance(fixed, broken, n, delta):
            inside = delta
        else:
            outside = delta
    return (inside + outside) / 2


def _variance(fixed: int, broken: int, n: int, delta: float) -> float:
    """Of one task's difference, with the chance that is the most likely one if it is `delta`."""
    a = 2 * n
    b = -fixed - broken + (2 * n - fixed + broken) * delta
    c = -broken * delta * (1 - delta)
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    # The form without a difference of two numbers that are nearly the same.
    q = -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)
    return 2 * q + delta * (1 - delta)


def score_p(fixed: int, broken: int) -> float:
    """The p of McNemar's test without correction, which is the one that the interval inverts."""
    moved = fixed + broken
    return math.erfc(abs(fixed - broken) / math.sqrt(2 * moved)) if moved else 1.0


def exact_p(fixed: int, broken: int) -> float:
    """The p of McNemar's exact test: a fair coin for each task that moved."""
    moved = fixed + broken
    ways = sum(math.comb(moved, i) for i in range(min(fixed, broken) + 1))
    return min(1.0, 2 * ways / (1 << moved))


def mid_p(fixed: int, broken: int) -> float:
    """The exact p less half of the chance of what was seen, on either side (Fagerland 2013)."""
    moved = fixed + broken
    if fixed == broken:
        return 1 - math.comb(moved, fixed) / (2 << moved) if moved else 1.0
    return exact_p(fixed, broken) - math.comb(moved, fixed) / (1 << moved)


def stderr(fixed: int, broken: int, n: int) -> float | None:
    """The standard error of (fixed - broken) / n as the tasks are; None where none moved."""
    squares = (fixed + broken) * n - (fixed - broken) ** 2
    return exact.root(squares, n**3) or None
