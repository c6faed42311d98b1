"""Independent units whose ratio of sums is a mean, and the exact moments of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import NamedTuple

import msgspec

from .attempts import Repeats
from .exact import Number
from .undefined import NoIntervalError


class Range(IntEnum):
    """What every reward can be; each range lies within the next."""

    BINARY = 0  # 0 or 1
    SHARE = 1  # between 0 and 1
    POSITIVE = 2  # not negative: an amount, such as dollars or seconds
    ANY = 3

    @classmethod
    def of(cls, rewards: Collection[Number]) -> Range:
        """The narrowest range that all of these rewards lie in."""
        if min(rewards) < 0:
            return cls.ANY
        if max(rewards) > 1:
            return cls.POSITIVE
        return cls.BINARY if all(map({0, 1}.__contains__, rewards)) else cls.SHARE


class Sums(msgspec.Struct, frozen=True):
    """Over units: how many, Σn, Σd, Σn², Σnd, Σd²."""

    units: int
    n: int
    d: int
    nn: int
    nd: int
    dd: int


class Cubes(msgspec.Struct, frozen=True):
    """Over units: Σn³, Σn²d, Σnd², Σd³."""

    nnn: int
    nnd: int
    ndd: int
    ddd: int


class Known(msgspec.Struct, frozen=True):
    """What is known of units that were added up and not kept; each counts as one."""

    sums: Sums
    cubes: Cubes


class Tasks(msgspec.Struct, frozen=True):
    """By task, what its rewards add to a mean: Σ numerators / Σ denominators / scale.

    `denominators` None: all 1.
    """

    names: Sequence[str]
    numerators: Sequence[int]
    denominators: Sequence[int] | None
    scale: int


class Units(msgspec.Struct, frozen=True, dict=True):
    """Independent units whose ratio of sums is a mean: Σ numerators / Σ denominators / scale.

    A unit is a task, or another cluster: its numerator the sum of its rewards, its denominator how
    many they are (or their weights). `denominators` None: all 1. `times`: how often each stands.
    `rewards`: the range of every single reward, or what finds it. `inside`: finds how the attempts
    within units spread; `tasks`: finds the same sums by task; None where that is not known.
    """

    numerators: Sequence[int]
    denominators: Sequence[int] | None = None
    scale: int = 1
    times: Sequence[int] | None = None
    rewards: Range | Callable[[], Range] = Range.ANY
    inside: Callable[[], Repeats] | None = None
    known: Known | None = None
    tasks: Callable[[], Tasks] | None = None

    @cached_property
    def range(self) -> Range:
        """What every single reward can be; never judged by sums or by the mean."""
        return self.rewards if isinstance(self.rewards, Range) else self.rewards()

    @cached_property
    def sums(self) -> Sums:
        """What the mean and its variance need."""
        if self.known is not None:
            return self.known.sums
        n, d = self.numerators, self.denominators
        if self.times is not None:
            n_times = list(map(mul, n, self.times))
            d = d if d is not None else [1] * len(n)
            d_times = list(map(mul, d, self.times))
            return Sums(
                sum(self.times),
                sum(n_times),
                sum(d_times),
                sum(map(mul, n, n_times)),
                sum(map(mul, n, d_times)),
                sum(map(mul, d, d_times)),
            )
        squares = sum(map(mul, n, n))
        if d is None:
            return Sums(len(n), sum(n), len(n), squares, sum(n), len(n))
        return Sums(len(n), sum(n), sum(d), squares, sum(map(mul, n, d)), sum(map(mul, d, d)))

    @property
    def mean(self) -> Fraction:
        """The ratio of the sums, exactly."""
        return Fraction(self.sums.n, self.sums.d * self.scale)

    @property
    def variance(self) -> Fraction:
        """The squared standard error of the mean, exactly.

        The cluster-robust sandwich of an intercept with the correction C / (C - 1); where every
        unit counts as one it is the sample variance over n.

        Raises:
            NoIntervalError: there are fewer than two units.
        """
        c, n, d = self.sums.units, self.sums.n, self.sums.d
        if c < 2:
            raise NoIntervalError(
                "undefined for a single reward"
                if self.single
                else "undefined for a single cluster: what is inside one does not tell how others "
                "differ"
            )
        squares = d * d * self.sums.nn - 2 * n * d * self.sums.nd + n * n * self.sums.dd
        return Fraction(squares * c, (c - 1) * d**4 * self.scale**2)

    @property
    def squares_over_sizes(self) -> Fraction:
        """Σ numerator² / denominator, exactly: with `sums` an analysis of variance."""
        sizes = self.denominators or [1] * len(self.numerators)
        times = self.times or [1] * len(self.numerators)
        of_size: dict[int, int] = {}
        for n, d, often in zip(self.numerators, sizes, times, strict=True):
            of_size[d] = of_size.get(d, 0) + often * n * n
        squares = sum((Fraction(nn, d) for d, nn in of_size.items()), Fraction(0))
        return squares / self.scale**2

    @cached_property
    def single(self) -> bool:
        """Whether every unit counts as one."""
        return self.denominators is None or set(self.denominators) == {1}

    @cached_property
    def binary(self) -> bool:
        """Whether every unit is one reward that is 0 or 1."""
        if self.known is not None:
            return self.range is Range.BINARY
        return self.single and set(self.numerators) <= {0, self.scale}

    @property
    def third_moment(self) -> Fraction:
        """Σ (numerator - mean·denominator)³ / (Σ denominators)³, exactly.

        The third central moment of the mean, as `variance` is the second, without a correction.
        """
        top, bottom = self.sums.n, self.sums.d
        of = self._cubes
        cubes = bottom**3 * of.nnn - 3 * bottom**2 * top * of.nnd
        cubes += 3 * bottom * top**2 * of.ndd - top**3 * of.ddd
        return Fraction(cubes, (bottom**2 * self.scale) ** 3)

    @property
    def averaged(self) -> Units:
        """Every unit with a numerator that is its mean, over a common denominator."""
        sizes = self.denominators or ()
        common = math.lcm(*set(sizes))
        numerators = [n * (common // d) for n, d in zip(self.numerators, sizes, strict=True)]
        return Units(
            numerators,
            None,
            self.scale * common,
            self.times,
            self._averaged_range,
            self._averaged_inside,
            tasks=self._averaged_tasks,
        )

    def _averaged_range(self) -> Range:
        # A mean of several 0 and 1 lies between them.
        return max(self.range, Range.SHARE)

    def _averaged_inside(self) -> Repeats:
        assert self.inside is not None  # a reducer leaves one value a unit, and all of one size
        return msgspec.structs.replace(self.inside(), by_task=True)

    def _averaged_tasks(self) -> Tasks:
        assert self.tasks is not None  # the units of a column know their tasks
        tasks = self.tasks()
        sizes = tasks.denominators or ()
        common = math.lcm(*set(sizes))
        means = [n * (common // d) for n, d in zip(tasks.numerators, sizes, strict=True)]
        return Tasks(tasks.names, means, None, tasks.scale * common)

    @property
    def _cubes(self) -> Cubes:
        if self.known is not None:
            return self.known.cubes
        n = self.numerators
        d = self.denominators or [1] * len(n)
        times = self.times or [1] * len(n)
        nn, dd = list(map(mul, n, n)), list(map(mul, d, d))
        n_times, d_times = list(map(mul, n, times)), list(map(mul, d, times))
        return Cubes(
            sum(map(mul, nn, n_times)),
            sum(map(mul, nn, d_times)),
            sum(map(mul, dd, n_times)),
            sum(map(mul, dd, d_times)),
        )


class Stratum(NamedTuple):
    """A part of a mean of means, its weight, and its units."""

    weight: Fraction
    units: Units
