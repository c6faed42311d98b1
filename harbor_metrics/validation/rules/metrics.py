"""Metric entries: their types and their kwargs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...catalogue.names import check, known
from ...catalogue.suggestions import function_of_file, near_type
from ...contract.spec import ARRAYS, DEFAULT_TYPE, FIELDS, HARBOR_TYPES, UV_SCRIPT, in_harbor
from ...documents.document import Finding
from ...documents.wording import printable
from ...errors import MetricFailure
from . import MAKING, NOTE, RUNNING, WARNING, Entry, Step, View

_OWN = "`harbor-metrics explain own-metric` shows what can stand here"
_GIT = ("git_url", "git_commit_id")


def default_metric_type(view: View) -> Iterator[Finding]:
    """A metric has no `type`, and so is a `mean`."""
    for metric in view.metrics:
        if metric.value.keys() <= set(FIELDS) - {"type"}:
            yield metric.find(
                severity=WARNING,
                message="a metric without `type` runs as `mean`",
                label="no `type`",
                help='write `"type": "mean"` if that is meant',
            )


def unknown_metric_type(view: View) -> Iterator[Finding]:
    """A metric's type is known neither to Harbor nor to harbor-metrics nor to an installed plugin.

    Harbor refuses the whole file for one unknown type in `metrics`: none of its datasets loads. In
    `compute` this metric fails, the others still run, and the exit code is 1.
    """
    for metric in view.metrics:
        type_ = metric.value.get("type")
        if isinstance(type_, str) and not known(type_):
            own = function_of_file(type_)
            near = None if own else near_type(type_)
            unknown = f"unknown metric type `{printable(type_)}`"
            is_read = metric.at[1] == ARRAYS[0]
            yield metric.find(
                "type",
                message=printable(own)
                if own
                else unknown + (f"; did you mean `{near}`?" if near else ""),
                label="no such metric",
                notes=(
                    "Harbor refuses every dataset of a file that has it in `metrics`"
                    if is_read
                    else "Harbor ignores `extra_metrics`; in `compute` this metric fails, the "
                    "others still run, and the exit code is 1",
                    "`harbor-metrics list` shows all metrics",
                ),
                help=f'write `"type": "{near}"`' if near else _OWN if own else "",
            )


def not_in_harbor(view: View) -> Iterator[Finding]:
    """An entry of `metrics` is one that Harbor cannot load, or cannot make a metric from.

    Harbor knows `sum`, `min`, `max`, `mean` and `uv-script`, and takes kwargs for none of them but
    `script_path`. A type it does not know makes it refuse every dataset of the file, other kwargs
    make it fail when it makes the job: errors. A git-hosted script, which a known extension runs,
    fails there, too: a warning.
    Metrics for harbor-metrics alone belong in `extra_metrics`, which Harbor ignores. `compute` runs
    them in `metrics`, too, and warns.
    """
    for metric in view.metrics:
        type_, kwargs = _parts(metric)
        if metric.at[1] != ARRAYS[0] or not isinstance(type_, str) or not known(type_):
            continue
        if type_ not in HARBOR_TYPES:
            yield metric.find(
                "type",
                message=f"Harbor does not know the metric `{type_}`",
                label="harbor-metrics only",
                notes=("Harbor refuses every dataset of a file that has it in `metrics`",),
                help="move the entry to `extra_metrics`, which Harbor ignores",
            )
        elif isinstance(kwargs, dict) and not in_harbor(metric.value):
            yield from _refused_kwargs(metric, type_, kwargs)


def _refused_kwargs(metric: Entry, type_: str, kwargs: dict[str, Any]) -> Iterator[Finding]:
    if type_ == UV_SCRIPT:
        git = [name for name in _GIT if name in kwargs]
        if git:
            yield metric.find(
                "kwargs",
                git[0],
                key=True,
                severity=WARNING,
                message=f"plain Harbor takes no `{git[0]}` for a uv-script",
                label="a known extension runs it",
                notes=(MAKING,),
            )
        return
    try:
        check(type_, kwargs)
    except MetricFailure:
        return  # invalid-metric-kwargs says it
    first = next(iter(kwargs))
    yield metric.find(
        "kwargs",
        first,
        key=True,
        message=f"Harbor takes no kwargs for `{type_}`, so not `{first}`",
        label="harbor-metrics only",
        notes=(f"{MAKING}: {type_.title()}() takes no arguments",),
        help="move the entry to `extra_metrics`, which Harbor ignores",
    )


def invalid_metric_kwargs(view: View) -> Iterator[Finding]:
    """A metric's kwargs lack one that it needs, have one that it does not take, or a wrong value.

    Harbor fails when it makes the job: `Mean() takes no arguments`. In `compute` this metric
    fails, the others still run, and the exit code is 1.
    """
    for metric in view.metrics:
        type_, kwargs = _parts(metric)
        if not isinstance(type_, str) or not known(type_) or not isinstance(kwargs, dict):
            continue
        if "kwargs" not in metric.value and metric.value.keys() - (set(FIELDS) - {"kwargs"}):
            continue  # misplaced-kwargs or unknown-metric-field says it
        try:
            check(type_, kwargs)
        except MetricFailure as error:
            steps: tuple[Step, ...] = ("kwargs",) if "kwargs" in metric.value else ()
            is_there = error.kwarg is not None and error.kwarg in kwargs
            yield metric.find(
                *steps,
                *([error.kwarg] if error.kwarg is not None and is_there else []),
                key=is_there and "takes no" in str(error),
                message=str(error),
                label="does not fit",
                notes=_where(metric, type_, kwargs),
                help=f"`harbor-metrics explain {type_}` tells what it takes",
            )


def _where(metric: Entry, type_: str, kwargs: dict[str, Any]) -> tuple[str, ...]:
    """Where Harbor fails for kwargs that do not fit."""
    if type_ not in HARBOR_TYPES or metric.at[1] != ARRAYS[0]:
        return ()
    # An empty path is the current directory, which is there.
    return (RUNNING if kwargs == {"script_path": ""} else MAKING,)


def duplicate_metric(view: View) -> Iterator[Finding]:
    """The same metric with the same kwargs stands twice in a dataset, and is computed twice."""
    seen: dict[tuple[Step, str], Entry] = {}
    for metric in view.metrics:
        if "type" not in metric.value:
            continue  # what it is meant to be is not known
        dataset, field, _ = metric.at
        first = seen.setdefault((dataset, json.dumps(_parts(metric), sort_keys=True)), metric)
        if first is not metric:
            yield metric.find(
                severity=WARNING if field == ARRAYS[0] else NOTE,
                message=f"the same metric as {first.subject.rpartition(', ')[2]}",
                label="a second time",
                help="delete one",
                first=first.at,
            )


def _parts(metric: Entry) -> tuple[Any, Any]:
    """Type and kwargs of an entry, whatever stands there."""
    return metric.value.get("type", DEFAULT_TYPE), metric.value.get("kwargs", {})
