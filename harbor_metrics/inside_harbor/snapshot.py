"""Taking the snapshot of a job: what its folder does not say itself."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..documents.paths import real_path
from ..documents.wording import without_passwords, without_passwords_in
from ..errors import HarborMetricsError, MetricFailure
from ..evaluation.datasets import find_datasets
from ..registries.registry import Registries
from ..registries.script_file import find as find_script
from ..trials.labels import Labels
from ..trials.snapshot import DatasetSnapshot, Snapshot
from ..trials.source import Job, JobDataset
from ..trials.trial import Label
from . import running_job


def taken_at_start(job: Any, registry: Sequence[str]) -> Snapshot:
    """Registry entries, digests of scripts, and the labels of all tasks that are to be tried.

    Raises:
        InputError: a registry of the user's lacks the dataset.
    """
    said, folder = running_job.said_by(job.config), running_job.folder_of(job)
    registries = Registries(registry)
    tasks: dict[str | None, dict[str, Mapping[str, Label]]] = {}
    for dataset, task, labels in running_job.tasks_at_start(job):
        tasks.setdefault(dataset, {})[task] = labels
    # A job can run two versions of one dataset.
    datasets: dict[tuple[str | None, str | None], DatasetSnapshot] = {}
    for named in said.datasets:
        known = _dataset(job, folder, said, named, registries)
        datasets[known.name, known.version] = _of_tried(known, tasks.get(known.name))
    for name in tasks.keys() - {name for name, _ in datasets}:
        datasets[name, None] = DatasetSnapshot(name=name)
    config = os.path.join(folder, "config.json")
    scripts = digests(said.metrics, config, allow_outside=True)
    return _with_tasks(Snapshot(datasets=list(datasets.values()), scripts=scripts), tasks)


def _dataset(
    job: Any, folder: str, said: Job, named: JobDataset, registries: Registries
) -> DatasetSnapshot:
    if named.path is not None and named.name is None:
        return DatasetSnapshot(name=os.path.basename(real_path(named.path)))
    name = str(named.name)
    only = msgspec.structs.replace(said, datasets=(named,))
    try:
        found = find_datasets(name, None, [(folder, only)], registries, own_jobs=True).entries
    except HarborMetricsError:
        if registries.given:
            raise
        found = []
    labels: Labels = {}
    if found:
        labels = registries.labels(found[-1])
        entry = running_job.entry_of(found[-1])
        registry: str | None = found[-1].registry
        version: str | None = found[-1].version
    else:
        as_run = running_job.entry_as_run(job, name)
        version, registry = named.version, named.registry_url
        entry = {**as_run, "version": version or ""} if as_run is not None else {}
    arrays = (entry.get(name) for name in ("metrics", "extra_metrics"))
    metrics = [metric for array in arrays if isinstance(array, list) for metric in array]
    return DatasetSnapshot(
        name=name,
        version=version,
        registry=registry and without_passwords(registry),
        # It lies in the job's folder, which others are given.
        entry=without_passwords_in(entry) or None,
        scripts=digests(metrics, registry),
        tasks={task: _without_passwords(own) for task, own in labels.items()},
    )


def _without_passwords(labels: Mapping[str, Label]) -> dict[str, Label]:
    return {name: value for name, value in labels.items() if without_passwords_in(value) == value}


def _of_tried(dataset: DatasetSnapshot, tasks: Collection[str] | None) -> DatasetSnapshot:
    """The dataset with the labels of those tasks that are to be tried, where they are known."""
    if not tasks:
        return dataset
    labels = {task: own for task, own in dataset.tasks.items() if task in tasks}
    return msgspec.structs.replace(dataset, tasks=labels)


def digests(
    metrics: Iterable[Any], registry: str | None, *, allow_outside: bool = False
) -> dict[str, str]:
    """The SHA-256 of each script that the entries name and that is there."""
    found = {}
    for metric in metrics:
        kwargs = metric.get("kwargs") if isinstance(metric, dict) else None
        path = kwargs.get("script_path") if isinstance(kwargs, dict) else None
        if isinstance(path, str) and isinstance(kwargs, dict) and not kwargs.get("git_url"):
            try:
                script = find_script(path, registry, allow_outside=allow_outside)
            except MetricFailure:
                continue
            # Of another file a digest could tell what is in it, if that is little.
            if script.path.endswith(".py"):
                found[path] = script.pin
    return found


def taken_at_end(snapshot: Snapshot, trials: Iterable[Any]) -> Snapshot:
    """The snapshot with the labels of all tasks that were tried."""
    tasks: dict[str | None, dict[str, Mapping[str, Label]]] = {}
    for dataset, task, labels in running_job.tasks_at_end(trials):
        tasks.setdefault(dataset, {})[task] = labels
    known = {dataset.name for dataset in snapshot.datasets}
    more = [DatasetSnapshot(name=name) for name in tasks if name not in known]
    return _with_tasks(
        msgspec.structs.replace(snapshot, datasets=[*snapshot.datasets, *more]), tasks
    )


def _place(dataset: DatasetSnapshot) -> tuple[bool, str, str]:
    return dataset.name is not None, dataset.name or "", dataset.version or ""


def _with_tasks(
    snapshot: Snapshot, tasks: Mapping[str | None, Mapping[str, Mapping[str, Label]]]
) -> Snapshot:
    """The snapshot with these labels, too; datasets and tasks sorted.

    What it has already goes before: a registry's labels do before those of a task's folder.
    """
    datasets = []
    for dataset in sorted(snapshot.datasets, key=_place):
        known, more = dataset.tasks, tasks.get(dataset.name, {})
        labels = {
            task: {**more.get(task, {}), **known.get(task, {})}
            for task in sorted(known.keys() | more.keys())
        }
        datasets.append(msgspec.structs.replace(dataset, tasks=labels))
    return msgspec.structs.replace(snapshot, datasets=datasets)
