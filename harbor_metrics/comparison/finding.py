"""What was found of one value of a metric, as a row of the document."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from ..contract.metric import Value
from ..documents.wording import plural
from ..evaluation.planned import Planned
from ..evaluation.result import Outcome
from ..numbers import exact
from ..numbers.exact import Number
from ..numbers.planning import smallest, tasks_needed
from ..numbers.uncertainty import FEW_UNITS
from ..numbers.units import Range
from ..trials.table import Table
from .document import Again, Effort, Relative, Row
from .means import Answer
from .resampled import exact_of, number_of
from .settings import Settings
from .verdicts import Verdict, verdict

# What is smaller where a task is left out, whatever the task; more tasks would make it larger.
TOTALS = {"sum", "total-cost", "total-seconds", "total-tokens"}
RunScripts = Callable[[Sequence[Planned], Table], list[Outcome]]


class Asked(msgspec.Struct, frozen=True):
    """A metric with what is asked of its difference, and what is known of the runs.

    `clusters`: the cluster of each task, if any; `names`: of both runs; `keys`: their rewards;
    `there`: the script that the candidate came with itself, where it is the same.
    """

    planned: Planned
    settings: Settings
    clusters: Mapping[str, object] | None
    run_scripts: RunScripts
    names: tuple[str, str]
    keys: Sequence[str]
    there: Planned | None = None

    def row(self, value: str | None, **fields: Any) -> Row:
        """A row of the metric; which way is better is said of all rows together."""
        return Row(
            metric=self.planned.name,
            type=self.planned.spec.type,
            kwargs=self.planned.shown_kwargs,
            value=value,
            origin=self.planned.origin,
            **fields,
        )


class Finding(msgspec.Struct, frozen=True):
    """Two values over so many tasks, and how sure their difference is.

    `attempts`: how many each task has on both sides, None where that is not one number.
    """

    base: Number
    candidate: Number
    difference: Number | None
    answer: Answer
    n: int
    attempts: int | None
    notes: list[str]

    def row(self, asked: Asked, name: str, notes: list[str], left_out: int) -> Row:
        """The row of the document; `left_out` tasks were paired and have no value."""
        answer, settings = self.answer, asked.settings
        found, again, relative = answer.found, answer.reruns, answer.relative
        by_tasks = settings.over == "tasks" and settings.cluster is None
        by_tasks = by_tasks and asked.planned.spec.type not in TOTALS
        of_one = Fraction(found.stderr) ** 2 * self.n if found.stderr and by_tasks else None
        of_attempts = None if again is None else again.variance * self.n
        of_tasks = None
        if of_one is not None and of_attempts is not None:
            of_tasks = max(Fraction(0), of_one - of_attempts)
        df = answer.n - 1 if found.df is None else found.df
        least = None
        if found.stderr and df > 0:
            least = smallest(found.stderr, df, settings.level, settings.power)
        if answer.method == "sign flip" and self.difference is not None:
            shown = found.p is not None and found.p < 1 - settings.level
            word: Verdict = ("higher" if self.difference > 0 else "lower") if shown else "~"
        else:
            word = verdict(found.low, found.high, settings.margin)
        return asked.row(
            name,
            base=self.base,
            candidate=self.candidate,
            difference=self.difference,
            stderr=found.stderr,
            low=found.low,
            high=found.high,
            p=found.p,
            method=answer.method,
            df=found.df,
            n=answer.n,
            left_out=left_out,
            verdict=word,
            relative=None if relative is None else Relative(**msgspec.structs.asdict(relative)),
            attempts=None if again is None else Again(**msgspec.structs.asdict(again.found)),
            checks=answer.checks,
            smallest=least,
            task_variance=None if of_tasks is None else exact.rounded(of_tasks),
            rerun_variance=None if of_attempts is None else exact.rounded(of_attempts),
            efforts=self._efforts(settings, of_one, of_tasks),
            notes=[*notes, *self.notes, *_cautions(answer, settings)],
            reason=answer.reason,
        )

    def _efforts(
        self, settings: Settings, of_one: Fraction | None, of_tasks: Fraction | None
    ) -> list[Effort]:
        """The tasks that it takes with as many attempts as now, and with twice as many."""
        if settings.detect is None or of_one is None:
            return []
        variances: dict[int | None, Fraction] = {self.attempts: of_one}
        again = self.answer.reruns
        if self.attempts is not None and again is not None and of_tasks is not None:
            within = sum(again.within, Fraction(0))
            variances = {k: of_tasks + within / k for k in (self.attempts, 2 * self.attempts)}
        detect, level, power = settings.detect, settings.level, settings.power
        return [
            Effort(attempts=k, tasks=tasks_needed(float(variance), detect, level, power))
            for k, variance in variances.items()
        ]


def _cautions(answer: Answer, settings: Settings) -> list[str]:
    """What a reader should know of an interval: few tasks, tests that disagree."""
    notes = []
    found = answer.found
    if answer.n < FEW_UNITS and found.low is not None and settings.over == "tasks":
        units = plural(answer.n, "cluster" if answer.method == "clustered t" else "task")
        notes.append(
            f"{units}: so few make the interval wide, and more attempts hardly narrow it"
            if answer.range <= Range.SHARE
            else f"{units}: of few, skewed amounts the interval covers less than its level"
        )
    if found.p is not None:
        shown = found.p < 1 - settings.level
        others = [
            f"{name.replace('_', ' ')} {p:.2g}"
            for name, p in answer.checks.items()
            if p is not None and (p < 1 - settings.level) != shown
        ]
        if others:
            notes.append(f"hangs on the test: {answer.method} p {found.p:.2g}, {', '.join(others)}")
    return notes


def less(candidate: Value | None, base: Value | None) -> Number | None:
    """The difference, rounded once; None beyond binary64, or where a side has no number."""
    numbers = [number_of(side) for side in (candidate, base)]
    if any(isinstance(number, str) for number in numbers):
        return None
    difference = exact_of(candidate) - exact_of(base)
    rounded = exact.rounded(difference)
    whole = all(isinstance(number, int) for number in numbers)
    return int(difference) if whole and rounded is not None else rounded


def is_finite(row: Row) -> bool:
    """Whether all numbers of a row are such as a document can hold."""
    parts = [msgspec.to_builtins(row)]
    for part in parts:
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return all(math.isfinite(part) for part in parts if isinstance(part, float))
