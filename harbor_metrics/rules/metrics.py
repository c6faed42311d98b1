"""Metric entries: their types and their kwargs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..catalogue import check, known
from ..document import Finding
from ..metric import HARBOR_TYPES, UV_SCRIPT, near_type
from ..signature import SpecError
from ..syntax import printable
from . import NOTE, WARNING, View

_GIT = ("git_url", "git_commit_id")


def default_metric_type(view: View) -> Iterator[Finding]:
    """A metric has no `type`, and so is a `mean`."""
    for at, entry, subject in view.metrics():
        if "type" not in entry and entry.keys() <= {"kwargs", "sha256"}:
            what = {
                "rule": "default-metric-type",
                "severity": WARNING,
                "message": "a metric without `type` runs as `mean`",
                "subject": subject,
                "label": "no `type`",
                "help": 'write `"type": "mean"` if that is meant',
            }
            yield Finding(at, what)


def unknown_metric_type(view: View) -> Iterator[Finding]:
    """A metric's type is none that Harbor, harbor-metrics or an installed plugin knows.

    Harbor refuses the whole file for one unknown type in `metrics`: none of its datasets loads.
    """
    for at, entry, subject in view.metrics():
        type_ = entry.get("type")
        if isinstance(type_, str) and not known(type_):
            near = near_type(type_)
            what = {
                "rule": "unknown-metric-type",
                "message": f"unknown metric type `{printable(type_)}`"
                + (f"; did you mean `{near}`?" if near else ""),
                "subject": subject,
                "label": "no such metric",
                "notes": (
                    "Harbor refuses every dataset of a file that has it in `metrics`",
                    "`harbor-metrics list` shows all metrics",
                ),
                "help": f'write `"type": "{near}"`' if near else "",
            }
            yield Finding((*at, "type"), what)


def not_in_harbor(view: View) -> Iterator[Finding]:
    """An entry of `metrics` is one that Harbor cannot load, or cannot make a metric from.

    Harbor knows `sum`, `min`, `max`, `mean` and `uv-script`, and takes kwargs for none of them but
    `script_path`. A type it does not know makes it refuse every dataset of the file: an error. A
    git-hosted script, which a known extension runs, fails when the job is created: a warning.
    Metrics for harbor-metrics alone belong in `extra_metrics`, which Harbor ignores.
    """
    for at, entry, subject in view.metrics():
        type_, kwargs = entry.get("type", "mean"), entry.get("kwargs", {})
        if at[1] != "metrics" or not isinstance(type_, str) or not known(type_):
            continue
        if type_ not in HARBOR_TYPES:
            what = {
                "rule": "not-in-harbor",
                "message": f"Harbor does not know the metric `{type_}`",
                "label": "harbor-metrics only",
                "notes": ("Harbor refuses every dataset of a file that has it in `metrics`",),
                "help": "move the entry to `extra_metrics`, which Harbor ignores",
            }
            yield Finding((*at, "type"), {**what, "subject": subject})
        elif isinstance(kwargs, dict) and kwargs:
            yield from _refused_kwargs(at, type_, kwargs, subject)


def _refused_kwargs(
    at: tuple[str | int, ...], type_: str, kwargs: dict[str, Any], subject: str
) -> Iterator[Finding]:
    if type_ == UV_SCRIPT:
        given = [name for name in _GIT if name in kwargs]
        if given:
            what = {
                "rule": "not-in-harbor",
                "severity": WARNING,
                "message": f"plain Harbor takes no `{given[0]}` for a uv-script",
                "label": "a known extension runs it",
                "notes": ("Harbor fails when it creates the job, not when it loads the registry",),
            }
            yield Finding((*at, "kwargs", given[0]), {**what, "subject": subject}, key=True)
        return
    try:
        check(type_, kwargs)
    except SpecError:
        return  # invalid-metric-kwargs says it
    first = next(iter(kwargs))
    what = {
        "rule": "not-in-harbor",
        "severity": WARNING,
        "message": f"Harbor takes no kwargs for `{type_}`, so not `{first}`",
        "label": "harbor-metrics only",
        "notes": (f"Harbor fails when it creates the job: {type_.title()}() takes no arguments",),
        "help": "move the entry to `extra_metrics`, which Harbor ignores",
    }
    yield Finding((*at, "kwargs", first), {**what, "subject": subject}, key=True)


def invalid_metric_kwargs(view: View) -> Iterator[Finding]:
    """A metric's kwargs lack one that it needs, have one that it does not take, or a wrong value.

    Harbor finds out when it creates the job: `Mean() takes no arguments`.
    """
    for at, entry, subject in view.metrics():
        type_, kwargs = entry.get("type", "mean"), entry.get("kwargs", {})
        if not isinstance(type_, str) or not known(type_) or not isinstance(kwargs, dict):
            continue
        if "kwargs" not in entry and entry.keys() - {"type", "sha256"}:
            continue  # misplaced-kwargs or unknown-metric-field says it
        try:
            check(type_, kwargs)
        except SpecError as error:
            what = {
                "rule": "invalid-metric-kwargs",
                "message": str(error),
                "subject": subject,
                "label": "does not fit",
                "notes": ("Harbor fails when it creates the job",) if type_ in HARBOR_TYPES else (),
                "help": f"`harbor-metrics explain {type_}` tells what it takes",
            }
            where = error.kwarg if error.kwarg in kwargs else None
            path = (*at, "kwargs", where) if where else (*at, "kwargs") if "kwargs" in entry else at
            yield Finding(path, what, key=where is not None and "takes no" in str(error))


def duplicate_metric(view: View) -> Iterator[Finding]:
    """The same metric with the same kwargs stands twice in a dataset, and is computed twice."""
    seen: dict[tuple[str | int, str], str] = {}
    for at, entry, subject in view.metrics():
        if "type" not in entry:
            continue  # what it is meant to be is not known
        canonical = {"type": entry.get("type", "mean"), "kwargs": entry.get("kwargs", {})}
        key = at[0], json.dumps(canonical, sort_keys=True)
        if key in seen:
            what = {
                "rule": "duplicate-metric",
                "severity": NOTE if at[1] == "extra_metrics" else WARNING,
                "message": f"the same metric as {seen[key]}",
                "subject": subject,
                "label": "a second time",
                "help": "delete one",
            }
            yield Finding(at, what)
        else:
            seen[key] = subject.rpartition(", ")[2]
