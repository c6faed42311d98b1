"""Whether two runs put each task into the same groups."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.metric import Bound
from ..documents.wording import listed
from ..trials.labelled import grouped_rows
from ..trials.table import Table
from .pairing import Pairs


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
