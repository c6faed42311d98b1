"""Tables and columns of trials that were counted and not kept.

What needs the trials themselves says so by `NeedsRowsError`; whoever has them then reads them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, NoReturn

from ..errors import NeedsRowsError
from ..numbers import exact
from ..numbers.attempts import Powers, Repeats
from ..numbers.exact import Number
from ..numbers.units import Range, Units
from .column import Column, Kind
from .counts import Counts, NotCountableError, State
from .labelled import TASK
from .rewards import KeyTimes
from .table import Missing, Table


class Absent(Sequence[Any]):
    """So many rows that were not kept."""

    def __init__(self, n: int, what: str) -> None:
        self._n, self._what = n, what

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, _index: Any) -> NoReturn:
        raise NeedsRowsError(self._what)

    def __iter__(self) -> Iterator[Any]:
        raise NeedsRowsError(self._what)


class Ordered(Sequence[Number]):
    """Sorted numbers of which each different one is kept once."""

    def __init__(self, times: Counter[Number]) -> None:
        self._numbers = sorted(times)
        self._ends: list[int] = []
        end = 0
        for number in self._numbers:
            end += times[number]
            self._ends.append(end)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: Any) -> Number:  # type: ignore[override]  # no slices
        # For weight: only quantiles ask.
        from bisect import bisect

        return self._numbers[bisect(self._ends, index if index >= 0 else len(self) + index)]


class CountedTable(Table):
    """Trials of which only counts are known."""

    has_rows = False

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.trials = Absent(counts.n, "every trial")

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, CountedTable):
            raise NotCountableError("some trials are counted, and some are kept")
        return CountedTable(self.counts + other.counts)

    @cached_property
    def columns(self) -> Any:
        keys = set(chain.from_iterable(filter(None, self.counts.rows)))
        return dict.fromkeys(sorted(keys), Absent(len(self), "every reward"))

    @property
    def tasks(self) -> Sequence[str]:
        return Absent(len(self), "the task of every trial")

    @property
    def n_tasks(self) -> int:
        return len(self.counts.tasks)

    @property
    def changed_tasks(self) -> list[str]:
        return list(self.counts.changed)

    @property
    def n_scored(self) -> int:
        return self.counts.n_scored

    @property
    def key_times(self) -> KeyTimes:
        times = KeyTimes()
        for rewards, often in self.counts.rows_with_times():
            times.add(rewards, often)
        return times

    @property
    def errors(self) -> dict[str, int]:
        return dict(sorted(self.counts.errors.items()))

    def used(self, name: str) -> Number | None:
        total = self.counts.totals[name]
        return math.inf if total.n and total.value is None else total.value

    def task_passes(self) -> Counter[tuple[int, int]] | None:
        rows = self.counts.rows
        if any(row is not None and len(row) != 1 for row in rows):
            return None
        values = [0 if row is None else next(iter(row.values())) for row in rows]
        if not set(values) <= {0, 1}:
            return None
        passes: Counter[tuple[int, int]] = Counter()
        for state, tasks in self._states.items():
            passed = sum(times for row, times in state if values[row])
            passes[sum(times for _, times in state), passed] += tasks
        return passes

    @cached_property
    def _states(self) -> Counter[State]:
        """What the trials of a task gave -> how many tasks that is true of."""
        of_number = Counter(self.counts.tasks.values())
        return Counter({self.counts.states[n]: times for n, times in of_number.items()})

    def _column(self, key: str, missing: Missing) -> Column:
        values = [None if row is None else row.get(key) for row in self.counts.rows]
        # Of the type of the others, as where the trials are kept.
        zero = 0.0 if float in map(type, values) else 0
        if missing == "zero":
            values = [zero if value is None else value for value in values]
        elif missing == "error" and None in values:
            raise NeedsRowsError("the first trial that lacks a reward")
        kinds: Counter[Kind] = Counter()
        sizes: dict[int, int] = {}
        for number, state in enumerate(self.counts.states):
            sizes[number] = sum(t for row, t in state if values[row] is not None)
        for state, tasks in self._states.items():
            times: Counter[Number] = Counter()
            for row, often in state:
                value = values[row]
                if value is not None:
                    times[value] += often
            if times:
                kinds[tuple(sorted(times.items()))] += tasks
        return CountedColumn.of(
            kinds,
            integers_only=float not in map(type, values),
            names=self._named_by(sizes),
        )

    def _named_by(self, sizes: dict[int, int]) -> Any:
        """Finds the first task of those that have from 1 to so many rewards, and how many."""

        def first(most: int) -> tuple[str, int]:
            tasks = self.counts.tasks.items()
            name = min(task for task, state in tasks if 0 < sizes[state] <= most)
            return name, sizes[self.counts.tasks[name]]

        return first


class CountedColumn(Column, frozen=True, eq=False, dict=True, weakref=True, kw_only=True):
    """One reward key of trials that were counted, the missing policy already applied."""

    has_rows: ClassVar[bool] = False

    counted: Counter[Kind]
    whole: bool
    # Finds the first task with at most so many rewards, and how many it has.
    names: Any

    @classmethod
    def of(
        cls,
        kinds: Counter[Kind],
        *,
        integers_only: bool,
        names: Any,
        attempts: Column | None = None,
    ) -> CountedColumn:
        """The column of these kinds of tasks."""
        n = sum(tasks * sum(times for _, times in kind) for kind, tasks in kinds.items())
        return cls(
            Absent(n, "every reward"),
            Absent(n, "the task of every trial"),
            Absent(n, "every trial"),
            attempts,
            counted=kinds,
            whole=integers_only,
            names=names,
        )

    def alike(self, threshold: float | None) -> Iterable[tuple[Sequence[Number], int, str]]:  # noqa: ARG002
        for kind, tasks in self.counted.items():
            yield attempts_of(kind), tasks, ""

    def of_tasks(self, values: Sequence[tuple[Number, int]]) -> Column:
        return column_of_tasks(self, values, _unknown)

    @property
    def kinds(self) -> Counter[Kind]:
        return self.counted

    @property
    def integers_only(self) -> bool:
        return self.whole

    @cached_property
    def counter(self) -> Counter[Number]:
        counter: Counter[Number] = Counter()
        for kind, tasks in self.counted.items():
            for value, times in kind:
                counter[value] += times * tasks
        return counter

    @property
    def total(self) -> Number | None:
        integers, scale = exact.scaled(list(self.counter))
        whole = sum(n * times for n, times in zip(integers, self.counter.values(), strict=True))
        return whole if self.whole else exact.ratio(whole, scale)

    @property
    def least(self) -> Number:
        return min(self.counter)

    @property
    def most(self) -> Number:
        return max(self.counter)

    @cached_property
    def range(self) -> Range:
        return Range.of(self.counter)

    @cached_property
    def ordered(self) -> Sequence[Number]:
        return Ordered(self.counter)

    @cached_property
    def sizes_tally(self) -> Counter[int]:
        sizes: Counter[int] = Counter()
        for kind, tasks in self.counted.items():
            sizes[sum(times for _, times in kind)] += tasks
        return sizes

    @property
    def n_tasks(self) -> int:
        return self.counted.total()

    def passes(self, threshold: float) -> Counter[tuple[int, int]]:
        passes: Counter[tuple[int, int]] = Counter()
        for kind, tasks in self.counted.items():
            n = sum(times for _, times in kind)
            passes[n, sum(times for value, times in kind if value >= threshold)] += tasks
        return passes

    def shorter(self, k: int) -> tuple[int, str, int] | None:
        short = sum(tasks for size, tasks in self.sizes_tally.items() if size < k)
        return (short, *self.names(k - 1)) if short else None

    def units(self, cluster: str | None) -> Units:
        if cluster not in (None, TASK):
            raise NeedsRowsError(f"the label `{cluster}` of every trial")
        if cluster is None or set(self.sizes_tally) == {1}:
            integers, scale = exact.scaled(list(self.counter))
            often = list(self.counter.values())
            return Units(integers, None, scale, often, self.range, self._inside)
        powers, scale = self._powers
        times: Counter[tuple[int, int]] = Counter()
        for power, tasks in powers.items():
            times[power.r, power.attempts] += tasks
        tops, sizes = zip(*times, strict=True)
        return Units(tops, sizes, scale, list(times.values()), self.range, self._inside)

    @property
    def _inside(self) -> Callable[[], Repeats] | None:
        # What a reducer gave is no attempt.
        return self._repeats if self.attempts is None else None

    @cached_property
    def _powers(self) -> tuple[Counter[Powers], int]:
        distinct = list(self.counter)
        integers, scale = exact.scaled(distinct)
        integer = dict(zip(distinct, integers, strict=True))
        powers: Counter[Powers] = Counter()
        for kind, tasks in self.counted.items():
            parts = [(integer[value], times) for value, times in kind]
            n = sum(times for _, times in parts)
            sums = (sum(times * r**power for r, times in parts) for power in (1, 2, 3))
            powers[Powers(n, *sums)] += tasks
        return powers, scale

    def _repeats(self) -> Repeats:
        powers, scale = self._powers
        return Repeats(list(powers), list(powers.values()), scale, by_task=False)


def attempts_of(kind: Kind) -> list[Number]:
    """The attempts of a task of this kind, sorted."""
    return [value for value, times in kind for _ in range(times)]


def column_of_tasks(
    attempts: Column, values: Sequence[tuple[Number, int]], names: Any
) -> CountedColumn:
    """The column of what a reducer gave of these attempts: each value, and of how many tasks."""
    whole = float not in {type(value) for value, _ in values}
    kinds: Counter[Kind] = Counter()
    for value, tasks in values:
        kinds[((value, 1),)] += tasks
    return CountedColumn.of(kinds, integers_only=whole, names=names, attempts=attempts)


def _unknown(_most: int) -> NoReturn:
    raise NeedsRowsError("the first of the tasks")
