"""Units of which an engine gave the sums, by how many attempts they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..numbers.attempts import Repeats
from ..numbers.units import Cubes, Range, Sums, Units
from .sums import Sums as OfSize

# A unit's numerator, its denominator, how many units have both; and the scale.
Pairs = tuple[Sequence[tuple[int, int, int]], int]


class Later(Sequence[int]):
    """Numbers that are asked for when they are needed."""

    def __init__(self, ask: Callable[[], Sequence[int]]) -> None:
        self._ask = ask

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return self._ask()

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> int:  # type: ignore[override]  # no slices: never needed
        return self._numbers[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)


@dataclass(frozen=True)
class Powers:
    """Attempts of a unit -> the sums over the units with so many; those of cubes when asked for."""

    squares: Mapping[int, OfSize]
    cubes: Callable[[], Mapping[int, OfSize]]
    scale: int

    @property
    def units(self) -> int:
        """How many units there are."""
        return sum(size.units for size in self.squares.values())


class SummedUnits(Units, frozen=True, dict=True, kw_only=True):
    """Units that were added up; each different one is asked for only where sums do not do."""

    powers: Powers

    @classmethod
    def of(
        cls,
        powers: Powers,
        bounds: Range,
        inside: Callable[[], Repeats] | None,
        pairs: Callable[[], Pairs],
    ) -> SummedUnits:
        """The units with these sums; `pairs` asks for each different one."""
        single = set(powers.squares) == {1}
        return cls(
            Later(lambda: _numerators(pairs(), powers.scale)),
            None if single else Later(lambda: [d for _, d, _ in pairs()[0]]),
            powers.scale,
            Later(lambda: [times for _, _, times in pairs()[0]]),
            bounds,
            inside,
            powers=powers,
        )

    @cached_property
    def sums(self) -> Sums:
        """What the mean and its variance need."""
        sizes = self.powers.squares.items()
        return Sums(
            self.powers.units,
            sum(size.first for _, size in sizes),
            sum(size.units * d for d, size in sizes),
            sum(size.second for _, size in sizes),
            sum(size.first * d for d, size in sizes),
            sum(size.units * d * d for d, size in sizes),
        )

    @property
    def _cubes(self) -> Cubes:
        sizes = self.powers.cubes().items()
        return Cubes(
            sum(size.third for _, size in sizes),
            sum(size.second * d for d, size in sizes),
            sum(size.first * d * d for d, size in sizes),
            sum(size.units * d**3 for d, size in sizes),
        )

    @property
    def squares_over_sizes(self) -> Fraction:
        """Σ numerator² / denominator, exactly."""
        sizes = self.powers.squares.items()
        return sum((Fraction(size.second, d) for d, size in sizes), Fraction(0)) / self.scale**2

    @cached_property
    def single(self) -> bool:
        """Whether every unit counts as one."""
        return set(self.powers.squares) == {1}

    @cached_property
    def binary(self) -> bool:
        """Whether every unit is one reward that is 0 or 1."""
        return self.range is Range.BINARY and self.single

    @property
    def averaged(self) -> Units:
        """Every unit with a numerator that is its mean, over a common denominator."""
        common = math.lcm(*self.powers.squares)
        powers = Powers(
            _averaged(self.powers.squares, common),
            lambda: _averaged(self.powers.cubes(), common),
            self.scale * common,
        )

        def pairs() -> Pairs:
            each = zip(self.numerators, self.denominators or (), self.times or (), strict=True)
            return [(n * (common // d), 1, times) for n, d, times in each], self.scale * common

        return SummedUnits.of(powers, self._averaged_range(), self._averaged_inside, pairs)


def _averaged(sizes: Mapping[int, OfSize], common: int) -> dict[int, OfSize]:
    """The sums of the units' means times `common`, as of units of one attempt."""
    parts = [(common // d, size) for d, size in sizes.items()]
    return {
        1: OfSize(
            sum(size.units for _, size in parts),
            sum(size.first * up for up, size in parts),
            sum(size.second * up**2 for up, size in parts),
            sum(size.third * up**3 for up, size in parts),
        )
    }


def _numerators(pairs: Pairs, scale: int) -> list[int]:
    """The numerators over this scale, which theirs divides."""
    numbers, own = pairs
    return [n * scale // own for n, _, _ in numbers]
