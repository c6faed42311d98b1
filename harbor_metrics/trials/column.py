"""One reward key over many trials: what most metrics read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import sub
from typing import Any, Protocol

import msgspec

from ..errors import MetricFailure
from ..numbers.exact import Number, Scaled, scaled, tally
from .trial import Label, LineTasks, LineTrials, Picked, Trial

# The label that every trial has.
TASK = "task"
# Every integer below is a float, and no two are the same float.
_EXACT = 2**53


class Column(msgspec.Struct, frozen=True, eq=False, dict=True, weakref=True):
    """One reward key over the trials, in canonical order, the missing policy already applied.

    `trials` stand row by row beside `values`. With a reducer a row is a task, its value is what
    the reducer gave, and `attempts` is the column that was reduced.
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
        """Number of rows of a task -> how many tasks have that number."""
        return Counter(self.sizes)

    def task_sums(self, rows: Sequence[int]) -> list[int]:
        """For each task, the sum of the numbers that stand beside its rows in `rows`."""
        totals = list(accumulate(rows, initial=0))
        at_ends = [totals[end] for end in self.ends]
        return list(map(sub, at_ends[1:], at_ends))

    @property
    def n_tasks(self) -> int:
        """How many different tasks there are."""
        return len(self.sizes)

    @cached_property
    def by_task(self) -> dict[str, Sequence[Number]]:
        """Task -> the values of its attempts, in attempt order."""
        names = dict.fromkeys(self.tasks)
        return dict(zip(names, _parts(self.values, self.ends), strict=True))

    @cached_property
    def scaled(self) -> Scaled:
        """The values as integers over one power of two."""
        return scaled(self.values)

    @cached_property
    def tally(self) -> Counter[Number] | None:
        """Value -> how often it stands; None where too few repeat to be worth counting."""
        return tally(self.values)

    @property
    def counts(self) -> dict[str, Counter[Number]]:
        """Task -> value -> how often it stands there."""
        return {task: Counter(values) for task, values in self.by_task.items()}

    def label(self, name: str) -> list[Label]:
        """The label of that name, row by row.

        Raises:
            MetricFailure: a trial lacks it; or with a reducer, a task's attempts differ in it.
        """
        if self.attempts is None:
            return labels_of(self.trials, len(self), name)
        parts = _parts(self.attempts.label(name), self.attempts.ends)
        labels: dict[str, Label] = {}
        for task, values in zip(self.attempts.by_task, parts, strict=True):
            if len(set(values)) > 1:
                raise MetricFailure(
                    "missing-label",
                    f"label `{name}` is not the same in all attempts of task {task}",
                )
            labels[task] = values[0]
        return [labels[task] for task in self.tasks]

    def numbers(self, name: str) -> list[Number]:
        """Row by row, another reward key or a label that is a number.

        Raises:
            MetricFailure: a trial has neither or both, or the label is not a number.
        """
        if self.attempts is not None:
            raise MetricFailure(
                "missing-label",
                f"`{name}` belongs to attempts, and a `reducer` makes them one value",
            )
        return [self._number(trial, name) for trial in self.trials]

    def having(self, names: Sequence[str]) -> Column:
        """The rows whose trials have all of these as a reward, as `NAME/0`, or as a label."""
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
            raise MetricFailure("missing-label", f"`{name}` is both a reward and a label of {who}")
        value = label if reward is None else reward
        if value is None:
            raise MetricFailure(
                "missing-label",
                f"{who} has neither a reward nor a label `{name}` "
                "(`missing`: `skip` leaves such trials out)",
            )
        number = as_number(value)
        if number is None:
            raise MetricFailure("missing-label", f"label `{name}` of {who} is no number")
        return number

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Column]:
        """The rows of each combination of labels, sorted by the labels.

        Raises:
            MetricFailure: a trial lacks one of the labels.
        """
        return {key: self._rows(rows) for key, rows in grouped_rows(self, names)}

    def picked(self, rows: Sequence[int], tasks: Sequence[str]) -> Column:
        """The rows at these indices, as attempts at these tasks."""
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
        attempts = [i for i, task in enumerate(self.attempts.tasks) if task in tasks]
        return msgspec.structs.replace(kept, attempts=self.attempts._rows(attempts))


def _parts(values: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    return [values[a:b] for a, b in pairwise(ends)]


def labels_of(trials: Sequence[Trial], n: int, name: str) -> list[Label]:
    """The label of that name of each of n trials.

    Raises:
        MetricFailure: a trial lacks it.
    """
    of_trials = [] if isinstance(trials, LineTrials) else [trial.labels for trial in trials]
    if name == TASK and not any(name in labels for labels in of_trials):
        return [trial.task for trial in trials]
    absent = [i for i, labels in enumerate(of_trials) if name not in labels]
    if absent:
        first = trials[absent[0]]
        known = sorted({key for labels in of_trials for key in labels})
        hint = f"; trials have {', '.join(f'`{k}`' for k in known)}" if known else ""
        raise MetricFailure(
            "missing-label",
            f"{len(absent)} of {n} trials have no label `{name}`, "
            f"the first is {first.trial or first.task}{hint}",
        )
    if n and not of_trials:
        raise MetricFailure("missing-label", f"the trials have no labels, so no `{name}`")
    return [labels[name] for labels in of_trials]


def _has(trial: Trial, name: str) -> bool:
    known = trial.rewards or {}
    return name in known or f"{name}/0" in known or trial.labels.get(name) is not None


def as_number(value: Label) -> Number | None:
    """The number that a label is, or that it is the text of, as in a CSV; else None."""
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
        """The label of that name, row by row."""


def grouped_rows(view: Labelled, names: Sequence[str]) -> list[tuple[tuple[str, ...], list[int]]]:
    """The indices of the rows of each combination of labels, sorted by the labels."""
    groups: dict[tuple[str, ...], list[int]] = {}
    columns = [list(map(label_text, view.label(name))) for name in names]
    for row, key in enumerate(zip(*columns, strict=True)):
        groups.setdefault(key, []).append(row)
    return sorted(groups.items())
