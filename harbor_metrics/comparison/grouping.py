"""The clusters and groups of tasks, which two runs have to say alike."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.metric import Bound
from ..documents.wording import listed
from ..errors import MetricFailure, UsageError
from ..trials.labelled import TASK, clusters, grouped_rows, label_text
from ..trials.table import Table
from ..trials.trial import Label
from .pairing import Pairs


def clusters_of(pairs: Pairs, names: tuple[str, str], label: str | None) -> dict[str, Label] | None:
    """The cluster of each task, as the base says it.

    Raises:
        UsageError: a trial of the base lacks the label, or a task's trials differ in it.
    """
    table = pairs.base
    if label is None:
        return None
    try:
        labels = clusters(table, label)
    except MetricFailure as failure:
        raise UsageError(f"--cluster {label}: {failure}") from failure
    of_tasks: dict[str, Label] = {}
    for task, value in zip(table.tasks, labels, strict=True):
        if of_tasks.setdefault(task, value) != value:
            raise UsageError(f"--cluster {label}: the trials of task {task} differ in it")
    for trial in pairs.candidate if label != TASK else ():
        if label in trial.labels and trial.labels[label] != of_tasks[trial.task]:
            one, other = of_tasks[trial.task], trial.labels[label]
            raise UsageError(
                f"--cluster {label}: task {trial.task} is in {label_text(one)} by {names[0]} and "
                f"in {label_text(other)} by {names[1]}",
                "say with --labels which one is right",
            )
    return of_tasks


def grouped_otherwise(bound: Bound, pairs: Pairs, names: tuple[str, str]) -> str | None:
    """Why there are no groups to compare: a task is in other ones by the labels of each run.

    Else the labels of one run, a stranger's perhaps, would say which tasks of the other count.
    """
    if bound.metric.name != "grouped":
        return None
    by = bound.arguments["by"]
    labels = [by] if isinstance(by, str) else by
    sides = [_groups_of_tasks(table, labels) for table in (pairs.base, pairs.candidate)]
    for task, groups in sides[0].items():
        if sides[1][task] != groups:
            one, other = (listed(sorted(map(" / ".join, side[task]))) for side in sides)
            return (
                f"task {task} is in {one} by {names[0]} and in {other} by {names[1]} "
                "(--labels says which one is right)"
            )
    return None


def _groups_of_tasks(table: Table, by: Sequence[str]) -> dict[str, set[tuple[str, ...]]]:
    tasks = table.tasks
    found: dict[str, set[tuple[str, ...]]] = {task: set() for task in tasks}
    for group, rows in grouped_rows(table, by):
        for row in rows:
            found[tasks[row]].add(group)
    return found
