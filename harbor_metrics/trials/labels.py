"""Labels of tasks, from the registry or a file, joined to trials by the task's name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..errors import InputError
from .labelled import identity, label_text
from .table import Table
from .trial import Label

# Task -> name of a label -> its value.
Labels = Mapping[str, Mapping[str, Label]]
# So begin the names of labels that only readers of logs give: some reducers and metrics read them
# unasked, and metadata, which may be a stranger's, could say what no log said.
OF_READERS = ("inspect/", "lm-eval/")
# What attempts say and tasks do not, which is read unasked, too.
OF_ATTEMPTS = frozenset({"prediction", "reference"})


def of_tasks(tasks: Iterable[Any]) -> Labels:
    """The scalars in the `metadata` of a registry's tasks; names inside objects are dotted.

    Of a task that stands there twice as `agreed`.
    """
    return _agreed(
        (str(task.get("name")), _flat(task["metadata"], ""))
        for task in tasks
        if isinstance(task, dict) and isinstance(task.get("metadata"), dict)
    )


def agreed(parts: Iterable[Labels]) -> Labels:
    """The labels that several say of tasks; one of which they say two values is none."""
    return _agreed((task, labels.items()) for part in parts for task, labels in part.items())


def _agreed(said: Iterable[tuple[str, Iterable[tuple[str, Label]]]]) -> Labels:
    pairs: dict[str, list[tuple[str, Label]]] = {}
    for task, labels in said:
        pairs.setdefault(task, []).extend(labels)
    return {task: unambiguous(labels)[0] for task, labels in pairs.items()}


def identities(labels: Labels) -> dict[str, dict[str, tuple[str, bool]]]:
    """What is one for labels of tasks that nothing tells apart."""
    return {
        task: {name: identity(value) for name, value in own.items()} for task, own in labels.items()
    }


def of_metadata(metadata: dict[str, Any]) -> dict[str, Label]:
    """The scalars of a table; names inside tables are dotted, and one of two values is none."""
    return unambiguous(_flat(metadata, ""))[0]


def unambiguous(named: Iterable[tuple[str, Any]]) -> tuple[dict[str, Any], set[str]]:
    """Values by name without the names that have two, and these names; without names of readers."""
    pairs = [(name, value) for name, value in named if not name.startswith(OF_READERS)]
    values = dict(pairs)
    if len(values) == len(pairs):
        return values, set()
    # `True` and 1 are equal, and other labels.
    two = {name for name, value in pairs if _typed(value) != _typed(values[name])}
    return {name: value for name, value in values.items() if name not in two}, two


def _typed(value: Any) -> tuple[Any, type]:
    return value, type(value)


def _flat(value: dict[str, Any], prefix: str) -> Iterable[tuple[str, Label]]:
    for name, member in value.items():
        if isinstance(member, dict):
            yield from _flat(member, f"{prefix}{name}.")
        elif isinstance(member, str | int | float | bool | None) and is_finite(member):
            yield f"{prefix}{name}", member


def is_finite(label: Label) -> bool:
    """Whether a label is one that a JSON document can hold: TOML has NaN and infinity."""
    return not isinstance(label, float) or math.isfinite(label)


def joined(table: Table, labels: Labels, *, path: str | None = None) -> Table:
    """The trials with these labels added; the labels that a trial has stay as they are.

    Raises:
        InputError: a label of the file at `path` is not the one that a trial has.
    """
    # What reads labels needs the trials, which are then kept.
    here = labels.keys() & set(table.tasks) if table.has_rows else ()
    if not here:
        return table
    trials = []
    # Most trials have none of their own: those of a task then share theirs.
    shared = {task: dict(labels[task]) for task in here}
    for trial in table:
        more = shared.get(trial.task, {})
        for name in more.keys() & trial.labels.keys() if path else ():
            if label_text(more[name]) != label_text(trial.labels[name]):
                raise InputError(
                    f"{path}: label `{name}` of task {trial.task} is {more[name]!r}, "
                    f"and its trials say {trial.labels[name]!r}"
                )
        own = {**more, **trial.labels} if trial.labels else more
        trials.append(msgspec.structs.replace(trial, labels=own))
    return Table(trials)
