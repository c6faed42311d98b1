"""What a metric returns: a number, what it was computed from, or why there is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import NamedTuple
from weakref import WeakKeyDictionary

from . import exact
from .column import TASK, Column, LabelError
from .exact import Number

_made: WeakKeyDictionary[Column, dict[str | None, Units]] = WeakKeyDictionary()


class Undefined(NamedTuple):
    """What a metric returns where the rewards give no number: why, and of how many rows."""

    reason: str
    n: int | None = None
    # What scikit-learn, and with it lm-eval, says instead, where it says something.
    elsewhere: float | None = None


class Sums(NamedTuple):
    """Over units: how many, Σn, Σd, Σn², Σnd, Σd²."""

    units: int
    n: int
    d: int
    nn: int
    nd: int
    dd: int


@dataclass(frozen=True)
class Units:
    """Independent units whose ratio of sums is a mean: Σ numerators / Σ denominators / scale.

    A unit is a task, or another cluster: its numerator the sum of its rewards, its denominator how
    many they are (or their weights). `denominators` None: all 1. `times`: how often each stands.
    """

    numerators: Sequence[int]
    denominators: Sequence[int] | None = None
    scale: int = 1
    times: Sequence[int] | None = None

    @cached_property
    def sums(self) -> Sums:
        """What the mean and its variance need."""
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
        """The squared standard error of the mean, exactly; for two or more units.

        The cluster-robust sandwich of an intercept with the correction C / (C - 1); where every
        unit counts as one it is the sample variance over n.
        """
        c, n, d, nn, nd, dd = self.sums
        squares = d * d * nn - 2 * n * d * nd + n * n * dd
        return Fraction(squares * c, (c - 1) * d**4 * self.scale**2)

    @cached_property
    def single(self) -> bool:
        """Whether every unit counts as one."""
        return self.denominators is None or set(self.denominators) == {1}

    def reduced(self) -> Units:
        """The same with denominators that have no common divisor, so that equal weights are 1."""
        if self.denominators is None:
            return self
        common = math.gcd(*self.denominators)
        if common == 1:
            return self
        sizes = [each // common for each in self.denominators]
        return Units(self.numerators, sizes, self.scale * common, self.times)

    @cached_property
    def binary(self) -> bool:
        """Whether every unit is one reward that is 0 or 1."""
        return self.single and set(self.numerators) <= {0, self.scale}

    @cached_property
    def constant(self) -> bool:
        """Whether every reward of every unit is 0, or every one is 1."""
        numbers = set(self.numerators)
        if numbers == {0}:
            return True
        sizes = self.denominators or [1] * len(self.numerators)
        return all(n == d * self.scale for n, d in zip(self.numerators, sizes, strict=True))


class Stratum(NamedTuple):
    """A part of a mean of means, its weight, and its units."""

    weight: Fraction
    units: Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number, the units whose mean it is, and how many trials or tasks it is over.

    Without strata nothing is known of its uncertainty; without `n` it is over all rows. `fewest`:
    a standard error or interval itself, and the independent units of its smallest group.
    """

    value: Number
    strata: tuple[Stratum, ...] = ()
    n: int | None = None
    fewest: int | None = None
    notes: tuple[str, ...] = ()
    # The strata where making them takes longer than the value, and they may not be asked for.
    later: Callable[[], tuple[Stratum, ...]] | None = None

    @property
    def known(self) -> Estimate:
        """The same with its strata made."""
        return self if self.later is None else replace(self, strata=self.later(), later=None)


@dataclass(frozen=True, slots=True)
class Strata:
    """Groups side by side: the mean of their means (macro), or pooled, each by its size."""

    groups: tuple[Column, ...]
    pooled: bool = False


def estimate(
    units: Units, *, value: Number | None = None, n: int | None = None, notes: tuple[str, ...] = ()
) -> Estimate | Undefined:
    """The mean of the units, rounded once, or the value that was made of them otherwise."""
    if value is None:
        value = exact.rounded(units.mean)
    if value is None:
        return Undefined("the mean is beyond the largest binary64 number")
    return Estimate(value=value, strata=(Stratum(Fraction(1), units),), n=n, notes=notes)


def macro(means: Sequence[Estimate], sizes: Sequence[int] | None = None) -> Estimate:
    """The mean of these means, each of equal weight or weighted by its size."""
    means = [each.known for each in means]
    whole_size = sum(sizes) if sizes is not None else len(means)
    shares = [Fraction(size, whole_size) for size in sizes or [1] * len(means)]
    value = sum((Fraction(m.value) * s for m, s in zip(means, shares, strict=True)), Fraction(0))
    strata = tuple(
        Stratum(weight * share, units)
        for each, share in zip(means, shares, strict=True)
        for weight, units in each.strata
    )
    whole = all(each.strata for each in means)
    n = sum(each.n for each in means if each.n is not None)
    # A mean of binary64 numbers is never beyond the largest of them.
    return Estimate(value=float(value), strata=strata if whole else (), n=n or None)


def units(rewards: Column, cluster: str | None = TASK) -> Units:
    """The rewards of a column in clusters; None: each reward on its own.

    Raises:
        LabelError: a trial lacks the label that is the cluster, or it is null.
    """
    # Several metrics ask for the same units, and their sums take longest.
    key = None if _alone(rewards, cluster) else cluster
    made = _made.setdefault(rewards, {})
    if key not in made:
        made[key] = _units(rewards, key)
    return made[key]


def _units(rewards: Column, cluster: str | None) -> Units:
    if cluster is None and rewards.tally is not None:
        distinct = exact.scaled(list(rewards.tally))
        return Units(distinct.integers, None, distinct.scale, list(rewards.tally.values()))
    made = ratio_units(rewards, rewards.scaled.integers, None, rewards.scaled.scale, cluster)
    if cluster is None or rewards.tally is None or made.denominators is None:
        return made
    # Few different rewards make few different tasks: all that follows costs as much as those.
    times = Counter(zip(made.numerators, made.denominators, strict=True))
    tops, bottoms = zip(*times, strict=True)
    return Units(tops, bottoms, made.scale, list(times.values()))


def ratio_units(
    rewards: Column,
    numerators: Sequence[int],
    denominators: Sequence[int] | None,
    scale: int,
    cluster: str | None = TASK,
) -> Units:
    """The same of a numerator and a denominator (None: 1) for each row of the column.

    Raises:
        LabelError: a trial lacks the label that is the cluster, or it is null.
    """
    if _alone(rewards, cluster):
        return Units(numerators, denominators, scale)
    if cluster == TASK:
        bottoms_by_task = (
            list(rewards.sizes) if denominators is None else rewards.task_sums(denominators)
        )
        return Units(rewards.task_sums(numerators), bottoms_by_task, scale)
    ones = denominators if denominators is not None else [1] * len(rewards)
    tops: dict[object, int] = {}
    bottoms: dict[object, int] = {}
    labels = rewards.label(str(cluster))
    if None in labels:
        raise LabelError(f"label `{cluster}` is null for some trials, so it names no cluster")
    for key, top, bottom in zip(labels, numerators, ones, strict=True):
        tops[key] = tops.get(key, 0) + top
        bottoms[key] = bottoms.get(key, 0) + bottom
    return Units(list(tops.values()), list(bottoms.values()), scale)


def _alone(rewards: Column, cluster: str | None) -> bool:
    return cluster is None or (cluster == TASK and rewards.n_tasks == len(rewards))
