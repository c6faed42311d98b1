"""The run that samples of lm-eval are of, by its results file: model, their number, its metrics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...documents.diagnostics import Severity
from ...documents.files import open_regular, reason
from ...errors import InputError
from ...numbers.exact import Number
from ...trials.source import Reported
from ...trials.trial import GroupKey
from ..files.lenient import NotJSONError, constant, decode
from ..reading import Reading
from .rows import NO_FILTER

_STDERR = "_stderr"
_ADVICE = "put the results file of the same run beside the samples"
_REDUCED = re.compile(r"[^()]+\((?P<metric>.+)\)")
_STAMP = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<stamp>{_STAMP})\.jsonl?(?:\.gz|\.zst)?")
_RESULTS = re.compile(rf"(?:.+_)?results_(?P<stamp>{_STAMP})\.json|results\.json")


@dataclass(frozen=True, slots=True)
class Run:
    """The run that samples are of; None where nothing says it."""

    task: str | None = None
    model: str | None = None
    id: str | None = None
    started_at: str | None = None
    n_documents: int | None = None
    reported: Callable[[], Iterable[Reported]] = tuple


def run_of(reading: Reading, hash_: str, n_filters: int, n_rows: int) -> Run:
    """The run of a samples file, by its name and by the results file in the same folder.

    Args:
        reading: of the samples file; why a results file is not used is noted.
        hash_: SHA-256 over the hashes of its rows, which lm-eval notes for each task.
        n_filters: how many filters it has.
        n_rows: how many rows it has.
    """
    path = reading.path
    named = _SAMPLES.fullmatch(os.path.basename(path))
    task, stamp = (named["task"], named["stamp"]) if named else (None, None)
    results = _results_of(path, task, stamp, hash_)
    if results is None:
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    name, value = results
    task = task or _task_of(value, hash_)
    n = _number_of_documents(value, task)
    own_hash = _member(value, "task_hashes", task)
    if own_hash is None and _member(value, "results", task) is None:
        of = f"task {task}" if task else "these samples, the name of which tells no task,"
        reading.note(
            rule="other-results",
            message=f"{name} says nothing of {of} and is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    if isinstance(own_hash, str) and own_hash != hash_ and n == n_rows / max(n_filters, 1):
        reading.note(
            rule="other-results",
            severity=Severity.ERROR,
            message=f"{name} is of other samples than {path}, or these were changed: "
            f"its hash of task {task} is another; it is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    named_model = value.get("model_name")
    model = named_model if isinstance(named_model, str) and named_model else None
    return Run(
        task=task,
        model=model,
        id=_identity(task, stamp),
        started_at=_time(stamp),
        n_documents=n,
        reported=partial(reported, value, task, model),
    )


def dataset(task: str | None, filter_: str) -> str | None:
    """The name of a group: the task's, with the filter's unless it is lm-eval's own."""
    if filter_ == NO_FILTER:
        return task
    return f"{task}:{filter_}" if task else filter_


