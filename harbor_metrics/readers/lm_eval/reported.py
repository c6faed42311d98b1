"""The numbers that a results file of lm-eval reports, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

from ...errors import InputError
from ...numbers.exact import Number
from ...trials.check import check_group
from ...trials.source import Reported
from ...trials.trial import GroupKey
from ..files.lenient import constant
from ..written import numbers_in
from .configured import Configured
from .groups import MOST_MEMBERS, Groups
from .rows import NO_FILTER
from .steps import member, members

_STDERR = "_stderr"
_SIZE, _SIZES = "sample_len", "sample_count"
# Where a results file says how many documents of a task were evaluated, apart from its numbers.
EFFECTIVE = "n-samples"
# And how many there are without a limit, where that is another number.
ORIGINAL = f"{EFFECTIVE}.original"
_COUNTS = (_SIZE, _SIZES, EFFECTIVE)
# What a row of the results has beside its numbers; what else stands there lm-eval does not write.
_NAMES = ("alias", "name")
# Before a number of a group that is another one among the tasks' results.
_PREFIX = "results: "


def dataset(task: str | None, filter_: str) -> str | None:
    """The name of a group: the task's, with the filter's unless it is lm-eval's own."""
    if filter_ == NO_FILTER:
        return task
    return f"{task}:{filter_}" if task else filter_


class Numbers:
    """The numbers of a results file, each made once for all sources that have it.

    Those of a task are with its samples, those of a group with the samples of each of its tasks.
    """

    def __init__(self, value: dict[str, Any], model: str | None, path: str) -> None:
        self._value = value
        self._path = path
        self._results = members(value.get("results"))
        self._sizes = members(value.get(EFFECTIVE))
        self._model = model
        self._configured = Configured(value)
        self._of_task: dict[str | None, list[Reported]] = {}
        self._of_group: dict[str, list[Reported]] = {}
        # How many tasks the numbers of groups are over, together.
        self._n_members = 0

    def of(self, task: str | None) -> Iterator[Reported]:
        """The numbers of a task, and those of the groups that it is in.

        Raises:
            InputError: the groups are larger than those of any run.
        """
        yield from self._effective(task)
        yield from self._beside_effective(task)
        yield from self._task(task)
        for group in self._groups.of(task):
            yield from self._group(group)

    def but_of(self, tasks: Collection[str | None]) -> Iterator[Reported]:
        """The numbers that are of none of these tasks, nor of the groups that they are in.

        Raises:
            InputError: the groups are larger than those of any run.
        """
        for other in {**self._results, **self._sizes}:
            if other not in tasks:
                size = member(self._results, other, _SIZE)
                # The same number has its row among the results.
                if size is None or member(self._sizes, other, "effective") != size:
                    yield from self._effective(other)
                yield from self._beside_effective(other)
                yield from () if other in self._groups.names else self._task(other)
        for group in self._groups.names:
            if not any(task in tasks for task in self._groups.tasks[group]):
                yield from self._group(group)
        for section in ("results", "groups", EFFECTIVE):
            if not isinstance(given := self._value.get(section), dict):
                yield from _no_metrics(section, given, self._key(None))

    @cached_property
    def _groups(self) -> Groups:
        return Groups(self._value)

    def _key(self, name: str | None) -> GroupKey:
        return check_group(GroupKey(None, self._model, name), self._path)

    def _effective(self, task: str | None) -> Iterator[Reported]:
        of_task = member(self._sizes, task)
        effective = member(of_task, "effective")
        if effective is not None:
            yield _counted(EFFECTIVE, effective, self._key(task))

    def _beside_effective(self, task: str | None) -> Iterator[Reported]:
        """What else stands where documents are counted, but for the same number."""
        of_task = member(self._sizes, task)
        if not isinstance(of_task, dict):
            yield from _no_metrics(EFFECTIVE, of_task, self._key(task))
            return
        effective = of_task.get("effective")
        for name, value in of_task.items():
            if name != "effective" and (name != "original" or value != effective):
                yield from _no_metrics(f"{EFFECTIVE}.{name}", value, self._key(task))

    def _task(self, task: str | None) -> list[Reported]:
        if task not in self._of_task:
            self._of_task[task] = list(self._made(task))
        return self._of_task[task]

    def _group(self, group: str) -> list[Reported]:
        if group not in self._of_group:
            self._of_group[group] = list(self._numbers_of(group))
        return self._of_group[group]

    def _made(self, task: str | None) -> Iterator[Reported]:
        row = member(self._results, task)
        if not isinstance(row, dict):
            yield from _no_metrics("results", row, self._key(task))
            return
        if _SIZE in row:
            yield _counted(_SIZE, row[_SIZE], self._key(task))
        yield from self._others(row, (_SIZE,), self._key(task))
        for place, number, metric, filter_ in _numbers(row):
            key = metric.removesuffix(_STDERR)
            yield Reported(
                place=place,
                metric=metric,
                value=_plain(number),
                group=self._key(dataset(task, filter_)),
                key=key,
                params=self._configured.params(task, key, filter_),
                not_finite=_constant(number),
            )

    def _others(
        self, row: dict[str, Any], known: Collection[str], group: GroupKey, prefix: str = ""
    ) -> Iterator[Reported]:
        """What stands in a row where lm-eval writes no number."""
        for name, value in row.items():
            if "," in name or name in known or (name in _NAMES and isinstance(value, str)):
                continue
            yield from _no_metrics(f"{prefix}{name}", value, group)

    def _numbers_of(self, group: str) -> Iterator[Reported]:
        given = {name: member(self._value, name, group) for name in ("groups", "results")}
        for section, row in given.items():
            if not isinstance(row, dict):
                yield from _no_metrics(section, row, self._key(group))
        rows = [*map(members, given.values())]
        first, second = rows if rows[0] else reversed(rows)
        # The same numbers stand in both sections; one that does not is another number.
        both = {place: first.get(place) for place in {**first, **second}}
        others = {p: second.get(p) for p in both if second and _differ(first, second, p)}
        for prefix, row in (("", both), (_PREFIX, others)):
            for place, number, metric, filter_ in _numbers(row):
                # A task without the metric is left out.
                having = self._having(group, place)
                names = [dataset(name, filter_) for name in having]
                key = metric.removesuffix(_STDERR)
                params = [self._configured.params(name, key, filter_) for name in having]
                yield Reported(
                    place=f"{prefix}{place}",
                    metric=metric,
                    value=_plain(number),
                    group=self._key(dataset(group, filter_)),
                    members=tuple(map(self._key, names)),
                    key=key,
                    params={"members": dict(zip(names, params, strict=True))},
                    not_finite=_constant(number),
                )
            of_metrics = row.get(_SIZES)
            known = (_SIZE, _SIZES) if isinstance(of_metrics, dict) else (_SIZE,)
            yield from self._others(row, known, self._key(group), prefix)
            sizes = {_SIZE: row[_SIZE]} if _SIZE in row else {}
            # By metric, over the tasks that have it.
            sizes |= {f"{_SIZES}.{name}": n for name, n in members(of_metrics).items()}
            for place, number in sizes.items():
                _, dot, metric = place.partition(".")
                keys = tuple(map(self._key, self._having(group, metric if dot else None)))
                yield _counted(f"{prefix}{place}", number, self._key(group), members=keys)

    def _having(self, group: str, place: str | None) -> list[str]:
        """The tasks of a group, of a place those whose results have it.

        Raises:
            InputError: there are far more than in any run, with those asked for before.
        """
        tasks = self._groups.tasks[group]
        self._n_members += len(tasks)
        if self._n_members > MOST_MEMBERS:
            raise InputError(
                f"the results file of lm-eval has numbers of groups over more than "
                f"{MOST_MEMBERS:,} tasks together, those of each number counted again",
                "lm-eval writes no such groups: leave out `group_subtasks`",
            )
        return [t for t in tasks if place is None or place in members(self._results.get(t))]


