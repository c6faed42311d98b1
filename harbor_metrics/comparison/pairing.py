"""Which tasks two runs have in common, and the trials of both at these."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ..trials.table import Table, task_versions
from ..trials.trial import times_of

_UNSAID: frozenset[str | None] = frozenset({None})


class Pairs(msgspec.Struct, frozen=True):
    """The trials of both runs at the tasks that both have, and the tasks that are left out.

    A task is `changed` where the runs say different versions of it, or one run says two. `unsaid`
    are the paired tasks of which the base, and the candidate, say no version and the other does.
    """

    base: Table
    candidate: Table
    paired: list[str]
    only_base: list[str]
    only_candidate: list[str]
    changed: list[str]
    unsaid: tuple[list[str], list[str]] = ([], [])

    @property
    def unpaired(self) -> int:
        """How many tasks are left out."""
        return len(self.only_base) + len(self.only_candidate) + len(self.changed)

    def at(self, tasks: Collection[str]) -> Pairs:
        """The same at fewer tasks; those that are left out here are not told again."""
        return Pairs(
            restricted(self.base, tasks),
            restricted(self.candidate, tasks),
            [task for task in self.paired if task in tasks],
            self.only_base,
            self.only_candidate,
            self.changed,
            self.unsaid,
        )


def pair(base: Table, candidate: Table) -> Pairs:
    """The runs at the tasks that are the same in both, all of them sorted by name."""
    ours, theirs = (set(times_of(table.tasks)) for table in (base, candidate))
    both = ours & theirs
    first, second = task_versions(base), task_versions(candidate)
    said = {
        task: (first.get(task, _UNSAID), second.get(task, _UNSAID))
        for task in both & (first.keys() | second.keys())
    }
    changed = {task for task, (one, other) in said.items() if len((one | other) - _UNSAID) > 1}
    unsaid = [
        sorted(
            task
            for task, versions in said.items()
            if None in versions[side] and {*versions[0], *versions[1]} != _UNSAID
        )
        for side in (0, 1)
    ]
    paired = both - changed
    return Pairs(
        restricted(base, paired),
        restricted(candidate, paired),
        sorted(paired),
        sorted(ours - theirs),
        sorted(theirs - ours),
        sorted(changed),
        (unsaid[0], unsaid[1]),
    )


def restricted(table: Table, tasks: Collection[str]) -> Table:
    """The trials at these tasks, all of which the table has."""
    if len(tasks) == table.n_tasks:
        return table
    kept = set(tasks)
    return Table([trial for trial in table if trial.task in kept])


def with_keys(table: Table, keys: Collection[str]) -> Table:
    """The trials with these rewards alone."""
    if not table.columns.keys() - keys:
        return table
    return Table(
        [
            trial
            if trial.rewards is None
            else msgspec.structs.replace(
                trial, rewards={key: value for key, value in trial.rewards.items() if key in keys}
            )
            for trial in table
        ]
    )
