"""The attempts at each task by one reward: what a result document has no room for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple

from ..errors import NeedsRowsError
from ..numbers import exact
from ..numbers.exact import Number
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.counted import CountedTable
from ..trials.table import Table
from ..trials.trial import REWARD, LineTrials

# Attempts of fewer trials are shown one by one.
FEW_TRIALS = 10_000


class Attempts(NamedTuple):
    """One task's attempts, in order: the reward, None where it is missing; and which had errors."""

    rewards: tuple[Number | None, ...]
    errors: tuple[bool, ...]


class Tasks:
    """The attempts of one group by task, over one reward key; a missing reward counts as 0."""

    def __init__(self, table: Table, key: str) -> None:
        self._table = table
        self.key = key
        self.n_keys = len(table.columns)

    @cached_property
    def column(self) -> Column:
        """The rewards."""
        return self._table.column(self.key, "zero")

    def __len__(self) -> int:
        return self.column.n_tasks

    @property
    def n_missing(self) -> int:
        """How many of the rewards are missing."""
        return len(self.column) - len(self._table.column(self.key, "skip"))

    @property
    def binary(self) -> bool:
        """Whether every reward is 0 or 1."""
        return self.column.range <= Range.BINARY

    @property
    def most_attempts(self) -> int:
        """How many attempts the task with most of them has."""
        return max(self.column.sizes_tally, default=0)

    @property
    def fewest_attempts(self) -> int:
        """How many attempts the task with fewest of them has."""
        return min(self.column.sizes_tally, default=0)

    @cached_property
    def spread(self) -> list[tuple[Number, int]]:
        """The means of the tasks, highest first, and how many tasks have each."""
        often: dict[Number, int] = {}
        for kind, tasks in self.column.kinds.items():
            mean = _mean([value for value, times in kind for _ in range(times)])
            often[mean] = often.get(mean, 0) + tasks
        return sorted(often.items(), reverse=True)

    @cached_property
    def means(self) -> Mapping[str, Number]:
        """Task -> the mean of its rewards, to order by; empty where no names were kept."""
        values, ends = self.column.values, self.column.ends
        if self.most_attempts == 1:
            return dict(zip(self.column.tasks, values, strict=True))
        means = [_mean(values[a:b]) for a, b in pairwise(ends)]
        return dict(zip(self.column.names, means, strict=True))

    def attempts(self, tasks: Iterable[str]) -> dict[str, Attempts]:
        """The attempts at these tasks, those of them that there are."""
        values = self._table.columns[self.key]
        plain = isinstance(self._table.trials, LineTrials)
        found = {}
        for task in tasks:
            if task in self._places:
                rows = range(*self._places[task])
                errors = [not plain and self._table.trials[i].error is not None for i in rows]
                found[task] = Attempts(tuple(values[i] for i in rows), tuple(errors))
        return found

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        return dict(zip(self.means, pairwise(self.column.ends), strict=True))


class CountedTasks(Tasks):
    """The same of trials that were counted: without their order, and without errors."""

    def __init__(self, table: CountedTable, key: str) -> None:
        super().__init__(table, key)
        self._counts = table.counts

    @cached_property
    def _of_state(self) -> list[list[Number | None]]:
        """The rewards of the tasks of each state, highest first."""
        values = [None if row is None else row.get(self.key) for row in self._counts.rows]
        gave = [
            [values[row] for row, times in s for _ in range(times)] for s in self._counts.states
        ]
        return [sorted(each, key=lambda v: (v is None, -(v or 0))) for each in gave]

    @cached_property
    def means(self) -> Mapping[str, Number]:
        """See `Tasks`."""
        of_state = [_mean([v or 0 for v in each]) if each else 0 for each in self._of_state]
        return {task: of_state[state] for task, state in self._counts.tasks.items()}

    def attempts(self, tasks: Iterable[str]) -> dict[str, Attempts]:
        """See `Tasks`."""
        states = self._counts.tasks
        found = {}
        for task in tasks:
            if task in states:
                rewards = self._of_state[states[task]]
                found[task] = Attempts(tuple(rewards), (False,) * len(rewards))
        return found


class CountedLineTasks(Tasks):
    """Lines that were counted: nothing is known of a single one."""

    @property
    def means(self) -> Mapping[str, Number]:
        """See `Tasks`."""
        return {}

    def attempts(self, tasks: Iterable[str]) -> dict[str, Attempts]:  # noqa: ARG002
        """See `Tasks`."""
        return {}


def tasks_of(table: Table, key: str | None = None) -> Tasks | None:
    """The tasks of a group by that reward; None without any.

    By default it is `reward`, or else the first, of those that are not rare: the verifier of a
    single task, which may be a stranger's, does not say what a page is of.

    Raises:
        NeedsRowsError: the trials were counted, and they are few enough to be shown.
    """
    columns = table.columns
    if not len(table) or not columns:
        return None
    if key not in columns:
        times = table.key_times.times
        most = max(times.values(), default=0)
        usual = [key for key in columns if 2 * times[key] > most] or [*columns]
        key = REWARD if REWARD in usual else usual[0]
    if table.has_rows:
        return Tasks(table, key)
    if len(table) < FEW_TRIALS:
        raise NeedsRowsError("every attempt")
    return (
        CountedTasks(table, key)
        if isinstance(table, CountedTable)
        else CountedLineTasks(table, key)
    )


def _mean(values: Sequence[Number]) -> Number:
    """The mean, or the largest value where their sum is beyond binary64."""
    total = exact.total(values)
    return max(values) if total is None else total / len(values)


def easiest(series: Iterable[Tasks], most: int | None = None) -> list[str]:
    """Tasks by the mean over all series, highest first; equal ones by name."""
    each = [tasks.means for tasks in series]
    means: Mapping[str, Number] = each[0] if each else {}
    if len(each) > 1:
        totals: dict[str, list[Number]] = {}
        for own in each:
            for task, mean in own.items():
                totals.setdefault(task, []).append(mean)
        means = {task: _mean(own) for task, own in totals.items()}
    ranked = ((-mean, task) for task, mean in means.items())
    return [task for _, task in (sorted(ranked) if most is None else nsmallest(most, ranked))]
