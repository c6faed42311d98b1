"""Numbers by their order: ranks that equal ones share, and pairs that two orders agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .exact import Number


def doubled(values: Sequence[Number]) -> list[int]:
    """Of each number twice its rank, counted from 1; equal ones share the mean of their ranks."""
    ranks: dict[Number, int] = {}
    below = 0
    for value, times in sorted(Counter(values).items()):
        ranks[value] = 2 * below + times + 1
        below += times
    return [ranks[value] for value in values]


class Order(NamedTuple):
    """Pairs of places: on how many two orders agree less those they do not; and not tied in each.

    `surplus / sqrt(first * second)` is Kendall's tau-b.
    """

    surplus: int
    first: int
    second: int


def order(first: Sequence[Number], second: Sequence[Number]) -> Order:
    """The pairs of two orders of the same places, in n·log n comparisons (Knight 1966)."""
    n = len(first)
    pairs = n * (n - 1) // 2
    tied_first, tied_second = _ties(first), _ties(second)
    tied_both = _ties(list(zip(first, second, strict=True)))
    against = _inversions([b for _, b in sorted(zip(first, second, strict=True))])
    untied = pairs - tied_first - tied_second + tied_both
    return Order(untied - 2 * against, pairs - tied_first, pairs - tied_second)


def _ties(values: Sequence[object]) -> int:
    return sum(times * (times - 1) // 2 for times in Counter(values).values())


def _inversions(values: list[Number]) -> int:
    """How many pairs stand in falling order, counted while they are merged into a rising one."""
    swaps = 0
    width = 1
    while width < len(values):
        merged: list[Number] = []
        for start in range(0, len(values), 2 * width):
            left = values[start : start + width]
            right = values[start + width : start + 2 * width]
            i = 0
            for value in right:
                while i < len(left) and left[i] <= value:
                    merged.append(left[i])
                    i += 1
                swaps += len(left) - i
                merged.append(value)
            merged += left[i:]
        values = merged
        width *= 2
    return swaps
