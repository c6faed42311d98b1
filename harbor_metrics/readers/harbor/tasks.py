"""Labels of a job's tasks: what each task.toml says under [metadata]."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from ...documents.files import reason
from ...documents.paths import NOT_THERE, is_shut, leads_out, real_path
from ...documents.sizes import MOST_SETTINGS
from ...documents.wording import shown, shown_path
from ...errors import InputError
from ...trials.labels import Labels, identities, of_metadata
from ...trials.trial import Label, Trial
from .documents import contents, fields
from .near import Near

_LabelsOfTask = Mapping[str, Label]
_LabelsIn = Callable[[str], dict[str, Label] | None]
# All trials of a job can name one folder, and each of its labels is then one of each trial.
_MOST_LABELS = 1_000


def labels_of(job: str, trials: Iterable[Trial]) -> dict[str | None, Labels]:
    """Dataset -> task -> its labels, where the configuration of the task's first trial leads.

    A task whose folder is no longer there, or never was a folder of this machine, has none; nor has
    one that lies neither in the job nor near it (`Near`): metric scripts are told the labels.

    Raises:
        InputError: two folders above the job have a task of that path, with other labels, or one of
            them is a link to elsewhere, of which no labels are read.
    """
    near, read = Near(job), cache(labels_in)
    labels: dict[str | None, dict[str, _LabelsOfTask]] = {}
    for trial in trials:
        of_dataset = labels.setdefault(trial.dataset, {})
        if trial.task not in of_dataset:
            of_dataset[trial.task] = _labels(job, trial, near, read)
    return {
        dataset: {t: found for t, found in tasks.items() if found}
        for dataset, tasks in labels.items()
    }


def _labels(job: str, trial: Trial, near: Near, read: _LabelsIn) -> _LabelsOfTask:
    folder = f"{job}/{trial.trial}"
    if trial.trial is None or "/" in trial.trial or leads_out(folder, job):
        return {}
    try:
        config: Any = fields(f"{folder}/config.json", strict=True)
        config = config or fields(f"{folder}/result.json", strict=True).get("config")
    except OSError as error:
        raise _unread(folder, error) from error
    config = config if isinstance(config, dict) else {}
    # A folder may be called as another trial is.
    if config.get("trial_name", trial.trial) != trial.trial:
        return {}
    task = config.get("task")
    task = task if isinstance(task, dict) else {}
    path = task.get("path")
    # The path of a task in a repository is one inside that repository.
    if not isinstance(path, str) or task.get("git_url"):
        return {}
    known: dict[str, _LabelsOfTask] = {}
    with contextlib.suppress(ValueError):  # a path that no file can have
        for place in near.places(path):
            if (found := read(real_path(place))) is not None:
                known[place] = found
        known |= {stray: {} for stray in near.strays(path) if known}
    # Which of the folders the job ran in nobody can tell from the files.
    (first, labels), *others = known.items() or [("", {})]
    for other, more in others:
        # Of equal labels, such as 1 and true, each can name another group.
        if identities({"": more}) != identities({"": labels}):
            raise InputError(
                f"two folders of task {shown(trial.task)} have the path that {shown_path(job)} "
                f"names, and other labels: {shown_path(first)} and {shown_path(other)}",
                "rename the one that the job did not run, or compute a copy of the job in another "
                "folder, with --labels FILE",
            )
    return labels


def labels_in(folder: str) -> dict[str, Label] | None:
    """What the task.toml in a task's folder says; None where there is none.

    Of one that is no TOML nothing is known, and it may be that of the task all the same. A link is
    not followed: it would make any TOML of this machine a task's.

    Raises:
        InputError: it is there, for all that is known, and cannot be read, or has more labels than
            any.
    """
    try:
        metadata = settings_in(folder).get("metadata")
    except OSError as error:
        if is_shut(error):
            raise _unread(f"{folder}/task.toml", error) from error
        return None if error.errno in NOT_THERE else {}
    except (ValueError, RecursionError):
        return {}
    labels = of_metadata(metadata) if isinstance(metadata, dict) else {}
    if len(labels) > _MOST_LABELS:
        raise InputError(
            f"{shown_path(folder)}/task.toml has {len(labels):,} labels under [metadata]; at most "
            f"{_MOST_LABELS:,} are read"
        )
    return labels


def settings_in(folder: str) -> dict[str, Any]:
    """The task.toml in a task's folder, which is no link.

    Raises:
        OSError: it cannot be read.
        ValueError, RecursionError: it is not TOML.
    """
    # For weight: most computations group by no label.
    from ...documents.toml import loads

    return loads(contents(f"{folder}/task.toml").decode(), MOST_SETTINGS)


def _unread(path: str, error: OSError) -> InputError:
    return InputError(f"{shown_path(path)}, where labels are looked up, says: {reason(error)}")
