"""A job as the plugin meets it: Harbor's attributes, and nothing else of Harbor's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Sum:
    """Named as Harbor's class is."""


def task_config(folder: Path, dataset: str | None = "demo") -> Any:
    return SimpleNamespace(source=dataset, get_local_path=lambda: folder)


def dataset_config(**fields: Any) -> Any:
    names = ("name", "version", "ref", "path", "registry_path", "registry_url")
    return SimpleNamespace(**{name: fields.get(name) for name in names})


def running(job: Path, *tasks: Any, datasets: tuple[Any, ...] = (), **private: Any) -> Any:
    """A job that is about to run these tasks."""
    return SimpleNamespace(
        job_dir=job,
        config=SimpleNamespace(datasets=list(datasets), metrics=private.pop("metrics", [])),
        _trial_configs=[SimpleNamespace(task=task) for task in tasks],
        **private,
    )


def ended(*tasks: tuple[str, Any]) -> Any:
    """The result of a job that has tried these tasks, by name."""
    return SimpleNamespace(
        trial_results=[
            SimpleNamespace(source=task.source, task_name=name, config=SimpleNamespace(task=task))
            for name, task in tasks
        ]
    )
