"""The numbers that a results file of lm-eval reports, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ...errors import InputError
from ...numbers.exact import Number
from ...trials.source import Reported
from ...trials.trial import GroupKey
from ..files.lenient import constant
from .rows import NO_FILTER

_STDERR = "_stderr"
_SIZE, _SIZES = "sample_len", "sample_count"
# Where a results file says how many documents of a task were evaluated, apart from its numbers.
EFFECTIVE = "n-samples"
_COUNTS = (_SIZE, _SIZES, EFFECTIVE)
# Before a number of a group that is another one among the tasks' results.
_PREFIX = "results: "
# Of all groups together: where each is in another they are the square of what is written.
_MOST_MEMBERS = 1_000_000
_REDUCED = re.compile(r"[^()]+\((?P<metric>.+)\)")


def dataset(task: str | None, filter_: str) -> str | None:
    """The name of a group: the task's, with the filter's unless it is lm-eval's own."""
    if filter_ == NO_FILTER:
        return task
    return f"{task}:{filter_}" if task else filter_


def reported(
    value: dict[str, Any],
    task: str | None,
    model: str | None,
    elsewhere: Callable[[], Collection[str]] = tuple,
) -> Iterator[Reported]:
    """The numbers of a task, those of the groups that it is a member of, and of what is nowhere.

    Args:
        value: the results file.
        task: whose samples were read.
        model: of the run.
        elsewhere: gives the tasks whose own sources have their numbers.

    Raises:
        InputError: its groups are larger than those of any run.
    """
    effective = member(value, "n-samples", task, "effective")
    if effective is not None:
        yield _counted(EFFECTIVE, effective, GroupKey(None, model, task))
    yield from _of_task(value, task, model)
    groups = _groups(value)
    leaves = _leaves(value, groups)
    for group in groups:
        if task in leaves[group]:
            yield from _of_group(value, group, leaves[group], model)
    known = {task, *groups, *elsewhere()}
    results = member(value, "results")
    for other in results if isinstance(results, dict) else ():
        if other not in known:
            yield from _of_task(value, other, model)


def _of_task(value: dict[str, Any], task: str | None, model: str | None) -> Iterator[Reported]:
    row = member(value, "results", task)
    for place, number in row.items() if isinstance(row, dict) else ():
        if place == _SIZE or (type(number) in (int, float) and "," not in place):
            yield _counted(place, number, GroupKey(None, model, task))
    for place, number, metric, filter_ in _numbers(row):
        yield Reported(
            place=place,
            metric=metric,
            value=_plain(number),
            group=GroupKey(None, model, dataset(task, filter_)),
            key=metric.removesuffix(_STDERR),
            params=_params(value, task, metric, filter_),
            not_finite=_constant(number),
        )


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


def _groups(value: dict[str, Any]) -> list[str]:
    """The groups of a run: they stand under `groups`, and with the tasks under `results`."""
    own, below = member(value, "groups"), member(value, "group_subtasks")
    names = list(own) if isinstance(own, dict) else []
    for name, tasks in below.items() if isinstance(below, dict) else ():
        if tasks and member(value, "results", name) is not None:
            names.append(name)
    return list(dict.fromkeys(names))


def _of_group(
    value: dict[str, Any], group: str, members: list[str], model: str | None
) -> Iterator[Reported]:
    rows = [_dict(member(value, section, group)) for section in ("groups", "results")]
    first, second = rows if rows[0] else reversed(rows)
    # The same numbers stand in both sections; one that does not is another number.
    both = {place: first.get(place) for place in {**first, **second}}
    others = {p: second.get(p) for p in both if second and _differ(first, second, p)}
    for prefix, row in (("", both), (_PREFIX, others)):
        for place, number, metric, filter_ in _numbers(row):
            # A task without the metric is left out.
            having = [name for name in members if place in _dict(member(value, "results", name))]
            yield Reported(
                place=f"{prefix}{place}",
                metric=metric,
                value=_plain(number),
                group=GroupKey(None, model, dataset(group, filter_)),
                members=tuple(GroupKey(None, model, dataset(name, filter_)) for name in having),
                key=metric.removesuffix(_STDERR),
                params={
                    "members": {
                        dataset(name, filter_): _params(value, name, metric, filter_)
                        for name in having
                    }
                },
                not_finite=_constant(number),
            )
        where = GroupKey(None, model, group)
        sizes = {_SIZE: row[_SIZE]} if _SIZE in row else {}
        # By metric, over the tasks that have it.
        sizes |= {f"{_SIZES}.{name}": n for name, n in _dict(row.get(_SIZES)).items()}
        for place, number in sizes.items():
            having = [name for name in members if _has(value, name, place)]
            keys = tuple(GroupKey(None, model, name) for name in having)
            yield _counted(f"{prefix}{place}", number, where, members=keys)


