"""Fields that are not where, or not what, they should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from ...catalogue.names import known, kwargs_of
from ...contract.spec import ARRAYS, FIELDS, HARBOR_FIELDS, UV_SCRIPT
from ...documents.document import Finding
from ...documents.wording import did_you_mean, nearest, printable
from ...errors import MetricFailure
from ...registries.registry import DATASET, IN_DATASET
from . import ERROR, LOADING, MAKING, READING, WARNING, Entry, View, array, tables_in

TASK = ("name", "path", "git_url", "git_commit_id")
# The tables of a dataset.toml, by where they stand, and the fields that Harbor reads.
MANIFEST = {
    "": ("schema_version", "dataset", "metadata", "tasks", "files"),
    "dataset": ("name", "version", "description", "authors", "keywords"),
    "tasks": ("name", "digest"),
    "files": ("path", "digest"),
    "authors": ("name", "email"),
}
# What Harbor does not load a document without.
_NEEDED = {
    "dataset": {"name", "version", "description", "tasks"},
    "task": {"name", "path"},
    "manifest": {"dataset", "name", "digest", "path"},
}
# With what known extensions of Harbor's registry add.
_IN_TASK = {*TASK, "metadata"}


def unknown_field(view: View) -> Iterator[Finding]:
    """A dataset or a task has a field that Harbor does not know.

    Harbor ignores unknown fields and says nothing: `metric` instead of `metrics` makes the dataset
    run with the mean only. An error where the name is close to a field that is not there, a warning
    otherwise. The fields of known extensions (`scenarios`, `extra_instruction_paths`,
    `extra_metrics`) are fine. In a dataset.toml it is the same: `[[task]]` instead of `[[tasks]]`
    makes a dataset without tasks, and there are no `[[metrics]]`.
    """
    if view.manifest is not None:
        yield from _unknown_in(view.manifest)
        return
    for dataset in view.datasets:
        for field in dataset.value.keys() - IN_DATASET:
            yield _unknown(dataset, field, DATASET, "dataset")
        tasks = array(dataset, "tasks")
        if set[str]().union(*(task for task in tasks if isinstance(task, dict))) <= _IN_TASK:
            continue
        for j, task in enumerate(tasks):
            if isinstance(task, dict) and not task.keys() <= _IN_TASK:
                for field in task.keys() - _IN_TASK:
                    yield _unknown(dataset.part("tasks", j), field, TASK, "task")


def _unknown(entry: Entry, field: str, known: tuple[str, ...], kind: str) -> Finding:
    absent = [other for other in known if other not in entry.value]
    near = nearest(field, absent, cutoff=0.7)
    if not near and field.lower() in known:
        near = [field.lower()]  # the right one is there too, and what is written here is lost
    effect = ": without `metrics` it computes the mean only" if near == ["metrics"] else ""
    needed = [READING if kind == "manifest" else LOADING] if {*near} & _NEEDED[kind] else []
    fields = ", ".join(known)
    return entry.find(
        field,
        key=True,
        severity=ERROR if near else WARNING,
        message=f"unknown field `{printable(field)}` in a {kind}{did_you_mean(near)}",
        label=f"not a {kind} field",
        notes=(f"Harbor ignores unknown fields{effect}", *needed),
        help=f"write `{near[0]}`"
        if near
        else f"{'this table' if kind == 'manifest' else f'a {kind}'} has {fields}",
    )


def _unknown_in(manifest: dict[str, Any]) -> Iterator[Finding]:
    """The unknown fields in the tables of a manifest."""
    tables = [Entry((), manifest, "")]
    for name in ("dataset", "tasks", "files"):
        tables += tables_in(manifest, name)
    for dataset in tables_in(manifest, "dataset"):
        for author in tables_in(dataset.value, "authors"):
            tables.append(Entry(("dataset", *author.at), author.value, author.subject))
    for table in tables:
        names = [step for step in table.at if isinstance(step, str)]
        known = MANIFEST[names[-1] if names else ""]
        for field in sorted(table.value.keys() - {*known}):
            finding = _unknown(table, field, known, "manifest")
            if field == "metrics":
                help_ = "name the script `metric.py` and list it in `[[files]]`"
                finding = msgspec.structs.replace(finding, severity=ERROR, help=help_)
            yield finding


def unknown_metric_field(view: View) -> Iterator[Finding]:
    """A metric has a field other than `type` and `kwargs`.

    Harbor ignores it: with `typ` for `type` the metric runs as `mean`, and with `kwarg` for
    `kwargs` without its arguments. `compute` runs it so, too, and warns. A `sha256`, which some
    registries keep, is fine.
    """
    for metric in view.metrics:
        entry = metric.value
        if "type" in entry and not (isinstance(entry["type"], str) and known(entry["type"])):
            continue  # unknown-metric-type says that nothing is known of it
        lacks = _without_script(metric)
        for field in [field for field in entry if field not in FIELDS]:
            if field in _kwargs(entry):
                continue  # misplaced-kwargs says it
            absent = [known for known in HARBOR_FIELDS if known not in entry]
            near = nearest(field, absent)
            effect = (
                "" if "type" in entry else ": without `type` this metric runs as `mean`, unwarned"
            )
            yield metric.find(
                field,
                key=True,
                severity=ERROR if near or lacks or "type" not in entry else WARNING,
                message=f"unknown field `{printable(field)}` in a metric{did_you_mean(near)}",
                label="not a metric field",
                notes=(f"Harbor ignores unknown fields{effect}", *lacks),
                help=f'write `"{near[0]}": {json.dumps(entry[field])}`'
                if near
                else "a metric has `type` and `kwargs`",
            )


def misplaced_kwargs(view: View) -> Iterator[Finding]:
    """A keyword argument of the metric stands beside `type` instead of inside `kwargs`.

    Harbor ignores it there, and fails when it makes the job if the metric cannot do without it.
    `compute` ignores it, too, and warns.
    """
    for metric in view.metrics:
        entry = metric.value
        beside = [f for f in entry if f not in HARBOR_FIELDS and f in _kwargs(entry)]
        for field in beside:
            kwargs = entry.get("kwargs")
            inside = {**kwargs} if isinstance(kwargs, dict) else {}
            inside |= {other: entry[other] for other in beside}
            mended = {"type": entry.get("type", "mean"), "kwargs": inside}
            yield metric.find(
                field,
                key=True,
                message=f"`{field}` belongs in `kwargs`",
                label=f"a keyword argument of `{mended['type']}`",
                notes=("Harbor ignores it here", *_without_script(metric)),
                help=f"write `{json.dumps(mended)}`",
            )


def _without_script(metric: Entry) -> tuple[str, ...]:
    """That Harbor fails for want of a script, where it does."""
    kwargs = metric.value.get("kwargs", {})
    needs_one = metric.value.get("type") == UV_SCRIPT and metric.at[-2] == ARRAYS[0]
    has_none = isinstance(kwargs, dict) and "script_path" not in kwargs
    return (MAKING,) if needs_one and has_none else ()


def _kwargs(entry: dict[str, Any]) -> tuple[str, ...]:
    type_ = entry.get("type", "mean")
    if isinstance(type_, str):
        try:
            return kwargs_of(type_)
        except MetricFailure:
            return ()
    return ()