def _counted(place: str, number: Any, group: GroupKey, **more: Any) -> Reported:
    """A number that is none of a metric, as how many documents there are."""
    return Reported(
        place=place,
        metric=_SIZE if place.removeprefix(_PREFIX).startswith(_COUNTS) else place,
        value=_plain(number),
        group=group,
        not_finite=_constant(number),
        **more,
    )


def _no_metrics(place: str, value: Any, group: GroupKey) -> Iterator[Reported]:
    """What could be taken for numbers where lm-eval writes none."""
    for at, number in numbers_in(place, value):
        yield _counted(at, number, group)


def _differ(first: dict[str, Any], second: dict[str, Any], place: str) -> bool:
    return place not in first or place not in second or first[place] != second[place]


def is_aggregate(number: Reported) -> bool:
    """Whether it is a metric's number, and not an error or the size of the task."""
    return number.key is not None and number.key == number.metric


def _numbers(row: Any) -> Iterator[tuple[str, Any, str, str]]:
    """Place, number, metric and filter of each `metric,filter`; a stderr may be `N/A` or `[]`."""
    for place, number in row.items() if isinstance(row, dict) else ():
        metric, comma, filter_ = place.partition(",")
        if comma:
            yield place, number, metric, filter_


def _plain(number: Any) -> Number | None:
    return number if type(number) in (int, float) else None


def _constant(number: Any) -> str:
    """`NaN` and its like, or a text in the place of a number that lm-eval does not write there."""
    if isinstance(number, str) and number != "N/A":
        return constant(number) or number
    return str(number) if isinstance(number, bool | list | dict) else ""
