"""Fields that are not where, or not what, they should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from ..catalogue import known, kwargs_of
from ..document import Finding
from ..signature import SpecError
from ..syntax import printable
from . import ERROR, WARNING, View, label, tasks

DATASET = ("name", "version", "description", "tasks", "metrics")
TASK = ("name", "path", "git_url", "git_commit_id")
_METRIC = ("type", "kwargs")
# What known extensions of Harbor's registry add.
_KNOWN = {"scenarios", "extra_instruction_paths", "extra_metrics"}
_KNOWN_IN_METRIC = {"sha256"}
_KNOWN_IN_TASK = {"metadata"}


def unknown_field(view: View) -> Iterator[Finding]:
    """A dataset or a task has a field that Harbor does not know.

    Harbor ignores unknown fields and says nothing: `metric` instead of `metrics` makes the dataset
    run with the mean only. An error where the name is close to a field that is not there, a warning
    otherwise. The fields of known extensions (`scenarios`, `extra_instruction_paths`,
    `extra_metrics`) are fine.
    """
    allowed = {*DATASET, *_KNOWN}
    for i, dataset in view.datasets:
        if not dataset.keys() <= allowed:
            for field in dataset.keys() - allowed:
                yield _unknown((i, field), field, DATASET, dataset, label(dataset), "dataset")
        if not all(type(task) is dict and task.keys() <= _TASK_SET for task in tasks(dataset)):
            for j, task in enumerate(tasks(dataset)):
                for field in task.keys() - _TASK_SET if isinstance(task, dict) else ():
                    subject = f"{label(dataset)}, tasks[{j}]"
                    yield _unknown((i, "tasks", j, field), field, TASK, task, subject, "task")


def _misspelt(field: str, entry: dict[str, Any], known: tuple[str, ...]) -> list[str]:
    """The field that is not there and that this one was probably meant to be; or none."""
    return get_close_matches(field.lower(), [k for k in known if k not in entry], n=1, cutoff=0.7)


_TASK_SET = frozenset(TASK) | _KNOWN_IN_TASK


def _unknown(
    at: tuple[str | int, ...],
    field: str,
    known: tuple[str, ...],
    entry: dict[str, Any],
    subject: str,
    kind: str,
) -> Finding:
    near = _misspelt(field, entry, known)
    if not near and field.lower() in known:
        near = [field.lower()]  # the right one is there too, and what is written here is lost
    effect = ": without `metrics` it computes the mean only" if near == ["metrics"] else ""
    what = {
        "rule": "unknown-field",
        "severity": ERROR if near else WARNING,
        "message": f"unknown field `{printable(field)}` in a {kind}"
        + (f"; did you mean `{near[0]}`?" if near else ""),
        "subject": subject,
        "label": f"not a {kind} field",
        "notes": (f"Harbor ignores unknown fields{effect}",),
        "help": f"write `{near[0]}`" if near else f"a {kind} has {', '.join(known)}",
    }
    return Finding(at, what, key=True)


def unknown_metric_field(view: View) -> Iterator[Finding]:
    """A metric has a field other than `type` and `kwargs`.

    Harbor ignores it: with `typ` for `type` the metric runs as `mean`, and with `kwarg` for
    `kwargs` without its arguments. A `sha256`, which some registries keep, is fine.
    """
    for at, entry, subject in view.metrics():
        for field in entry.keys() - set(_METRIC) - _KNOWN_IN_METRIC:
            if field in _kwargs(entry):
                continue  # misplaced-kwargs says it
            if "type" in entry and not (isinstance(entry["type"], str) and known(entry["type"])):
                continue  # unknown-metric-type says that nothing is known of it
            missing = [known for known in _METRIC if known not in entry]
            near = get_close_matches(field.lower(), missing, n=1)
            effect = (
                "" if "type" in entry else ": without `type` this metric runs as `mean`, unwarned"
            )
            what = {
                "rule": "unknown-metric-field",
                "severity": ERROR if near or "type" not in entry else WARNING,
                "message": f"unknown field `{printable(field)}` in a metric"
                + (f"; did you mean `{near[0]}`?" if near else ""),
                "subject": subject,
                "label": "not a metric field",
                "notes": (f"Harbor ignores unknown fields{effect}",),
                "help": f'write `"{near[0]}": {json.dumps(entry[field])}`'
                if near
                else "a metric has `type` and `kwargs`",
            }
            yield Finding((*at, field), what, key=True)


def misplaced_kwargs(view: View) -> Iterator[Finding]:
    """A keyword argument of the metric stands beside `type` instead of inside `kwargs`.

    Harbor ignores it there, and fails when the job is created if the metric cannot do without it.
    """
    for at, entry, subject in view.metrics():
        beside = [field for field in entry if field in _kwargs(entry) and field not in _METRIC]
        for field in beside:
            given = entry.get("kwargs")
            inside = {**given} if isinstance(given, dict) else {}
            inside |= {each: entry[each] for each in beside}
            fixed = {"type": entry.get("type", "mean"), "kwargs": inside}
            what = {
                "rule": "misplaced-kwargs",
                "message": f"`{field}` belongs in `kwargs`",
                "subject": subject,
                "label": f"a keyword argument of `{fixed['type']}`",
                "notes": ("Harbor ignores it here, and the metric runs or fails without it",),
                "help": f"write `{json.dumps(fixed)}`",
            }
            yield Finding((*at, field), what, key=True)


def _kwargs(entry: dict[str, Any]) -> tuple[str, ...]:
    type_ = entry.get("type", "mean")
    if isinstance(type_, str):
        try:
            return kwargs_of(type_)
        except SpecError:
            return ()
    return ()
