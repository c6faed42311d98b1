"""Trials as one table: what every reader produces and every metric reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, compress
from operator import attrgetter, itemgetter
from typing import Any, Literal, TypeGuard

import msgspec

from ..errors import MetricFailure
from ..numbers import exact
from ..numbers.exact import Number
from .column import Column
from .labelled import grouped_rows, labels_of
from .rewards import FEW_KEYS, KeyTimes, check_keys
from .trial import (
    Label,
    LineTasks,
    LineTrials,
    Picked,
    Rewards,
    TaskNames,
    Trial,
    in_canonical_order,
    times_of,
)

_REWARDS, _TASK = attrgetter("rewards"), attrgetter("task")
Missing = Literal["zero", "skip", "error"]


def _pick(rewards: Sequence[Any], key: str) -> list[Number | None]:
    """The value of a key in each of the rewards; None where it is missing."""
    try:
        # In C, for the most frequent case: nothing is missing.
        return list(map(itemgetter(key), rewards))
    except (KeyError, TypeError):
        return [None if values is None else values.get(key) for values in rewards]


def _rename(trials: Sequence[Trial], others: Sequence[Trial]) -> Sequence[Trial]:
    """The trials; lines of a rewards file get another name where one of the others has theirs."""
    if not isinstance(trials, LineTrials):
        return trials
    taken = {trial.task for trial in others}
    prefix = ""
    while any(f"{prefix}{task}" in taken for task in trials.tasks):
        prefix = f"rewards:{prefix}"
    return [msgspec.structs.replace(t, task=f"{prefix}{t.task}") for t in trials]


class Table:
    """Trials in canonical order; `a + b` is the table of both."""

    has_rows = True

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
            return Table(mine.join(theirs))
        return Table([*_rename(mine, theirs), *_rename(theirs, mine)])

    @cached_property
    def columns(self) -> dict[str, list[Number | None]]:
        """Reward key -> its value in each trial, None where it is missing; keys sorted."""
        if isinstance(self.trials, LineTrials):
            return dict(sorted(self.trials.columns.items()))
        rewards = self._rewards
        keys: set[str] = set().union(*filter(None, rewards))
        if len(keys) > FEW_KEYS:
            check_keys(len(keys), sum(len(values or ()) for values in rewards), len(rewards))
        return {key: _pick(rewards, key) for key in sorted(keys)}

    @cached_property
    def tasks(self) -> Sequence[str]:
        """The name of each trial's task."""
        if isinstance(self.trials, LineTrials):
            return self.trials.tasks
        return TaskNames(map(_TASK, self.trials))

    @cached_property
    def n_tasks(self) -> int:
        """How many different tasks there are."""
        tasks = self.tasks
        return len(tasks) if isinstance(tasks, LineTasks) else len(times_of(tasks))

    @cached_property
    def n_scored(self) -> int:
        """How many trials have rewards; empty ones count."""
        if isinstance(self.trials, LineTrials):
            return self.trials.n_scored
        return len(self) - self._rewards.count(None)

    @cached_property
    def key_times(self) -> KeyTimes:
        """How many trials have rewards, how many of these no key, and how many each key."""
        trials = self.trials
        if isinstance(trials, LineTrials):
            columns = trials.columns.items()
            times = Counter({key: len(self) - values.count(None) for key, values in columns})
            return KeyTimes(self.n_scored, len(trials.empty), times)
        # Not of the columns: there may be too many for what is asked, which needs none of them.
        times = Counter(chain.from_iterable(filter(None, self._rewards)))
        return KeyTimes(self.n_scored, self._rewards.count({}), times)

    @property
    def errors(self) -> dict[str, int]:
        """How often each exception ended a trial, sorted by name."""
        if isinstance(self.trials, LineTrials):
            return {}
        return dict(sorted(Counter(t.error for t in self if t.error is not None).items()))

    def used(self, name: str) -> Number | None:
        """The total of a field of usage over the trials that have it; None where none does.

        Infinite where it is beyond binary64.

        Raises:
            MetricFailure: an engine cannot add it up exactly.
        """
        if isinstance(self.trials, LineTrials):
            return None
        get = attrgetter(f"usage.{name}")
        values = [value for value in map(get, self.trials) if value is not None]
        total = exact.total(values) if values else 0
        if total is None:
            return math.inf
        return total if values else None

    def task_passes(self) -> Counter[tuple[int, int]] | None:
        """(n, c) -> how many tasks have n trials of which c pass; None unless all give one 0 or 1.

        A trial without rewards does not pass.
        """
        if isinstance(self.trials, LineTrials):
            return None
        rewards = self._rewards
        if any(reward is not None and len(reward) != 1 for reward in rewards):
            return None
        values = [0 if reward is None else next(iter(reward.values())) for reward in rewards]
        if not set(values) <= {0, 1}:
            return None
        if self.n_tasks == len(values):
            return Counter({(1, int(value)): n for value, n in Counter(values).items()})
        attempts = times_of(self.tasks)
        passes = Counter(compress(self.tasks, values))
        return Counter((n, passes[task]) for task, n in attempts.items())

    @cached_property
    def _rewards(self) -> list[Rewards | None]:
        return list(map(_REWARDS, self.trials))

    def rewards(self) -> Iterator[Rewards | None]:
        """The rewards of each trial, as Harbor's metric scripts read them."""
        return (trial.rewards for trial in self.trials)

    def label(self, name: str) -> list[Label]:
        """The label of that name of each trial.

        Raises:
            MetricFailure: a trial lacks it.
        """
        return labels_of(self.trials, len(self), name)

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Table]:
        """The trials of each combination of labels, sorted by the labels.

        Raises:
            MetricFailure: a trial lacks one of the labels.
        """
        return {
            key: Table([self.trials[i] for i in rows]) for key, rows in grouped_rows(self, names)
        }

    def picked(self, rows: Sequence[int], tasks: Sequence[str]) -> Table:
        """The trials at these indices, as attempts at these tasks."""
        return Table(
            [
                msgspec.structs.replace(self.trials[i], task=task, attempt=None)
                for i, task in zip(rows, tasks, strict=True)
            ]
        )

    @cached_property
    def _column_of(self) -> dict[tuple[str, Missing], Column]:
        return {}

    @property
    def changed_tasks(self) -> list[str]:
        """The tasks of which trials say several versions."""
        return [task for task, said in task_versions(self).items() if len(said - {None}) > 1]

    def column(self, key: str, missing: Missing) -> Column:
        """One reward key, the same column for the same question; no trial need have the key.

        Raises:
            MetricFailure: the policy is `error` and a trial lacks the key.
        """
        columns = self._column_of
        if (key, missing) not in columns:
            columns[key, missing] = self._column(key, missing)
        return columns[key, missing]

    def _column(self, key: str, missing: Missing) -> Column:
        values = self.columns.get(key) or [None] * len(self)
        if complete(values):
            return Column(values, self.tasks, self.trials)
        if missing == "zero":
            # Of the type of the others: a sum of floats alone is taken in C.
            zero = 0.0 if float in map(type, values) else 0
            filled = [zero if value is None else value for value in values]
            return Column(filled, self.tasks, self.trials)
        if missing == "skip":
            kept = [i for i, value in enumerate(values) if value is not None]
            return Column(
                [v for v in values if v is not None],
                TaskNames([self.tasks[i] for i in kept]),
                Picked(self.trials, kept),
            )
        absent = [i for i, value in enumerate(values) if value is None]
        first = self.trials[absent[0]]
        raise MetricFailure(
            "missing-reward",
            f"{len(absent)} of {len(values)} trials have no `{key}`, "
            f"the first is {first.trial or first.task}",
        )


def complete(values: Sequence[Number | None]) -> TypeGuard[Sequence[Number]]:
    """Whether no value is missing."""
    return None not in values


def task_versions(table: Table) -> dict[str, set[str | None]]:
    """The versions that the trials say of each task, None among them where one says none.

    Nothing at all where none says any.
    """
    versions: dict[str, set[str | None]] = {}
    if not table.has_rows or isinstance(table.trials, LineTrials):
        return versions
    # In C for the most frequent case: few harnesses say which version of a task they ran.
    of_trials = list(map(attrgetter("task_version"), table))
    if of_trials.count(None) < len(table):
        for task, version in zip(table.tasks, of_trials, strict=True):
            versions.setdefault(task, set()).add(version)
    return versions
