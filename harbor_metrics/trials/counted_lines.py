"""Lines of a rewards file that were counted and not kept; each is a task of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, NoReturn

import msgspec

from ..errors import NeedsRowsError
from ..numbers import exact
from ..numbers.attempts import Powers, Repeats
from ..numbers.exact import Number
from ..numbers.power_sums import PowerSums
from ..numbers.units import Cubes, Known, Range, Sums, Units
from .column import Column, Kind
from .counted import Absent, CountedColumn
from .counts import NotCountableError
from .labelled import TASK
from .rewards import KeyTimes
from .table import Missing, Table

# More different values of a key than these are added up and not counted.
MOST_VALUES = 1 << 14


class KeyCounts(msgspec.Struct):
    """One reward key: how often each value stands, or where they are too many, their sums."""

    times: Counter[Number] = msgspec.field(default_factory=Counter)
    sums: PowerSums | None = None
    integers_only: bool = True
    n: int = 0

    def add(self, values: Sequence[Number]) -> None:
        """Add the values of some lines."""
        if not values:
            return
        self.n += len(values)
        self.integers_only = self.integers_only and float not in map(type, values)
        if self.sums is not None:
            self.sums.add(values)
            return
        self.times.update(values)
        self._limit()

    def add_times(self, value: Number, times: int) -> None:
        """Add a value that stands so often."""
        self.n += times
        self.integers_only = self.integers_only and type(value) is int
        if self.sums is not None:
            self.sums.add_times(Counter({value: times}))
            return
        self.times[value] += times
        self._limit()

    def _limit(self) -> None:
        if len(self.times) > MOST_VALUES:
            self.sums = self.summed
            self.times = Counter()

    @property
    def summed(self) -> PowerSums:
        """The sums of all values."""
        if self.sums is not None:
            return self.sums
        sums = PowerSums()
        sums.add_times(self.times)
        return sums

    def __add__(self, other: KeyCounts) -> KeyCounts:
        both = KeyCounts(
            integers_only=self.integers_only and other.integers_only, n=self.n + other.n
        )
        if self.sums is None and other.sums is None:
            both.times = Counter(self.times)
            both.times.update(other.times)
            both._limit()
        else:
            both.sums = self.summed + other.summed
        return both


class LineCounts(msgspec.Struct):
    """The lines of a rewards file: how many, how many have rewards, or an empty object for them.

    And the values of each key.
    """

    n: int = 0
    n_scored: int = 0
    n_empty: int = 0
    keys: dict[str, KeyCounts] = {}

    def key(self, name: str) -> KeyCounts:
        """The counts of one reward key."""
        return self.keys.setdefault(name, KeyCounts())

    def __add__(self, other: LineCounts) -> LineCounts:
        names = self.keys.keys() | other.keys.keys()
        return LineCounts(
            self.n + other.n,
            self.n_scored + other.n_scored,
            self.n_empty + other.n_empty,
            {
                name: self.keys.get(name, KeyCounts()) + other.keys.get(name, KeyCounts())
                for name in names
            },
        )


class CountedLines(Table):
    """Lines of which only counts are known."""

    has_rows = False

    def __init__(self, counts: LineCounts) -> None:
        self.counts = counts
        self.trials = Absent(counts.n, "every trial")

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, CountedLines):
            raise NotCountableError("lines of rewards beside trials of named tasks")
        return CountedLines(self.counts + other.counts)

    @cached_property
    def columns(self) -> Any:
        return {name: Absent(len(self), "every reward") for name in sorted(self.counts.keys)}

    @property
    def tasks(self) -> Sequence[str]:
        return Absent(len(self), "the task of every trial")

    @property
    def n_tasks(self) -> int:
        return len(self)

    @property
    def n_scored(self) -> int:
        return self.counts.n_scored

    @property
    def key_times(self) -> KeyTimes:
        counts = self.counts
        times = Counter({key: each.n for key, each in counts.keys.items()})
        return KeyTimes(counts.n_scored, counts.n_empty, times)

    @property
    def errors(self) -> dict[str, int]:
        return {}

    def used(self, name: str) -> Number | None:  # noqa: ARG002  # lines say nothing of it
        return None

    def task_passes(self) -> Counter[tuple[int, int]] | None:
        return None

    def _column(self, key: str, missing: Missing) -> Column:
        counts = self.counts.keys.get(key, KeyCounts())
        absent = len(self) - counts.n
        if absent and missing == "error":
            raise NeedsRowsError("the first trial that lacks a reward")
        zeros = absent if missing == "zero" else 0
        names = partial(_first, whole=missing == "zero" or not absent)
        if counts.sums is not None:
            # Of the type of the others, as where the trials are kept.
            zero: Number = 0 if counts.integers_only else 0.0
            added = PowerSums()
            added.add_times(Counter({zero: zeros} if zeros else {}))
            return SummedColumn.of(counts.sums + added, counts.integers_only, names)
        times = Counter(counts.times)
        if zeros:
            times[0 if counts.integers_only else 0.0] += zeros
        kinds: Counter[Kind] = Counter({((value, 1),): often for value, often in times.items()})
        return CountedColumn.of(kinds, integers_only=counts.integers_only, names=names)


def _first(_most: int, *, whole: bool) -> tuple[str, int]:
    if not whole:
        raise NeedsRowsError("the first trial that has a reward")
    return "line:1", 1


class SummedColumn(Column, frozen=True, eq=False, dict=True, weakref=True, kw_only=True):
    """One reward key of lines with too many different values to count them."""

    has_rows: ClassVar[bool] = False

    sums: PowerSums
    whole: bool
    names: Any

    @classmethod
    def of(cls, sums: PowerSums, integers_only: bool, names: Any) -> SummedColumn:
        """The column of these sums."""
        values, tasks, trials = (Absent(sums.n, what) for what in _ROWS)
        return cls(values, tasks, trials, sums=sums, whole=integers_only, names=names)

    def alike(self, threshold: float | None) -> NoReturn:  # noqa: ARG002  # nor any other
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NeedsRowsError(_ROWS[0])

    @property
    def total(self) -> Number | None:
        sums = self.sums
        return sums.first if self.whole else exact.ratio(sums.first, 1 << sums.shift)

    @property
    def least(self) -> Number:
        return self.sums.least

    @property
    def most(self) -> Number:
        return self.sums.most

    @property
    def integers_only(self) -> bool:
        return self.whole

    @property
    def range(self) -> Range:
        # They are more than two, so there are others than 0 and 1.
        return max(Range.of([self.least, self.most]), Range.SHARE)

    @property
    def counter(self) -> Counter[Number]:
        self._refuse()

    @property
    def ordered(self) -> Sequence[Number]:
        self._refuse()

    @property
    def kinds(self) -> Counter[Kind]:
        self._refuse()

    def passes(self, threshold: float) -> Counter[tuple[int, int]]:  # noqa: ARG002  # nor any other
        self._refuse()

    @property
    def sizes_tally(self) -> Counter[int]:
        return Counter({1: len(self)})

    @property
    def n_tasks(self) -> int:
        return len(self)

    def shorter(self, k: int) -> tuple[int, str, int] | None:
        return (len(self), *self.names(k - 1)) if k > 1 else None

    def units(self, cluster: str | None) -> Units:
        if cluster not in (None, TASK):
            raise NeedsRowsError(f"the label `{cluster}` of every trial")
        n, sums = len(self), self.sums
        known = Known(
            Sums(n, sums.first, n, sums.second, sums.first, n),
            Cubes(sums.third, sums.second, sums.first, n),
        )
        # What is said of single attempts asks for no more than that they are single.
        alone = Repeats([Powers(1, 0, 0, 0)], [n], 1, by_task=False)
        integers: Any = Absent(n, _ROWS[0])
        return Units(integers, None, 1 << sums.shift, None, self.range, lambda: alone, known)


_ROWS = ("every reward", "the task of every trial", "every trial")
