"""Exact sums of numbers, of their squares and cubes, that add up in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import mul

import msgspec

from . import exact
from .exact import Number


class PowerSums(msgspec.Struct):
    """Exact sums of numbers, of their squares and cubes, over one power of two; their ends."""

    n: int = 0
    first: int = 0
    second: int = 0
    third: int = 0
    # The scale is 2 to this power.
    shift: int = 0
    least: Number = float("inf")
    most: Number = float("-inf")

    def add(self, values: Sequence[Number]) -> None:
        """Add numbers that each stand once."""
        integers, scale = exact.scaled(values)
        squares = list(map(mul, integers, integers))
        self._add(
            len(values),
            (sum(integers), sum(squares), sum(map(mul, squares, integers))),
            scale.bit_length() - 1,
        )
        self._widen(min(values), max(values))

    def add_times(self, times: Counter[Number]) -> None:
        """Add numbers that stand so often."""
        if not times:
            return
        integers, scale = exact.scaled(list(times))
        often = list(times.values())
        sums = [
            sum(t * n**power for n, t in zip(integers, often, strict=True)) for power in (1, 2, 3)
        ]
        self._add(sum(often), sums, scale.bit_length() - 1)
        self._widen(min(times), max(times))

    def __add__(self, other: PowerSums) -> PowerSums:
        both = msgspec.structs.replace(self)
        both._add(other.n, (other.first, other.second, other.third), other.shift)
        both._widen(other.least, other.most)
        return both

    def _add(self, n: int, sums: Sequence[int], shift: int) -> None:
        finest = max(shift, self.shift)
        mine, theirs = finest - self.shift, finest - shift
        self.first = (self.first << mine) + (sums[0] << theirs)
        self.second = (self.second << 2 * mine) + (sums[1] << 2 * theirs)
        self.third = (self.third << 3 * mine) + (sums[2] << 3 * theirs)
        self.n += n
        self.shift = finest

    def _widen(self, least: Number, most: Number) -> None:
        self.least = min(self.least, least)
        self.most = max(self.most, most)