def _has(value: dict[str, Any], task: str, place: str) -> bool:
    """Whether the count of a group's documents is over those of a task."""
    _, dot, metric = place.partition(".")
    return not dot or metric in _dict(member(value, "results", task))


def _differ(first: dict[str, Any], second: dict[str, Any], place: str) -> bool:
    return place not in first or place not in second or first[place] != second[place]


def is_aggregate(number: Reported) -> bool:
    """Whether it is a metric's number, and not an error or the size of the task."""
    return number.key is not None and number.key == number.metric


def _params(value: dict[str, Any], task: str | None, metric: str, filter_: str) -> dict[str, Any]:
    """What the configuration says of a metric: its aggregation, and how often errors are drawn.

    A filter may have metrics of its own, which count before those of the task.
    """
    params = {
        "bootstrap_iters": member(value, "config", "bootstrap_iters"),
        "version": member(value, "lm_eval_version"),
    }
    filters = _list(member(value, "configs", task, "filter_list"))
    lists = [
        f.get("metric_list") for f in filters if isinstance(f, dict) if f.get("name") == filter_
    ]
    name = metric.removesuffix(_STDERR)
    # What a reduction makes of a metric is aggregated as the metric is.
    inner = _REDUCED.fullmatch(name)
    name = inner["metric"] if inner is not None else name
    for listed in (*lists, member(value, "configs", task, "metric_list")):
        entries = [e for e in _list(listed) if isinstance(e, dict)]
        entry = next((e for e in entries if e.get("metric") == name), None)
        if entry is not None:
            params["aggregation"] = entry.get("aggregation")
            break
    return {name: param for name, param in params.items() if isinstance(param, str | int)}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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


def _leaves(value: dict[str, Any], groups: Collection[str]) -> dict[str, list[str]]:
    """The tasks of each group, through the groups in it, each of which is gone through once.

    Raises:
        InputError: they are far more than any run has.
    """
    subtasks = _dict(member(value, "group_subtasks"))
    leaves: dict[str, list[str]] = {}
    entered: set[str] = set()
    n = 0
    waiting = [*groups]
    while waiting:
        name = waiting[-1]
        entered.add(name)
        below = list(dict.fromkeys(map(str, _list(subtasks.get(name)))))
        # None again that is being gone through: what is in itself adds no task of its own.
        new = [inner for inner in below if inner not in entered]
        if new and name not in leaves:
            waiting += new
            continue
        waiting.pop()
        if name not in leaves:
            n += sum(len(leaves.get(inner, ())) for inner in below)
            if n > _MOST_MEMBERS:
                raise InputError(
                    f"the results file of lm-eval has groups of more than {_MOST_MEMBERS:,} tasks "
                    "together, those of groups in groups counted again",
                    "lm-eval writes no such groups: leave out `group_subtasks`",
                )
            found = dict.fromkeys(leaf for inner in below for leaf in leaves.get(inner, ()))
            leaves[name] = list(found) if below else [name]
    return leaves


def member(value: dict[str, Any], *steps: str | None) -> Any:
    """What lies at the end of the steps through objects; None where there is nothing."""
    inner: Any = value
    for step in steps:
        if not isinstance(inner, dict) or step is None:
            return None
        inner = inner.get(step)
    return inner
