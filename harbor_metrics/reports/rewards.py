"""How often rewards lie where: at most thirty bins of one width."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import NamedTuple

from ..numbers.exact import Number
from ..trials.column import Column

MOST_BINS = 30


class Bins(NamedTuple):
    """The edges of the bins, one more than there are, and how many rewards lie in each."""

    edges: list[Number]
    times: list[int]


def bins(column: Column, most: int = MOST_BINS) -> Bins:
    """The rewards of a column in bins; each has its lower edge, and the last the upper one too."""
    often = column.counter
    low, high = min(often), max(often)
    if low == high:
        return Bins([low, high], [len(column)])
    n = min(most, max(4, round(len(column) ** 0.5)))
    width = (Fraction(high) - Fraction(low)) / n
    edges = [low, *(float(Fraction(low) + width * i) for i in range(1, n)), high]
    times = [0] * n
    for value, count in often.items():
        times[min(n, bisect_right(edges, value)) - 1] += count
    return Bins(edges, times)
