"""One reward key over many trials: what most metrics read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import sub
from typing import Any, ClassVar

import msgspec

from ..errors import MetricFailure
from ..numbers import exact
from ..numbers.exact import Number, Scaled, scaled, tally
from ..numbers.units import Range, Units
from .labelled import as_number, grouped_rows, label_text, labels_of
from .trial import Label, LineTasks, Picked, TaskNames, Trial, times_of

Kind = tuple[tuple[Number, int], ...]


class Column(msgspec.Struct, frozen=True, eq=False, dict=True, weakref=True):
    """One reward key over the trials, in canonical order, the missing policy already applied.

    `trials` stand row by row beside `values`. With a reducer a row is a task, its value is what
    the reducer gave, and `attempts` is the column that was reduced.
    """

    has_rows: ClassVar[bool] = True

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
        return list(times_of(self.tasks).values())

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
        return dict(zip(self.names, _parts(self.values, self.ends), strict=True))

    @cached_property
    def scaled(self) -> Scaled:
        """The values as integers over one power of two."""
        return scaled(self.values)

    @cached_property
    def tally(self) -> Counter[Number] | None:
        """Value -> how often it stands; None where too few repeat to be worth counting."""
        return tally(self.values)

    @property
    def names(self) -> list[str]:
        """The tasks, each once, in the order of the rows."""
        return list(times_of(self.tasks))

    @property
    def counts(self) -> dict[str, Counter[Number]]:
        """Task -> value -> how often it stands there."""
        return {task: Counter(values) for task, values in self.by_task.items()}

    @property
    def total(self) -> Number | None:
        """The sum, rounded once; an int where all values are, None beyond binary64."""
        return exact.total(self.values)

    @property
    def least(self) -> Number:
        """The smallest value."""
        return min(self.values)

    @property
    def most(self) -> Number:
        """The largest value."""
        return max(self.values)

    @property
    def integers_only(self) -> bool:
        """Whether no value is a float."""
        return float not in map(type, self.values)

    @cached_property
    def range(self) -> Range:
        """The narrowest range that all values lie in."""
        return Range.of(self.tally or self.values)

    @cached_property
    def ordered(self) -> Sequence[Number]:
        """The values, sorted."""
        return sorted(self.values)

    @property
    def counter(self) -> Counter[Number]:
        """Value -> how often it stands."""
        return self.tally or Counter(self.values)

    @cached_property
    def kinds(self) -> Counter[Kind]:
        """What a task's attempts gave, in any order -> how many tasks that is true of."""
        return Counter(self.kinds_by_task())

    def kinds_by_task(self) -> Iterable[Kind]:
        """The kind of each task, in order."""
        return map(kind_of, self.by_task.values())

    def passes(self, threshold: float) -> Counter[tuple[int, int]]:
        """(n, c) -> how many tasks have n attempts of which c reach the threshold."""
        if threshold not in self._passes:
            self._passes[threshold] = Counter(self.passes_by_task(threshold))
        return self._passes[threshold]

    def passes_by_task(self, threshold: float) -> Iterable[tuple[int, int]]:
        """How many attempts each task has, in order, and how many of them reach the threshold."""
        # In C: a comparison written out takes four times as long.
        reached = list(map(float(threshold).__le__, self.values))
        return zip(self.sizes, self.task_sums(reached), strict=True)

    @cached_property
    def _passes(self) -> dict[float, Counter[tuple[int, int]]]:
        return {}

    def shorter(self, k: int) -> tuple[int, str, int] | None:
        """How many tasks have fewer than k attempts, the first of them, and how many it has."""
        short = sum(times for size, times in self.sizes_tally.items() if size < k)
        if not short:
            return None
        first = next(i for i, size in enumerate(self.sizes) if size < k)
        return short, self.tasks[self.ends[first]], self.sizes[first]

    def alike(self, threshold: float | None) -> Iterable[tuple[Sequence[Number], int, str]]:
        """Where there are no rows: attempts that tasks gave, how many tasks, the first by name.

        With a threshold the attempts may be others that reach it as often. No name: not known.
        """
        raise NotImplementedError

    def of_tasks(self, values: Sequence[tuple[Number, int]]) -> Column:
        """Where there are no rows: the column of values of tasks, each with how many have it."""
        raise NotImplementedError

    def reduced(self, reducer: str) -> Column | None:  # noqa: ARG002  # of an engine
        """Where there are no rows: what a reducer gives; None where `alike` is to say it."""
        return None

    def units(self, cluster: str | None) -> Units | None:  # noqa: ARG002  # of counts
        """The units of the mean, where they are known without the rows."""
        return None

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
            if len(values) > 1 and len(set(map(label_text, values))) > 1:
                raise MetricFailure(
                    "missing-label",
                    f"label `{name}` is not the same in all attempts of task {task}",
                )
            labels[task] = values[0]
        return [labels[task] for task in self.tasks]

    def of_trials(self, metric: str) -> Sequence[Trial]:
        """The trials of the rows, for a metric that reads other rewards of each.

        Raises:
            MetricFailure: a reducer has made rows of tasks.
        """
        if self.attempts is not None:
            raise MetricFailure(
                "invalid-metric-kwargs",
                f"`{metric}` takes no `reducer`: it reads several rewards of each trial",
                "reducer",
            )
        return self.trials

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

    def pairs(self, name: str) -> Counter[tuple[Number, Number]]:
        """How often each other reward, or label, of that name stands beside each value.

        Raises:
            MetricFailure: as `numbers`.
        """
        return Counter(zip(self.numbers(name), self.values, strict=True))

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
            TaskNames([self.tasks[i] for i in rows]),
            Picked(self.trials, rows) if self.trials else (),
        )
        if self.attempts is None:
            return kept
        tasks = set(kept.tasks)
        attempts = [i for i, task in enumerate(self.attempts.tasks) if task in tasks]
        return msgspec.structs.replace(kept, attempts=self.attempts._rows(attempts))


def _parts(values: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    return [values[a:b] for a, b in pairwise(ends)]


def _has(trial: Trial, name: str) -> bool:
    known = trial.rewards or {}
    return name in known or f"{name}/0" in known or trial.labels.get(name) is not None


def kind_of(attempts: Sequence[Number]) -> Kind:
    """The different rewards of a task's attempts, sorted, and how often each stands."""
    return tuple(sorted(Counter(attempts).items()))
