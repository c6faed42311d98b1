"""What could be better and is not wrong: only said where it is asked for, `--select hints`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...catalogue.families import metric_names
from ...catalogue.names import bind, resolve
from ...contract.metric import Bound
from ...contract.spec import DEFAULT_TYPE, MetricSpec
from ...documents.document import Finding
from ...documents.wording import printable
from ...errors import MetricFailure
from . import NOTE, Entry, View, array
from .scripts import _readable as readable

_PATH = ("kwargs", "script_path")
_OF_K = ("pass-at-k", "pass-hat-k", "best-at-k", "worst-at-k")


def same_metric(view: View) -> Iterator[Finding]:
    """A metric can never differ from another of the dataset, or not with one attempt at each task.

    Two names may mean one metric, and a kwarg may say what holds anyway. Where each task has one
    attempt, what is made of a task's attempts (`pass-at-k` with k = 1, `mean` with a reducer) is
    that attempt: of rewards of 0 and 1 it is the mean.
    """
    for dataset in view.datasets:
        metrics = [m for m in view.metrics if m.at[0] == dataset.at[0]]
        bound = [(metric, made) for metric in metrics if (made := _bound(metric.value))]
        for i, (metric, made) in enumerate(bound):
            for other, twin in bound[:i]:
                if _entry(metric) == _entry(other):
                    continue  # duplicate-metric says it
                how = _alike(made, twin)
                if how is not None:
                    yield metric.find(
                        severity=NOTE,
                        message=f"{how} the same as {other.subject.rpartition(', ')[2]}",
                        label="says no more",
                        help="keep the one that says what is meant",
                        first=other.at,
                    )
                    break


def _entry(metric: Entry) -> str:
    entry = (metric.value.get("type", DEFAULT_TYPE), metric.value.get("kwargs", {}))
    return json.dumps(entry, sort_keys=True)


def _bound(entry: dict[str, Any]) -> Bound | None:
    """The metric of an entry as it runs; None of scripts, and where something is wrong with it."""
    type_, kwargs = entry.get("type", DEFAULT_TYPE), entry.get("kwargs", {})
    if not isinstance(type_, str) or not isinstance(kwargs, dict):
        return None
    try:
        return bind(resolve(MetricSpec(type=type_, kwargs=kwargs)))
    except MetricFailure:
        return None


def _alike(one: Bound, other: Bound) -> str | None:
    """How two metrics are the same, as the beginning of a sentence; None where they are not."""
    if _keys(one) != _keys(other):
        return None
    same_reducer = one.reducer == other.reducer
    if one.metric.name == other.metric.name and one.arguments == other.arguments:
        return "always" if same_reducer else "with one attempt at each task"
    means = [_is_mean_of_one(bound) for bound in (one, other)]
    return "with one attempt at each task, passed or failed," if all(means) else None


def _keys(bound: Bound) -> tuple[str | None, str]:
    return bound.common.key, bound.common.missing or "zero"


def _is_mean_of_one(bound: Bound) -> bool:
    """Whether it is the mean where each task has one attempt, of 0 or 1."""
    is_of_k = bound.metric.name in _OF_K and bound.arguments.get("k") == 1
    return is_of_k or bound.metric.name == "mean"


def script_of_catalogue(view: View) -> Iterator[Finding]:
    """A script writes only numbers that have the names of metrics that are here already.

    Read from its text: each object that it spells out has such names alone. A metric of the
    catalogue needs no environment, has an error bar, and is the same number everywhere.
    """
    known = set(metric_names())
    for metric, path, script in readable(view):
        names = sorted({key.lower().replace("_", "-") for key in script.keys})
        if names and known.issuperset(names):
            yield metric.find(
                *_PATH,
                severity=NOTE,
                message=f"{printable(path)} writes {', '.join(f'`{name}`' for name in names)}, "
                "which the catalogue has",
                label="this script",
                help=f'write `{{"type": "{names[0]}"}}` if that is what it computes',
            )


def script_dependency(view: View) -> Iterator[Finding]:
    """A package that a script needs has no version, so that its numbers may change with time."""
    # For weight: asked for rarely.
    from packaging.requirements import InvalidRequirement, Requirement

    for metric, path, script in readable(view):
        # What is wrong with a block script-metadata says.
        packages = script.block.get("dependencies") if isinstance(script.block, dict) else None
        for package in packages if isinstance(packages, list) else ():
            try:
                requirement = Requirement(package)
            except (InvalidRequirement, TypeError):
                continue
            if not requirement.specifier and not requirement.url:
                yield metric.find(
                    *_PATH,
                    severity=NOTE,
                    message=f"{printable(path)} needs {requirement.name} in whatever version",
                    label="this script",
                    help=f'write `# dependencies = ["{requirement.name}==…"]`',
                )


def script_digest(view: View) -> Iterator[Finding]:
    """A registry that others use names a script without its `sha256`, so it may change unseen.

    Others use a registry whose tasks lie in git repositories.
    """
    tasks = [task for dataset in view.datasets for task in array(dataset, "tasks")]
    if not any(isinstance(task, dict) and task.get("git_url") for task in tasks):
        return
    for metric, path, _ in readable(view):
        digest = view.scripts.pin(metric.value, view.path)
        if digest is not None and "sha256" not in metric.value:
            yield metric.find(
                *_PATH,
                severity=NOTE,
                message=f"{printable(path)} is not pinned",
                label="no `sha256`",
                help=f'write `"sha256": "{digest}"` beside `kwargs`',
            )
