"""Trials as one table: what every reader produces and every metric reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeGuard

import msgspec

from .exact import Number

Missing = Literal["zero", "skip", "error"]
Rewards = dict[str, Number]
# Agent, model and dataset: what trials are reported under.
GroupKey = tuple[str | None, str | None, str | None]


class Usage(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    forbid_unknown_fields=True,
):
    """What a trial consumed; tokens are counts, seconds are wall-clock."""

    n_input_tokens: Number | None = None
    n_cache_tokens: Number | None = None
    n_output_tokens: Number | None = None
    cost_usd: Number | None = None
    seconds: Number | None = None


NO_USAGE = Usage()


class Trial(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    forbid_unknown_fields=True,
):
    """One attempt of one agent at one task; a line of a trials file. Null: no rewards given."""

    task: str
    rewards: Rewards | None
    attempt: int | None = None
    trial: str | None = None
    id: str | None = None
    started_at: str | None = None
    agent: str | None = None
    model: str | None = None
    dataset: str | None = None
    error: str | None = None
    texts: dict[str, str | list[str]] = {}
    labels: dict[str, str | Number | bool | None] = {}
    usage: Usage = NO_USAGE


def group_key(trial: Trial) -> GroupKey:
    """What a trial is reported under."""
    return trial.agent, trial.model, trial.dataset


def in_canonical_order(trials: Iterable[Trial]) -> list[Trial]:
    """By task, then attempt, where that is not said start, trial's name, place in the file."""
    return sorted(
        trials,
        key=lambda t: (
            t.task,
            t.attempt is None,
            t.attempt or 0,
            t.started_at or "",
            t.trial or "",
            t.id or "",
        ),
    )


class LineTrials(Sequence[Trial]):
    """Lines of a rewards file, each a task of its own, kept as columns: a million fit in memory.

    `empty` are the indices of lines with an object that holds nothing; other lines without any
    value are `null`. `numbers` are the lines they stand on, where that is not simply 1, 2, 3, …
    """

    def __init__(
        self,
        n: int,
        columns: dict[str, list[Number | None]],
        empty: frozenset[int] = frozenset(),
        numbers: Sequence[int] | None = None,
    ) -> None:
        self.n = n
        self.columns = columns
        self.empty = empty
        self.numbers = numbers if numbers is not None else range(1, n + 1)
        assert len(self.numbers) == n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Trial:  # type: ignore[override]  # no slices: never needed
        number = self.numbers[index]
        row = ((key, values[index]) for key, values in self.columns.items())
        rewards = {key: value for key, value in row if value is not None}
        scored = rewards or index % self.n in self.empty
        return Trial(task=f"line:{number}", rewards=rewards if scored else None)

    @property
    def n_scored(self) -> int:
        """How many lines are not `null`."""
        columns = list(self.columns.values())
        if len(columns) == 1:
            return self.n - columns[0].count(None) + len(self.empty)
        rows = zip(*columns, strict=True)
        return sum(any(v is not None for v in row) for row in rows) + len(self.empty)

    @property
    def tasks(self) -> Sequence[str]:
        """The names, made when asked for."""
        return LineTasks(self.numbers)

    def joined(self, other: LineTrials) -> LineTrials:
        """The lines of both, numbered on."""
        columns = {
            key: self.columns.get(key, [None] * len(self))
            + other.columns.get(key, [None] * len(other))
            for key in sorted(self.columns.keys() | other.columns.keys())
        }
        return LineTrials(self.n + other.n, columns, self.empty | {self.n + i for i in other.empty})


class LineTasks(Sequence[str]):
    """The names `line:<number>` as a sequence that takes no memory."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # no slices: never needed
        return f"line:{self.numbers[index]}"


@dataclass(frozen=True, slots=True)
class Column:
    """One reward key over the trials, in canonical order, the missing policy already applied."""

    values: Sequence[Number]
    tasks: Sequence[str]

    def by_task(self) -> dict[str, list[Number]]:
        """A task's attempts, in attempt order."""
        groups: dict[str, list[Number]] = {}
        for task, value in zip(self.tasks, self.values, strict=True):
            groups.setdefault(task, []).append(value)
        return groups

    @property
    def counts(self) -> dict[str, Counter[Number]]:
        """How often each value stands in each task."""
        return {task: Counter(values) for task, values in self.by_task().items()}


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
        keys = sorted({key for trial in self.trials for key in trial.rewards or ()})
        return {
            key: [None if t.rewards is None else t.rewards.get(key) for t in self.trials]
            for key in keys
        }

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

    def column(self, key: str, missing: Missing) -> Column:
        """One reward key; a key that no trial has is missing everywhere.

        Raises:
            MissingRewardError: the policy is `error` and a trial lacks the key.
        """
        values = self.columns.get(key) or [None] * len(self)
        if complete(values):
            return Column(values, self.tasks)
        if missing == "zero":
            return Column([0 if value is None else value for value in values], self.tasks)
        if missing == "skip":
            kept = [i for i, value in enumerate(values) if value is not None]
            return Column([v for v in values if v is not None], [self.tasks[i] for i in kept])
        absent = [i for i, value in enumerate(values) if value is None]
        first = self.trials[absent[0]]
        raise MissingRewardError(
            f"{len(absent)} of {len(values)} trials have no `{key}`, "
            f"the first is {first.trial or first.task}"
        )


def complete(values: Sequence[Number | None]) -> TypeGuard[Sequence[Number]]:
    """Whether no value is missing."""
    return None not in values
