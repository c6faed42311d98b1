"""What a metric returns: a number, what it was computed from, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import mul
from typing import NamedTuple
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from ..numbers import exact
from ..numbers.attempts import Powers, Repeats
from ..numbers.exact import Number
from ..numbers.uncertainty import range_of
from ..numbers.units import Range, Stratum, Tasks, Units
from ..trials.column import Column
from ..trials.labelled import TASK, clusters

_made: WeakKeyDictionary[Column, dict[str | None, Units]] = WeakKeyDictionary()


class Undefined(NamedTuple):
    """What a metric returns where the rewards give no number: why, and of how many rows."""

    reason: str
    n: int | None = None
    # What scikit-learn, and with it lm-eval, says instead, where it says something.
    elsewhere: float | None = None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A number, the units whose mean it is, and how many trials or tasks it is over.

    Without strata nothing is known of its uncertainty; without `n` it is over all rows. `over`: the
    trials and tasks where they are not all. `fewest`:
    a standard error or interval itself, and the independent units of its smallest group.
    """

    value: Number
    strata: tuple[Stratum, ...] = ()
    n: int | None = None
    over: tuple[int, int] | None = None
    fewest: int | None = None
    notes: tuple[str, ...] = ()
    # The strata where making them takes longer than the value, and they may not be asked for.
    later: Callable[[], tuple[Stratum, ...]] | None = None
    # The number before it was rounded, for those who take a difference.
    unrounded: Callable[[], Fraction] | None = None

    @classmethod
    def of_tasks(cls, values: Mapping[str, Number]) -> Estimate | Undefined:
        """The mean of one number a task, with all that an interval and `compare` need of it."""
        if not values:
            return Undefined("there are no tasks")
        # Of True and False the numbers.
        names, numbers = list(values), [value + 0 for value in values.values()]
        integers, scale = exact.scaled(numbers)
        tasks = partial(Tasks, names, integers, None, scale)
        return estimate(Units(integers, None, scale, None, Range.of(numbers), tasks=tasks))

    @property
    def known(self) -> Estimate:
        """The same with its strata made."""
        return self if self.later is None else replace(self, strata=self.later(), later=None)

    @property
    def exact(self) -> Fraction:
        """The number as it was before it was rounded, where that is known."""
        return Fraction(self.value) if self.unrounded is None else self.unrounded()

    @property
    def range(self) -> Range:
        """What each of the rewards behind it can be, which its strata say."""
        strata = self.known.strata
        return range_of(strata) if strata else Range.ANY


class Strata(msgspec.Struct, frozen=True):
    """Groups side by side: the mean of their means (macro), or pooled, each by its size."""

    groups: tuple[Column, ...]
    pooled: bool = False


def estimate(
    units: Units,
    *,
    value: Number | None = None,
    n: int | None = None,
    over: tuple[int, int] | None = None,
    notes: tuple[str, ...] = (),
) -> Estimate | Undefined:
    """The mean of the units, rounded once, or the value that was made of them otherwise."""
    if value is None:
        value = exact.rounded(units.mean)
    if value is None:
        return Undefined("the mean is beyond the largest binary64 number")
    strata = (Stratum(Fraction(1), units),)
    return Estimate(value=value, strata=strata, n=n, over=over, notes=notes)


def macro(means: Sequence[Estimate], sizes: Sequence[int] | None = None) -> Estimate:
    """The mean of these means, each of equal weight or weighted by its size."""
    means = [each.known for each in means]
    whole_size = sum(sizes) if sizes is not None else len(means)
    shares = [Fraction(size, whole_size) for size in sizes or [1] * len(means)]
    value = sum((Fraction(m.value) * s for m, s in zip(means, shares, strict=True)), Fraction(0))

    def unrounded() -> Fraction:
        return sum((m.exact * s for m, s in zip(means, shares, strict=True)), Fraction(0))

    strata = tuple(
        Stratum(weight * share, units)
        for each, share in zip(means, shares, strict=True)
        for weight, units in each.strata
    )
    whole = all(each.strata for each in means)
    n = sum(each.n for each in means if each.n is not None)
    # A mean of binary64 numbers is never beyond the largest of them.
    return Estimate(
        value=float(value), strata=strata if whole else (), n=n or None, unrounded=unrounded
    )


