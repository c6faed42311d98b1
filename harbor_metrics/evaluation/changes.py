"""What a registry says otherwise than a job does: by its snapshot, or by its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from ..errors import HarborMetricsError
from ..registries import registry
from ..registries.registry import Dataset, Registries
from ..trials.labels import Labels, identities
from ..trials.snapshot import SNAPSHOT, DatasetSnapshot
from ..trials.source import Job

_RULE = "registry-changed"


def of_metrics(entry: Dataset, jobs: Sequence[tuple[str, Job]]) -> Iterator[Diagnostic]:
    """That the registry has other metrics or scripts for a dataset than when a job ran."""
    pin_of = cache(lambda script_path: _pin(script_path, entry.registry))
    named = {path for metric in (*entry.metrics, *entry.extra_metrics) if (path := _path(metric))}
    for path, known in _known(entry, (), jobs):
        if not known.entry or known.version != entry.version:
            continue
        where = f"{entry} in {entry.registry}"
        if entry.arrays != registry.of_snapshot(path, known).arrays:
            yield _changed(entry, path, f"the metrics of {where}", "metrics")
            continue
        others = [
            name
            for name, digest in known.scripts.items()
            if name in named and pin_of(name) not in (digest, None)
        ]
        if others:
            what = f"the scripts of {where} ({listed(sorted(others))})"
            yield _changed(entry, path, what, "scripts")


def of_labels(
    entries: Sequence[Dataset],
    dataset: str | None,
    jobs: Sequence[tuple[str, Job]],
    registries: Registries,
) -> Iterator[Diagnostic]:
    """That the registry has other labels for tasks than a job's own snapshot, or its tasks."""
    for entry in entries:
        today = {} if entry.is_snapshot else registries.labels(entry)
        for path, known in _known(entry, entries, jobs) if today else ():
            yield from _relabelled(entry, today, known.tasks, f"in {path}/{SNAPSHOT}")
        for path, job in jobs if today else ():
            kept = {task for known in job.snapshot if known.name == dataset for task in known.tasks}
            own = job.labels_on(dataset)
            of_tasks = {task: labels for task, labels in own.items() if task not in kept}
            yield from _relabelled(entry, today, of_tasks, f"of the tasks of {path}")


def _relabelled(entry: Dataset, today: Labels, then: Labels, where: str) -> Iterator[Diagnostic]:
    now, before = identities(today), identities(then)
    # A task without a label that others had may have got it since.
    names = {name for labels in before.values() for name in labels}
    tasks = [
        task
        for task, labels in before.items()
        if any(
            name in names and value != labels.get(name) for name, value in now.get(task, {}).items()
        )
    ]
    if tasks:
        yield Diagnostic(
            rule=_RULE,
            message=f"labels of {plural(len(tasks), 'task')} of {entry} in {entry.registry} are "
            f"not those {where}",
            path=entry.registry,
            notes=("the labels of the registry count",),
        )


def _known(
    entry: Dataset, entries: Sequence[Dataset], jobs: Sequence[tuple[str, Job]]
) -> Iterator[tuple[str, DatasetSnapshot]]:
    """What the snapshots of jobs have of an entry, or of a version that it stands for."""
    versions = {other.version for other in entries if other.name == entry.name} - {entry.version}
    for path, job in jobs:
        for known in job.snapshot:
            if known.name == entry.name and known.version not in versions:
                yield path, known


def _changed(entry: Dataset, job: str, what: str, of_today: str) -> Diagnostic:
    return Diagnostic(
        rule=_RULE,
        message=f"{what} are not those that {job} ran with: the registry was changed since",
        path=entry.registry,
        notes=(f"the {of_today} of today run; {job}/{SNAPSHOT} has the others",),
    )


def _path(metric: dict[str, Any]) -> str | None:
    kwargs = metric.get("kwargs")
    if not isinstance(kwargs, dict) or kwargs.get("git_url"):
        return None
    path = kwargs.get("script_path")
    return path if isinstance(path, str) else None


def _pin(script_path: str, path: str) -> str | None:
    """The digest of a script as it is today; None where it cannot be told."""
    # For weight: most metrics are no scripts.
    from ..registries.script_file import find

    try:
        return find(script_path, path).pin
    except HarborMetricsError:
        return None
