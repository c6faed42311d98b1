"""Whether two runs put each task into the same groups."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.metric import Bound
from ..documents.wording import listed
from ..trials.labelled import label_text
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
            one, other = (listed(sorted(side[task])) for side in sides)
            return (
                f"task {task} is in {one} by {names[0]} and in {other} by {names[1]} "
                "(--labels says which one is right)"
            )
    return None


def _groups_of_tasks(table: Table, by: Sequence[str]) -> dict[str, set[str]]:
    columns = [table.label(name) for name in by]
    found: dict[str, set[str]] = {}
    for task, *labels in zip(table.tasks, *columns, strict=True):
        found.setdefault(task, set()).add(" / ".join(map(label_text, labels)))
    return found
