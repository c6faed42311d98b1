"""What a reducer is: a plain function over one task's attempts that gives one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from ..errors import MetricFailure, NeedsRowsError
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.trial import Label, LineTrials
from . import strangers
from .described import Described
from .estimate import Estimate, Undefined
from .signature import converted, kwargs_struct, spec_name

# The reducers whose value depends on the order of the attempts.
_OF_ORDER = ("first", "last", "mode", "any-first-k", "all-first-k")


class Voted(list[Number]):
    """The attempts at a task, and what each votes for: a label, or its reward where it has none."""

    def __init__(self, rewards: Sequence[Number], votes: Sequence[Label]) -> None:
        super().__init__(rewards)
        self.votes = votes


class Reducer(Described, frozen=True, kw_only=True):
    """A plain function over a task's attempts, in attempt order."""

    def bind(self, kwargs: Mapping[str, Any]) -> BoundReducer:
        """The reducer with its kwargs, checked and typed.

        Raises:
            MetricFailure: a kwarg is unknown, missing or of the wrong type.
        """
        arguments = converted(f"reducer {self.name}", kwargs, self.kwargs)
        return BoundReducer(self, msgspec.structs.asdict(arguments))


class BoundReducer(msgspec.Struct, frozen=True):
    """A reducer and its kwargs: ready to be called with a column of attempts."""

    reducer: Reducer
    arguments: dict[str, Any]

    @property
    def reads_labels(self) -> bool:
        """Whether labels of attempts have a say."""
        return self.arguments.get("label") is not None

    def __call__(self, rewards: Column, *, skip: bool) -> Column | Undefined:
        """A column of one value a task; a task without one is left out, or leaves it undefined."""
        if not rewards.has_rows:
            return self._of_alike(rewards, skip=skip)
        values: list[Number] = []
        tasks: list[str] = []
        reason = ""
        for task, attempts in self._attempts(rewards):
            value = self._value(attempts)
            if not isinstance(value, Undefined):
                values.append(value)
                tasks.append(task)
                continue
            reason = reason or f"task {task}: {value.reason}"
            if not skip:
                return Undefined(f"{reason} (`missing`: `skip` leaves such tasks out)")
        if reason and not values:
            return Undefined(f"no task has a value: {reason}")
        return Column(values, tasks, attempts=rewards)

    def _attempts(self, rewards: Column) -> Iterable[tuple[str, Sequence[Number]]]:
        """Each task's attempts, with their votes where a label says these."""
        label = self.arguments.get("label") if self.reducer.is_ours else None
        if label is None or isinstance(rewards.trials, LineTrials):
            return rewards.by_task.items()
        rows = zip(rewards.values, rewards.trials, strict=True)
        votes = [trial.labels.get(label, value) for value, trial in rows]
        return [
            (task, Voted(attempts, votes[a:b]))
            for (task, attempts), (a, b) in zip(
                rewards.by_task.items(), pairwise(rewards.ends), strict=True
            )
        ]

    def _of_alike(self, rewards: Column, *, skip: bool) -> Column | Undefined:
        """The same of attempts that were counted: tasks whose attempts gave the same have one."""
        if not self.reducer.is_ours or self.reducer.name in _OF_ORDER:
            raise NeedsRowsError("the attempts of each task in order")
        if self.arguments.get("label") is not None:
            raise NeedsRowsError("the labels of each task's attempts")
        reduced = rewards.reduced(self.reducer.name)
        if reduced is not None:
            return reduced
        values: list[tuple[Number, int]] = []
        without: list[tuple[str, str]] = []
        alike = rewards.alike(self.arguments.get("threshold"))
        for attempts, tasks, name in alike:
            value = self._value(attempts)
            if isinstance(value, Undefined):
                without.append((name, value.reason))
            else:
                values.append((value, tasks))
        if without:
            name, why = min(without)
            if not name:
                raise NeedsRowsError("the first task without a value")
            reason = f"task {name}: {why}"
            if not skip:
                return Undefined(f"{reason} (`missing`: `skip` leaves such tasks out)")
            if not values:
                return Undefined(f"no task has a value: {reason}")
        return rewards.of_tasks(values)

    def _value(self, attempts: Sequence[Number]) -> Number | Undefined:
        value = self.reducer.call(attempts, self.arguments)
        if isinstance(value, Estimate | dict):
            raise MetricFailure(
                strangers.RAISED, f"{self.reducer.origin} returned {value!r}, which is no number"
            )
        number: Number | Undefined = value
        return number


def reducer_of(function: Callable[..., Any]) -> Reducer:
    """Describe a function as a reducer.

    Raises:
        TypeError: a parameter after the first is not keyword-only, or cannot be read.
    """
    return Reducer(name=spec_name(function), function=function, kwargs=kwargs_struct(function))
