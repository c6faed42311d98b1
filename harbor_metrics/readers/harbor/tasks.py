"""Labels of a job's tasks: what each task.toml says under [metadata]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...trials.labels import Labels, of_metadata
from ...trials.trial import Label, Trial
from .documents import FOLLOWING, contents, fields, places

_LabelsOfTask = Mapping[str, Label]


def labels_of(job: str, trials: Iterable[Trial]) -> dict[str | None, Labels]:
    """Dataset -> task -> its labels, where the configuration of the task's first trial leads.

    A task whose folder is no longer there, or never was a folder of this machine, has none.
    """
    labels: dict[str | None, dict[str, _LabelsOfTask]] = {}
    for trial in trials:
        of_dataset = labels.setdefault(trial.dataset, {})
        if trial.task not in of_dataset:
            of_dataset[trial.task] = _labels(job, trial)
    return {
        dataset: {t: found for t, found in tasks.items() if found}
        for dataset, tasks in labels.items()
    }


def _labels(job: str, trial: Trial) -> _LabelsOfTask:
    if trial.trial is None or "/" in trial.trial:
        return {}
    folder = f"{job}/{trial.trial}"
    config = fields(f"{folder}/config.json") or fields(f"{folder}/result.json").get("config")
    task = config.get("task") if isinstance(config, dict) else None
    task = task if isinstance(task, dict) else {}
    path = task.get("path")
    # The path of a task in a repository is one inside that repository.
    if not isinstance(path, str) or "\0" in path or task.get("git_url"):
        return {}
    for place in places(job, path):
        if (found := labels_in(place)) is not None:
            return found
    return {}


def labels_in(folder: str) -> dict[str, Label] | None:
    """What the task.toml in a task's folder says; None where there is none that can be read."""
    # For weight: most computations group by no label.
    import tomllib

    try:
        text = contents(f"{folder}/task.toml", FOLLOWING).decode()
        metadata = tomllib.loads(text).get("metadata")
    except (OSError, ValueError, RecursionError):
        return None
    return of_metadata(metadata) if isinstance(metadata, dict) else {}