def units(rewards: Column, cluster: str | None = TASK) -> Units:
    """The rewards of a column in clusters; None: each reward on its own.

    Raises:
        MetricFailure: a trial lacks the label that is the cluster, or it is null.
    """
    known = rewards.units(cluster)
    if known is not None:
        return known
    # Several metrics ask for the same units, and their sums take longest.
    key = None if _alone(rewards, cluster) else cluster
    made = _made.setdefault(rewards, {})
    if key not in made:
        made[key] = _units(rewards, key)
    return made[key]


def _units(rewards: Column, cluster: str | None) -> Units:
    # Not the column itself: the units are kept for as long as it lives.
    bounds = partial(Range.of, rewards.tally or rewards.values)
    if cluster is None and rewards.tally is not None:
        distinct = exact.scaled(list(rewards.tally))
        often = list(rewards.tally.values())
        again = partial(repeats, rewards.tasks, rewards.values)
        own = again if rewards.attempts is None else None
        tasks = partial(_by_task, rewards.tasks, rewards.values)
        return Units(distinct.integers, None, distinct.scale, often, bounds, own, tasks=tasks)
    integers, scale = rewards.scaled
    made = ratio_units(rewards, integers, None, scale, cluster, bounds)
    if cluster is None or rewards.tally is None or made.denominators is None:
        return made
    # Few different rewards make few different tasks: all that follows costs as much as those.
    times = Counter(zip(made.numerators, made.denominators, strict=True))
    tops, bottoms = zip(*times, strict=True)
    return replace(made, numerators=tops, denominators=bottoms, times=list(times.values()))


def ratio_units(
    rewards: Column,
    numerators: Sequence[int],
    denominators: Sequence[int] | None,
    scale: int,
    cluster: str | None = TASK,
    bounds: Range | Callable[[], Range] = Range.ANY,
) -> Units:
    """Units of a numerator and a denominator (None: 1) for each row of the column.

    `bounds` is the range of every ratio, or what finds it.

    Raises:
        MetricFailure: a trial lacks the label that is the cluster, or it is null.
    """
    # Not the column itself: the units are kept for as long as it lives.
    again = partial(repeats, rewards.tasks, numerators, scale)
    own = again if rewards.attempts is None and denominators is None else None
    tasks = partial(_by_task, rewards.tasks, numerators, denominators, scale)
    if _alone(rewards, cluster):
        return Units(numerators, denominators, scale, None, bounds, own, tasks=tasks)
    if cluster == TASK:
        bottoms_by_task = (
            list(rewards.sizes) if denominators is None else rewards.task_sums(denominators)
        )
        tops_by_task = rewards.task_sums(numerators)
        return Units(tops_by_task, bottoms_by_task, scale, None, bounds, own, tasks=tasks)
    ones = denominators if denominators is not None else [1] * len(rewards)
    tops: dict[object, int] = {}
    bottoms: dict[object, int] = {}
    labels = clusters(rewards, str(cluster))
    for key, top, bottom in zip(labels, numerators, ones, strict=True):
        tops[key] = tops.get(key, 0) + top
        bottoms[key] = bottoms.get(key, 0) + bottom
    return Units(list(tops.values()), list(bottoms.values()), scale, None, bounds, own, tasks=tasks)


def _by_task(
    tasks: Sequence[str],
    rewards: Sequence[Number],
    denominators: Sequence[int] | None = None,
    scale: int = 1,
) -> Tasks:
    """The sums of each task; rewards are over the scale."""
    integers, own_scale = exact.scaled(rewards)
    column = Column(integers, tasks)
    names = column.names
    if len(names) == len(tasks):
        return Tasks(names, integers, denominators, scale * own_scale)
    sizes = list(column.sizes) if denominators is None else column.task_sums(denominators)
    return Tasks(names, column.task_sums(integers), sizes, scale * own_scale)


def repeats(tasks: Sequence[str], rewards: Sequence[Number], scale: int = 1) -> Repeats:
    """How the attempts at each task spread; rewards are over the scale."""
    integers, own_scale = exact.scaled(rewards)
    column = Column(integers, tasks)
    squares = list(map(mul, integers, integers))
    cubes = list(map(mul, integers, squares))
    sums = map(column.task_sums, (integers, squares, cubes))
    times = Counter(map(Powers, column.sizes, *sums))
    return Repeats(list(times), list(times.values()), scale * own_scale, by_task=False)


def _alone(rewards: Column, cluster: str | None) -> bool:
    return cluster is None or (cluster == TASK and rewards.n_tasks == len(rewards))
