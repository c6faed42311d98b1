"""Trials as one table: what every reader produces and every metric reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, TypeGuard

import msgspec

from .column import Column, grouped_rows, labels_of
from .exact import Number
from .trial import Label, LineTasks, LineTrials, Picked, Rewards, Trial, in_canonical_order

Missing = Literal["zero", "skip", "error"]


def _picked(rewards: Sequence[Any], key: str) -> list[Number | None]:
    """One key of each; None where it is missing."""
    try:
        # In C, for the most frequent case: nothing is missing.
        return list(map(itemgetter(key), rewards))
    except (KeyError, TypeError):
        return [None if each is None else each.get(key) for each in rewards]


class MissingRewardError(Exception):
    """The policy is `error` and a reward is missing; says how many and which first."""


def _named(trials: Sequence[Trial], others: Sequence[Trial]) -> Sequence[Trial]:
    """The trials; lines get another name where one of the others has theirs."""
    if not isinstance(trials, LineTrials):
        return trials
    taken = {trial.task for trial in others}
    prefix = ""
    while any(f"{prefix}{task}" in taken for task in trials.tasks):
        prefix = f"rewards:{prefix}"
    return [msgspec.structs.replace(t, task=f"{prefix}{t.task}") for t in trials]


class Table:
    """Trials in canonical order; `a + b` is the table of both."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        self.trials: Sequence[Trial] = (
            trials if isinstance(trials, LineTrials) else in_canonical_order(trials)
        )

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __add__(self, other: Table) -> Table:
        mine, theirs = self.trials, other.trials
        if isinstance(mine, LineTrials) and isinstance(theirs, LineTrials):
            return Table(mine.joined(theirs))
        return Table([*_named(mine, theirs), *_named(theirs, mine)])

    @cached_property
    def columns(self) -> dict[str, list[Number | None]]:
        """Reward key -> a value a trial, None where it is missing; keys sorted."""
        if isinstance(self.trials, LineTrials):
            return dict(sorted(self.trials.columns.items()))
        rewards = [trial.rewards for trial in self.trials]
        keys: set[str] = set().union(*filter(None, rewards))
        return {key: _picked(rewards, key) for key in sorted(keys)}

    @cached_property
    def tasks(self) -> Sequence[str]:
        """A task name a trial."""
        if isinstance(self.trials, LineTrials):
            return self.trials.tasks
        return [trial.task for trial in self.trials]

    @cached_property
    def n_tasks(self) -> int:
        """How many different tasks."""
        return len(self.tasks) if isinstance(self.tasks, LineTasks) else len(set(self.tasks))

    @cached_property
    def n_scored(self) -> int:
        """How many trials have rewards, be they empty."""
        if isinstance(self.trials, LineTrials):
            return self.trials.n_scored
        return sum(trial.rewards is not None for trial in self.trials)

    def rewards(self) -> Iterator[Rewards | None]:
        """What the trials were given, as Harbor's metric scripts read it."""
        return (trial.rewards for trial in self.trials)

    def label(self, name: str) -> list[Label]:
        """A label of each trial.

        Raises:
            LabelError: one lacks it.
        """
        return labels_of(self.trials, len(self), name)

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Table]:
        """The trials of each combination of labels, in the order of their names.

        Raises:
            LabelError: a trial lacks one of them.
        """
        return {
            key: Table([self.trials[i] for i in rows]) for key, rows in grouped_rows(self, names)
        }

    def picked(self, rows: Sequence[int], tasks: Sequence[str]) -> Table:
        """Some of the trials, as attempts at other tasks."""
        return Table(
            [
                msgspec.structs.replace(self.trials[i], task=task, attempt=None)
                for i, task in zip(rows, tasks, strict=True)
            ]
        )

    @cached_property
    def _columns_made(self) -> dict[tuple[str, Missing], Column]:
        return {}

    def column(self, key: str, missing: Missing) -> Column:
        """One reward key; a key that no trial has is missing everywhere. Made once.

        Raises:
            MissingRewardError: the policy is `error` and a trial lacks the key.
        """
        made = self._columns_made
        if (key, missing) not in made:
            made[key, missing] = self._column(key, missing)
        return made[key, missing]

    def _column(self, key: str, missing: Missing) -> Column:
        values = self.columns.get(key) or [None] * len(self)
        if complete(values):
            return Column(values, self.tasks, self.trials)
        if missing == "zero":
            # Of one kind with the others: sums of floats are taken in C.
            zero = 0.0 if float in map(type, values) else 0
            filled = [zero if value is None else value for value in values]
            return Column(filled, self.tasks, self.trials)
        if missing == "skip":
            kept = [i for i, value in enumerate(values) if value is not None]
            return Column(
                [v for v in values if v is not None],
                [self.tasks[i] for i in kept],
                Picked(self.trials, kept),
            )
        absent = [i for i, value in enumerate(values) if value is None]
        first = self.trials[absent[0]]
        raise MissingRewardError(
            f"{len(absent)} of {len(values)} trials have no `{key}`, "
            f"the first is {first.trial or first.task}"
        )


def complete(values: Sequence[Number | None]) -> TypeGuard[Sequence[Number]]:
    """Whether no value is missing."""
    return None not in values
