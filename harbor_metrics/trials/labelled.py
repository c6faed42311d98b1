"""Rows that have labels: as text, as numbers, and grouped by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import msgspec

from ..errors import MetricFailure
from ..numbers.exact import Number
from ..numbers.written import number
from .trial import Label, LineTrials, Trial

# The label that every trial has.
TASK = "task"
# Every integer below is a float, and no two are the same float.
_EXACT = 2**53
_OF_GROUPS = ("agent", "model", "dataset")
_LABELS = (
    "--labels FILE gives them (a CSV with the columns `task` and `{name}`, JSON or JSONL), or the "
    "registry's tasks, or [metadata] of each task.toml"
)


def refuse_groups(names: Sequence[str]) -> None:
    """Refuse names of which each value is a group already, and which labels are not to say.

    Raises:
        MetricFailure: one of these is among them.
    """
    of_groups = [name for name in names if name in _OF_GROUPS]
    if of_groups:
        raise MetricFailure(
            "missing-label",
            f"`{of_groups[0]}` is no label: each agent, model and dataset has numbers of its own "
            "already, without --group-by",
        )


def labels_of(trials: Sequence[Trial], n: int, name: str) -> list[Label]:
    """The label of that name of each of n trials.

    Raises:
        MetricFailure: a trial lacks it.
    """
    # Whatever a label of such a name says: labels may be a stranger's.
    if name == TASK:
        return [trial.task for trial in trials]
    refuse_groups([name])
    of_trials = [] if isinstance(trials, LineTrials) else [trial.labels for trial in trials]
    absent = [i for i, labels in enumerate(of_trials) if name not in labels]
    if absent:
        first = trials[absent[0]]
        known = sorted({key for labels in of_trials for key in labels})
        hint = f"; trials have {', '.join(f'`{k}`' for k in known)}" if known else ""
        if name not in known:
            # The same of all groups, so that it is said once.
            where = _LABELS.format(name=name)
            raise MetricFailure(
                "missing-label", f"the trials have no label `{name}`{hint}; {where}"
            )
        raise MetricFailure(
            "missing-label",
            f"{len(absent)} of {n} trials have no label `{name}`, "
            f"the first is {first.trial or first.task}{hint}",
        )
    if n and not of_trials:
        raise MetricFailure("missing-label", f"the trials have no labels, so no `{name}`")
    return [labels[name] for labels in of_trials]


def as_number(value: Label) -> Number | None:
    """The number that a label is, or that it is the text of, as in a CSV; else None."""
    if isinstance(value, str):
        return number(value)
    if value is None or isinstance(value, bool):
        return None
    # An integer is finite however large, and may be too large for `isfinite`.
    return value if isinstance(value, int) or math.isfinite(value) else None


def label_text(value: Label) -> str:
    """A label as the name of a group: a string as it is, anything else as JSON writes it."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)  # JSON has no such numbers
        if value.is_integer() and abs(value) < _EXACT:
            value = int(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def identity(value: Label) -> tuple[str, bool]:
    """What is one for labels that are one group and one cluster: 1 and 1.0, not true, not "1"."""
    return label_text(value), isinstance(value, str)


class Labelled(Protocol):
    """Rows that have labels."""

    def label(self, name: str) -> list[Label]:
        """The label of that name, row by row."""


def clusters(view: Labelled, name: str) -> list[Label]:
    """The cluster of each row by the label of that name: equal labels are one.

    Raises:
        MetricFailure: a trial lacks the label, or it is null.
    """
    labels = view.label(name)
    if None in labels:
        raise MetricFailure(
            "missing-label", f"label `{name}` is null for some trials, so it names no cluster"
        )
    return labels


def grouped_rows(view: Labelled, names: Sequence[str]) -> list[tuple[tuple[str, ...], list[int]]]:
    """The indices of the rows of each combination of labels, sorted by the labels."""
    groups: dict[tuple[str, ...], list[int]] = {}
    columns = [list(map(label_text, view.label(name))) for name in names]
    for row, key in enumerate(zip(*columns, strict=True)):
        groups.setdefault(key, []).append(row)
    return sorted(groups.items())
