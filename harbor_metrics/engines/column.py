"""One reward key of a group of trials that lie on an engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from ..errors import NeedsRowsError
from ..numbers import exact
from ..numbers.attempts import Repeats
from ..numbers.exact import Number
from ..numbers.undefined import NoIntervalError
from ..numbers.units import Range, Units
from ..trials.column import Column, Kind
from ..trials.counted import Absent, CountedColumn, Ordered, attempts_of, column_of_tasks
from ..trials.labelled import TASK, label_text
from ..trials.trial import Label
from .asked import TooManyError
from .derived import having, of_tasks
from .grid import Grid
from .overview import Extremes, extremes_of
from .pairs import count_pairs
from .parts import check_labels, parted
from .relation import Group, Relation
from .summed import Pairs, SummedUnits
from .tasks import MOST_REWARDS, Kinds, count_kinds, count_passes, count_rewards

_Answer = TypeVar("_Answer")
_ROWS = ("every reward", "the task of every trial", "every trial")


class RelationColumn(Column, frozen=True, eq=False, dict=True, weakref=True, kw_only=True):
    """One reward key, the missing policy applied: each question goes to the engine at most once.

    Of zeros and ones how many of each a task has says everything; of other rewards sums do, and
    where few differ, how often each stands in a task.
    """

    has_rows: ClassVar[bool] = False

    relation: Relation
    group: Group
    key: str
    extremes: Extremes
    # Whether trials without the reward are left out; else they count as 0.
    skip: bool

    @classmethod
    def of(
        cls,
        relation: Relation,
        group: Group,
        key: str,
        n: int,
        ends: Extremes,
        *,
        skip: bool,
        attempts: Column | None = None,
    ) -> RelationColumn:
        """The column of a group of n trials, or of tasks whose attempts were reduced."""
        rows = ends.given if skip else n
        values, tasks, trials = (Absent(rows, what) for what in _ROWS)
        return cls(
            values,
            tasks,
            trials,
            attempts,
            relation=relation,
            group=group,
            key=key,
            extremes=ends,
            skip=skip,
        )

    @property
    def integers_only(self) -> bool:
        return self.relation.layout.rewards[self.key].whole

    @cached_property
    def range(self) -> Range:
        if not self.extremes.odd:
            return Range.BINARY
        return max(Range.of([self.least, self.most]), Range.SHARE)

    @property
    def least(self) -> Number:
        return min(self._ends)

    @property
    def most(self) -> Number:
        return max(self._ends)

    @property
    def _ends(self) -> list[Number]:
        zero: Number = 0 if self.integers_only else 0.0
        ends = [end for end in (self.extremes.least, self.extremes.most) if end is not None]
        return ends if self.extremes.given == len(self) else [*ends, zero]

    @property
    def total(self) -> Number | None:
        if self.range is Range.BINARY:
            return self._counted.total
        return self._grid.total(1 if self.relation.asked.totals_only else self._highest)

    @property
    def counter(self) -> Counter[Number]:
        if self.range is Range.BINARY:
            return self._counted.counter
        try:
            times = Counter(self._asking(count_rewards, self.key).get(self.group, Counter()))
        except TooManyError as error:
            raise NeedsRowsError(f"every reward ({error} different rewards)") from error
        if len(self) > self.extremes.given:
            times[0 if self.integers_only else 0.0] += len(self) - self.extremes.given
        return times

    @cached_property
    def ordered(self) -> Sequence[Number]:
        return Ordered(self.counter)

    @property
    def kinds(self) -> Counter[Kind]:
        return self._counted.kinds

    def kinds_by_task(self) -> Iterable[Kind]:
        raise NeedsRowsError(_ROWS[1])

    @property
    def sizes_tally(self) -> Counter[int]:
        if self.relation.asked.dry:
            # Whatever is asked next may need rows.
            return Counter({1: len(self)})
        known = self.relation.sizes_of(self.key)
        if known is None:
            self._passes_of(1.0)
            known = self.relation.sizes_of(self.key)
        sizes: Counter[int] = Counter()
        for (n, given), tasks in (known or {}).get(self.group, {}).items():
            sizes[given if self.skip else n] += tasks
        del sizes[0]
        return sizes

    @property
    def n_tasks(self) -> int:
        return self.sizes_tally.total()

    def passes(self, threshold: float) -> Counter[tuple[int, int]]:
        if self.range is Range.BINARY:
            return self._counted.passes(threshold)
        passes: Counter[tuple[int, int]] = Counter()
        for size, passed, tasks, _ in self._passes_of(threshold):
            passes[size, passed] += tasks
        return passes

    def passes_by_task(self, threshold: float) -> Iterable[tuple[int, int]]:  # noqa: ARG002
        raise NeedsRowsError(_ROWS[1])

    def shorter(self, k: int) -> tuple[int, str, int] | None:
        if self.relation.asked.dry:
            # Whatever is asked next may need rows.
            return None
        short = [(name, size, tasks) for size, _, tasks, name in self._passes_of(1.0) if size < k]
        if not short:
            return None
        name, size, _ = min(short)
        return sum(tasks for _, _, tasks in short), name, size

    def _passes_of(self, threshold: float) -> list[tuple[int, int, int, str]]:
        """Attempts, how many pass, how many tasks that is true of, and the first of these."""
        found = count_passes(self.relation, self.key, threshold).get(self.group, {})
        rows = []
        for (n, given, passed), (tasks, name) in found.items():
            size = given if self.skip else n
            zeros = n - given if threshold <= 0 and not self.skip else 0
            if size:
                rows.append((size, passed + zeros, tasks, name))
        return rows

    @cached_property
    def _counted(self) -> CountedColumn:
        """The column by what each task's attempts gave.

        Raises:
            NeedsRowsError: too many rewards or tasks differ.
        """
        rows = self._named_kinds
        kinds: Counter[Kind] = Counter()
        for kind, tasks, _ in rows:
            kinds[kind] += tasks

        def first(most: int) -> tuple[str, int]:
            sizes = [(name, sum(times for _, times in kind)) for kind, _, name in rows]
            return min((name, size) for name, size in sizes if size <= most)

        return CountedColumn.of(kinds, integers_only=self.integers_only, names=first)

    @cached_property
    def _named_kinds(self) -> list[tuple[Kind, int, str]]:
        """What tasks gave, how many did, and the first of these."""
        if self.range is not Range.BINARY:
            return self._kinds_of_few()
        return [
            (self._kind({0: size - passed, 1: passed}), tasks, name)
            for size, passed, tasks, name in self._passes_of(1.0)
        ]

    def alike(self, threshold: float | None) -> Iterable[tuple[Sequence[Number], int, str]]:
        if threshold is None or self.range is Range.BINARY:
            for kind, tasks, name in self._named_kinds:
                yield attempts_of(kind), tasks, name
            return
        below = math.nextafter(threshold, -math.inf)
        for size, passed, tasks, name in self._passes_of(threshold):
            yield [below] * (size - passed) + [threshold] * passed, tasks, name

    def of_tasks(self, values: Sequence[tuple[Number, int]]) -> Column:
        def first(_most: int) -> tuple[str, int]:
            raise NeedsRowsError("the first of the tasks")

        return column_of_tasks(self, values, first)

    def reduced(self, reducer: str) -> Column | None:
        if self.range is Range.BINARY or reducer not in ("mean", "min", "max"):
            return None
        if reducer == "mean":
            sums, scale = self._grid.by_task()
            means = [(exact.ratio(top, n * scale), tasks) for top, n, tasks in sums]
            # The mean of binary64 numbers is never beyond the largest of them.
            return self.of_tasks([(mean, tasks) for mean, tasks in means if mean is not None])
        tasks = of_tasks(self.relation, self.key, reducer, skip=self.skip)
        ends = extremes_of(tasks, self.key)[self.group]
        return RelationColumn.of(
            tasks, self.group, self.key, ends.given, ends, skip=True, attempts=self
        )

    def _asking(self, ask: Callable[..., _Answer], *arguments: Any) -> _Answer:
        """What is answered of all groups; of this one alone where that is too much.

        Raises:
            TooManyError: it is too much of this one, too.
        """
        try:
            return ask(self.relation, *arguments)
        except TooManyError:
            alone = self.relation.alone(self.group)
            if alone is None:
                raise
            return ask(alone, *arguments)

    def _kinds_of_few(self) -> list[tuple[Kind, int, str]]:
        try:
            values, found = self._asking(_kinds_of_all, self.key)
        except TooManyError as error:
            raise NeedsRowsError(f"every attempt of each task ({error} of them differ)") from error
        rows = []
        for (n, times), (tasks, name) in found.get(self.group, {}).items():
            often: Counter[Number] = Counter(dict(zip(values, times, strict=True)))
            if not self.skip:
                often[0 if self.integers_only else 0.0] += n - sum(times)
            if any(often.values()):
                rows.append((self._kind(often), tasks, name))
        return rows

    def _kind(self, times: Mapping[Number, int]) -> Kind:
        number = int if self.integers_only else float
        return tuple(sorted((number(value), often) for value, often in times.items() if often))

    def units(self, cluster: str | None) -> Units:
        if cluster not in (None, TASK):
            self._refuse_reduced()
            if f"label.{cluster}" in self.relation.by:
                self._no_pairs()  # it parts the groups already
            return self._units(f"label.{self._checked(str(cluster))}", self._no_pairs)
        alone = cluster is None
        if self.range is Range.BINARY:
            return self._counted.units(cluster)
        if alone:
            return self._units("trial", self._single_pairs)
        return self._units(TASK, self._grid.by_task)

    def _units(self, unit: str, pairs: Any) -> Units:
        powers = self._grid.powers(unit, self._highest)
        # What a reducer gave is no attempt.
        inside = self._repeats if self.attempts is None else None
        return SummedUnits.of(powers, self.range, inside, pairs)

    @property
    def _highest(self) -> int:
        """The highest power that an interval of such rewards needs."""
        return 3 if self.range > Range.SHARE else 2

    @cached_property
    def _grid(self) -> Grid:
        grid = Grid(self.relation, self.group, self.key, self.skip)
        return grid if grid.fits else grid.alone() or grid

    def _single_pairs(self) -> Pairs:
        counter = self.counter
        integers, scale = exact.scaled(list(counter))
        times = counter.values()
        grid = self._grid.scale
        return [(n * (grid // scale), 1, t) for n, t in zip(integers, times, strict=True)], grid

    @staticmethod
    def _no_pairs() -> Pairs:
        raise NeedsRowsError("the label of every trial")

    def _repeats(self) -> Repeats:
        try:
            return self._counted._repeats()
        except NeedsRowsError as error:
            raise NoIntervalError(
                "undefined over attempts: more rewards differ than an engine counts task by task"
            ) from error

    def label(self, name: str) -> list[Label]:
        raise NeedsRowsError(f"the label `{name}` of every trial")

    def numbers(self, name: str) -> list[Number]:
        if self.attempts is not None:
            return Column.numbers(self, name)
        raise NeedsRowsError(f"`{name}` of every trial")

    def pairs(self, name: str) -> Counter[tuple[Number, Number]]:
        if self.attempts is not None:
            return Column.pairs(self, name)
        try:
            found = self._asking(
                lambda relation: count_pairs(relation, self.group, self.key, name, skip=self.skip)
            )
        except TooManyError as error:
            raise NeedsRowsError(f"every pair of rewards ({error} differ)") from error
        pairs: Counter[tuple[Number, Number]] = Counter()
        for (other, value), times in found.items():
            pairs[other, value or 0] += times
        return pairs

    def having(self, names: Sequence[str]) -> Column:
        # Whatever is asked next may need rows.
        if not names or self.relation.asked.dry:
            return self
        trials = having(self.relation, names)
        ends = extremes_of(trials, self.key).get(self.group)
        if ends is None:
            return Column([], ())
        return RelationColumn.of(trials, self.group, self.key, ends.given, ends, skip=True)

    def _refuse_reduced(self) -> None:
        if self.attempts is not None:
            raise NeedsRowsError("the label of every trial")

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Column]:
        self._refuse_reduced()
        groups = {}
        for group, said, relation in parted(self.relation, self.group, names):
            ends = extremes_of(relation, self.key)[group]
            column = RelationColumn.of(relation, group, self.key, said.trials, ends, skip=self.skip)
            if len(column):
                check_labels(names, group[-len(names) :], len(column), len(self))
                groups[tuple(map(label_text, group[-len(names) :]))] = column
        return dict(sorted(groups.items()))

    def _checked(self, label: str) -> str:
        for group, said, relation in parted(self.relation, self.group, [label]):
            n = extremes_of(relation, self.key)[group].given if self.skip else said.trials
            if n:
                check_labels([label], group[-1:], n, len(self))
        return label


def _kinds_of_all(relation: Relation, key: str) -> tuple[list[Number], dict[Group, Kinds]]:
    """The rewards that differ, and what the tasks of each group gave of these.

    Raises:
        TooManyError: too many differ.
    """
    tallies = count_rewards(relation, key)
    values = sorted({value for times in tallies.values() for value in times})
    if len(values) > MOST_REWARDS:
        raise TooManyError(f"more than {MOST_REWARDS}")
    return values, count_kinds(relation, key, values)