def reported(value: dict[str, Any], task: str | None, model: str | None) -> Iterator[Reported]:
    """The numbers of a task, and those of the groups that it is a member of."""
    n = _member(value, "results", task, "sample_len")
    if type(n) is int:
        yield Reported(
            place="sample_len", metric="sample_len", value=n, group=GroupKey(None, model, task)
        )
    for place, number, metric, filter_ in _numbers(_member(value, "results", task)):
        yield Reported(
            place=place,
            metric=metric,
            value=_plain(number),
            group=GroupKey(None, model, dataset(task, filter_)),
            key=metric.removesuffix(_STDERR),
            params=_params(value, task, metric, filter_),
            not_finite=_constant(number),
        )
    groups = _member(value, "groups")
    for group in groups if isinstance(groups, dict) else ():
        members = _leaves(value, group)
        if task not in members:
            continue
        for place, number, metric, filter_ in _numbers(_member(value, "groups", group)):
            # A task without the metric is left out.
            having = [name for name in members if place in (_member(value, "results", name) or ())]
            yield Reported(
                place=place,
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


def is_aggregate(number: Reported) -> bool:
    """Whether it is a metric's number, and not an error or the size of the task."""
    return number.key is not None and number.key == number.metric


def _params(value: dict[str, Any], task: str | None, metric: str, filter_: str) -> dict[str, Any]:
    """What the configuration says of a metric: its aggregation, and how often errors are drawn.

    A filter may have metrics of its own, which count before those of the task.
    """
    params = {"bootstrap_iters": _member(value, "config", "bootstrap_iters")}
    filters = _list(_member(value, "configs", task, "filter_list"))
    lists = [
        f.get("metric_list") for f in filters if isinstance(f, dict) if f.get("name") == filter_
    ]
    name = metric.removesuffix(_STDERR)
    # What a reduction makes of a metric is aggregated as the metric is.
    inner = _REDUCED.fullmatch(name)
    name = inner["metric"] if inner is not None else name
    for listed in (*lists, _member(value, "configs", task, "metric_list")):
        entries = [e for e in _list(listed) if isinstance(e, dict)]
        entry = next((e for e in entries if e.get("metric") == name), None)
        if entry is not None:
            params["aggregation"] = entry.get("aggregation")
            break
    return {name: param for name, param in params.items() if isinstance(param, str | int)}


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
    return ""


def _leaves(value: dict[str, Any], group: str) -> list[str]:
    """The tasks of a group, through the groups in it."""
    below = _member(value, "group_subtasks", group)
    if not isinstance(below, list) or not below:
        return [group]
    leaves = [leaf for name in below if name != group for leaf in _leaves(value, str(name))]
    return list(dict.fromkeys(leaves))


def _identity(task: str | None, stamp: str | None) -> str | None:
    return f"{task}/{stamp}" if stamp else None


def _time(stamp: str | None) -> str | None:
    """`2026-11-20T19-54-14.09` is `2026-11-20T19:54:14.09`."""
    return stamp and stamp[:11] + stamp[11:].replace("-", ":")


def _results_of(
    path: str, task: str | None, stamp: str | None, hash_: str
) -> tuple[str, dict[str, Any]] | None:
    """The results file of the same stamp, else the only one that is of this task and hash."""
    folder = os.path.dirname(path) or "."
    try:
        names = sorted(name for name in os.listdir(folder) if _RESULTS.fullmatch(name))
    except OSError:
        return None
    same = [name for name in names if stamp and stamp in name]
    read = [(f"{folder}/{name}", _read(f"{folder}/{name}")) for name in same or names]
    if same:
        return read[0]
    fitting = [
        (name, value)
        for name, value in read
        if hash_ in (_member(value, "task_hashes", task or _task_of(value, hash_)), None)
        or (
            (task is not None and _member(value, "task_hashes", task) is None)
            and _member(value, "results", task) is not None
        )
    ]
    return fitting[0] if len(fitting) == 1 else None


def _read(path: str) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            value: dict[str, Any] = decode(stream.read(), dict[str, Any])
            return value
    except NotJSONError as error:
        raise InputError(f"{path} is no results file of lm-eval: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error


def _member(value: dict[str, Any], *steps: str | None) -> Any:
    inner: Any = value
    for step in steps:
        if not isinstance(inner, dict) or step is None:
            return None
        inner = inner.get(step)
    return inner


def _task_of(value: dict[str, Any], hash_: str) -> str | None:
    """The task whose samples have this hash."""
    hashes = value.get("task_hashes")
    if not isinstance(hashes, dict):
        return None
    return next((task for task, other in hashes.items() if other == hash_), None)


def _number_of_documents(value: dict[str, Any], task: str | None) -> int | None:
    n = _member(value, "n-samples", task, "effective")
    return n if type(n) is int else None
