"""One reward key over many trials: what most metrics read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from operator import sub
from typing import Any, Protocol

import msgspec

from .exact import Number, Scaled, scaled, tally
from .trial import Label, LineTasks, LineTrials, Picked, Trial

# Below, every integer is a float of its own.
_EXACT = 2**53


# The label that every trial has.
TASK = "task"


class LabelError(Exception):
    """A label that was asked for is missing, or not the same in all of a task's attempts."""


@dataclass(frozen=True, eq=False)
class Column:
    """One reward key over the trials, in canonical order, the missing policy already applied.

    `trials` stand row by row beside `values`. With a reducer a row is a task, its value what the
    reducer made, and `attempts` the column that was reduced.
    """

    values: Sequence[Number]
    tasks: Sequence[str]
    trials: Sequence[Trial] = ()
    attempts: Column | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def sizes(self) -> Sequence[int]:
        """How many rows each task has, in order; the rows of a task stand together."""
        if isinstance(self.tasks, LineTasks):
            return [1] * len(self.tasks)
        return list(Counter(self.tasks).values())

    @cached_property
    def ends(self) -> Sequence[int]:
        """Where the rows of each task end, 0 first."""
        return list(accumulate(self.sizes, initial=0))

    @cached_property
    def sizes_tally(self) -> Counter[int]:
        """How many tasks have so many rows."""
        return Counter(self.sizes)

    def task_sums(self, rows: Sequence[int]) -> list[int]:
        """The sum over each task of a number for each row."""
        totals = list(accumulate(rows, initial=0))
        at_ends = [totals[end] for end in self.ends]
        return list(map(sub, at_ends[1:], at_ends))

    @property
    def n_tasks(self) -> int:
        """How many different tasks."""
        return len(self.sizes)

    @cached_property
    def by_task(self) -> dict[str, Sequence[Number]]:
        """A task's attempts, in attempt order."""
        names = dict.fromkeys(self.tasks)
        return dict(zip(names, _parts(self.values, self.ends), strict=True))

    @cached_property
    def scaled(self) -> Scaled:
        """The values as integers over one power of two."""
        return scaled(self.values)

    @cached_property
    def tally(self) -> Counter[Number] | None:
        """How often each value stands, None where too few repeat to be worth counting."""
        return tally(self.values)

    @property
    def counts(self) -> dict[str, Counter[Number]]:
        """How often each value stands in each task."""
        return {task: Counter(values) for task, values in self.by_task.items()}

    def label(self, name: str) -> list[Label]:
        """A label of each row.

        Raises:
            LabelError: a trial lacks it; or with a reducer, a task's attempts differ in it.
        """
        if self.attempts is None:
            return labels_of(self.trials, len(self), name)
        found = _parts(self.attempts.label(name), self.attempts.ends)
        for values, task in zip(found, self.attempts.by_task, strict=True):
            if len(set(values)) > 1:
                raise LabelError(f"label `{name}` is not the same in all attempts of task {task}")
        kept = dict(zip(self.attempts.by_task, (values[0] for values in found), strict=True))
        return [kept[task] for task in self.tasks]

    def numbers(self, name: str) -> list[Number]:
        """Another reward key of each row, or a label that is a number.

        Raises:
            LabelError: a trial has neither or both, or the label is no number.
        """
        if self.attempts is not None:
            raise LabelError(f"`{name}` belongs to attempts, and a `reducer` makes them one value")
        return [self._number(trial, name) for trial in self.trials]

    def having(self, names: Sequence[str]) -> Column:
        """The rows whose trials have these rewards or labels, or such as begin with them."""
        kept = [
            row
            for row, trial in enumerate(self.trials if names else ())
            if all(_has(trial, name) for name in names)
        ]
        if not names or len(kept) == len(self):
            return self
        return self.picked(kept, [self.tasks[i] for i in kept])

    @staticmethod
    def _number(trial: Trial, name: str) -> Number:
        who = trial.trial or trial.task
        reward, label = (trial.rewards or {}).get(name), trial.labels.get(name)
        if reward is not None and label is not None:
            raise LabelError(f"`{name}` is both a reward and a label of {who}")
        found = label if reward is None else reward
        if found is None:
            raise LabelError(
                f"{who} has neither a reward nor a label `{name}` "
                "(`missing`: `skip` leaves such trials out)"
            )
        number = _as_number(found)
        if number is None:
            raise LabelError(f"label `{name}` of {who} is no number")
        return number

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Column]:
        """The rows of each combination of labels, in the order of their names.

        Raises:
            LabelError: a trial lacks one of them.
        """
        return {key: self._rows(rows) for key, rows in grouped_rows(self, names)}

    def picked(self, rows: Sequence[int], tasks: Sequence[str]) -> Column:
        """Some of the rows, as attempts at other tasks."""
        return Column(
            [self.values[i] for i in rows],
            tasks,
            Picked(self.trials, rows) if self.trials else (),
        )

    def _rows(self, rows: list[int]) -> Column:
        kept = Column(
            [self.values[i] for i in rows],
            [self.tasks[i] for i in rows],
            Picked(self.trials, rows) if self.trials else (),
        )
        if self.attempts is None:
            return kept
        tasks = set(kept.tasks)
        whole = [i for i, task in enumerate(self.attempts.tasks) if task in tasks]
        return replace(kept, attempts=self.attempts._rows(whole))


def _parts(values: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    return [values[a:b] for a, b in pairwise(ends)]


def labels_of(trials: Sequence[Trial], n: int, name: str) -> list[Label]:
    """A label of each of n trials.

    Raises:
        LabelError: one lacks it.
    """
    labels = [] if isinstance(trials, LineTrials) else [trial.labels for trial in trials]
    if name == TASK and not any(name in each for each in labels):
        return [trial.task for trial in trials]
    absent = [i for i, each in enumerate(labels) if name not in each]
    if absent:
        first = trials[absent[0]]
        known = sorted({key for each in labels for key in each})
        hint = f"; trials have {', '.join(f'`{k}`' for k in known)}" if known else ""
        raise LabelError(
            f"{len(absent)} of {n} trials have no label `{name}`, "
            f"the first is {first.trial or first.task}{hint}"
        )
    if n and not labels:
        raise LabelError(f"the trials have no labels, so no `{name}`")
    return [each[name] for each in labels]


def _has(trial: Trial, name: str) -> bool:
    known = trial.rewards or {}
    return name in known or f"{name}/0" in known or trial.labels.get(name) is not None


def _as_number(value: Label) -> Number | None:
    """The number, also of a text as CSV has it; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return None if value is None or isinstance(value, bool) or not math.isfinite(value) else value


def label_text(value: Label) -> str:
    """A label as the name of a group: a string as it is, anything else as JSON writes it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class Labelled(Protocol):
    """Rows that have labels."""

    def label(self, name: str) -> list[Label]:
        """A label of each row."""


def grouped_rows(view: Labelled, names: Sequence[str]) -> list[tuple[tuple[str, ...], list[int]]]:
    """The indices of the rows of each combination of labels, in the order of their names."""
    groups: dict[tuple[str, ...], list[int]] = {}
    columns = [list(map(label_text, view.label(name))) for name in names]
    for row, key in enumerate(zip(*columns, strict=True)):
        groups.setdefault(key, []).append(row)
    return sorted(groups.items())
