"""The groups of a run of lm-eval: which tasks are in each, through the groups in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from ...errors import InputError
from .steps import array, member, members

# Of all groups together: where each is in another they are the square of what is written.
MOST_MEMBERS = 1_000_000


class Groups:
    """The groups of a results file, and their tasks.

    Raises:
        InputError: they are far more than any run has.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        # They stand under `groups`, and with the tasks under `results`.
        names = list(members(value.get("groups")))
        for name, tasks in members(value.get("group_subtasks")).items():
            if tasks and member(value, "results", name) is not None:
                names.append(name)
        self.names = dict.fromkeys(names)
        self.tasks = _leaves(members(value.get("group_subtasks")), self.names)

    def of(self, task: str | None) -> Sequence[str]:
        """The groups that a task is in, in their order."""
        return self._by_task.get(task, ())

    @cached_property
    def _by_task(self) -> dict[str | None, list[str]]:
        found: dict[str | None, list[str]] = {}
        for name in self.names:
            for task in self.tasks[name]:
                found.setdefault(task, []).append(name)
        return found


def _leaves(subtasks: dict[str, Any], groups: Collection[str]) -> dict[str, list[str]]:
    """The tasks of each group, through the groups in it, each of which is gone through once."""
    leaves: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    n = 0
    waiting = [*groups]
    while waiting:
        name = waiting[-1]
        if name not in below:
            below[name] = list(dict.fromkeys(map(str, array(subtasks.get(name)))))
            # None again that is being gone through: what is in itself adds no task of its own.
            waiting += [inner for inner in below[name] if inner not in below]
            continue
        waiting.pop()
        if name not in leaves:
            n += sum(len(leaves.get(inner, ())) for inner in below[name])
            if n > MOST_MEMBERS:
                raise InputError(
                    f"the results file of lm-eval has groups of more than {MOST_MEMBERS:,} tasks "
                    "together, those of groups in groups counted again",
                    "lm-eval writes no such groups: leave out `group_subtasks`",
                )
            found = dict.fromkeys(leaf for inner in below[name] for leaf in leaves.get(inner, ()))
            leaves[name] = list(found) if below[name] else [name]
    return leaves
