"""What is read of a job that Harbor runs, by the names of Harbor's attributes.

Harbor is not imported. What it calls private is read with care: where it is not there any more,
the snapshot that is written at the end is as good, since that needs nothing private.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import InputError
from ..readers.harbor.tasks import labels_in, settings_in
from ..registries.registry import Dataset
from ..trials.source import Job, JobDataset
from ..trials.trial import Label

# Harbor's classes of metrics by what a registry calls them.
_TYPES = {"Mean": "mean", "Sum": "sum", "Min": "min", "Max": "max"}


def folder_of(job: Any) -> str:
    """Where the job writes."""
    return str(job.job_dir)


def said_by(config: Any) -> Job:
    """The job as its configuration says it, before there is a config.json."""
    return Job(
        datasets=tuple(_dataset(dataset) for dataset in config.datasets),
        metrics=tuple(
            {"type": str(getattr(m.type, "value", m.type)), "kwargs": dict(m.kwargs)}
            for m in config.metrics
        ),
    )


def _dataset(config: Any) -> JobDataset:
    fields = {
        "name": config.name,
        "version": config.version or config.ref,
        "path": config.path,
        "registry_path": config.registry_path,
        "registry_url": config.registry_url,
    }
    named: dict[str, Any] = {k: str(v) for k, v in fields.items() if v is not None}
    return JobDataset(**named)


def tasks_at_start(job: Any) -> Iterator[tuple[str | None, str, dict[str, Label]]]:
    """Dataset, name and labels of each task that the job is going to try."""
    seen = set()
    for config in getattr(job, "_trial_configs", ()):
        folder = os.fspath(config.task.get_local_path())
        dataset = config.task.source
        if (dataset, folder) not in seen:
            seen.add((dataset, folder))
            yield dataset, _name(folder), _labels(folder)


def tasks_at_end(trials: Iterable[Any]) -> Iterator[tuple[str | None, str, dict[str, Label]]]:
    """Dataset, name and labels of each task that was tried."""
    seen = set()
    for trial in trials:
        if (trial.source, trial.task_name) not in seen:
            seen.add((trial.source, trial.task_name))
            folder = os.fspath(trial.config.task.get_local_path())
            yield trial.source, trial.task_name, _labels(folder)


def _labels(folder: str) -> dict[str, Label]:
    """The labels of a task; none where nobody can know them, which is no reason to end the job."""
    try:
        return labels_in(folder) or {}
    except InputError:
        return {}


def _name(folder: str) -> str:
    """The name that Harbor gives a task: that of its task.toml, else of its folder."""
    try:
        task = settings_in(folder).get("task")
    except (OSError, ValueError, RecursionError):
        task = None
    name = task.get("name") if isinstance(task, dict) else None
    return name if isinstance(name, str) and name else os.path.basename(folder)


def entry_as_run(job: Any, dataset: str) -> dict[str, Any] | None:
    """The metrics that Harbor itself runs for a dataset whose registry is not at hand.

    None where one of them is of no kind that a registry can name.
    """
    metrics = getattr(job, "_metrics", {}).get(dataset, [])
    n_own = len(metrics) - len(job.config.metrics)
    entries: list[dict[str, Any]] = []
    for metric in metrics[:n_own]:
        kind = type(metric).__name__
        if kind in _TYPES:
            entries.append({"type": _TYPES[kind]})
        elif kind == "UvScript":
            path = str(metric._script_path)
            entries.append({"type": "uv-script", "kwargs": {"script_path": path}})
        else:
            return None
    return {"name": dataset, "metrics": entries}


def entry_of(dataset: Dataset) -> dict[str, Any]:
    """A registry's entry without its tasks."""
    entry = dataset.document.value[dataset.index]
    return {name: value for name, value in entry.items() if name != "tasks"}
