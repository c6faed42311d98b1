"""One metric over one table: its named values, what each is over, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from ..contract.estimate import Estimate, Undefined
from ..contract.metric import Bound, Value
from ..contract.spec import MetricSpec
from ..documents.wording import plural
from ..errors import MetricFailure
from ..metrics.moments import NO_VALUES
from ..numbers import exact, uncertainty
from ..numbers.exact import Number
from ..numbers.uncertainty import Over
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.table import Missing, Table
from .result import Basis, Reading, Uncertainty

# The metrics that of rewards of 0 and 1 are the share of those that pass.
_MEANS = ("mean", "accuracy")
# The kwargs of our metrics that name other rewards, or labels.
_BESIDE = (
    "weight",
    "reference",
    "probabilities",
    "likelihoods",
    "confidence",
    "low",
    "high",
    "minutes",
    "per",
)


class FewUnits(msgspec.Struct):
    """The smallest numbers of independent units that standard errors and intervals rest on."""

    error: int | None = None
    shares: int | None = None
    amounts: int | None = None

    def rests_on(self, found: Estimate) -> None:
        """Take in a value that is itself a standard error."""
        if found.fewest is not None:
            self.error = min(found.fewest, self.error or found.fewest)

    def surrounded(self, found: Estimate, over: Over) -> None:
        """Take in a value that an interval stands beside."""
        fewest = uncertainty.fewest(found.strata)
        if over == "attempts":
            return
        if found.range <= Range.SHARE:
            self.shares = min(fewest, self.shares or fewest)
        elif fewest > 1:
            self.amounts = min(fewest, self.amounts or fewest)

    def notes(self, *, grouped: bool) -> list[str]:
        """What a reader should know where there are few."""
        where = " in the smallest group" if grouped else ""
        notes = []
        if self.error is not None and self.error < uncertainty.FEW_UNITS:
            notes.append(
                f"the standard error rests on {self.error} independent units{where} and is too "
                f"small below {uncertainty.FEW_UNITS}"
            )
        if self.shares is not None and self.shares < uncertainty.FEW_UNITS:
            notes.append(
                f"{plural(self.shares, 'task')}{where}: the interval is wide because the tasks "
                "are few; more attempts at them hardly narrow it"
            )
        if self.amounts is not None and self.amounts < uncertainty.FEW_UNITS:
            notes.append(
                f"{plural(self.amounts, 'task')}{where}: of few tasks with skewed amounts the "
                "interval covers less than its level"
            )
        return notes


class Measured(msgspec.Struct):
    """The fields of an outcome that a metric's function fills."""

    kwargs: dict[str, Any]
    values: dict[str, Number | None] = {}
    n: dict[str, int] = {}
    basis: dict[str, Basis] = {}
    reasons: dict[str, str] = {}
    uncertainty: dict[str, Uncertainty] = {}
    notes: list[str] = []
    few: FewUnits = msgspec.field(default_factory=FewUnits)

    def add(
        self,
        name: str,
        value: Value,
        n: int,
        level: float | None,
        over: Over,
        basis: Basis | None = None,
    ) -> None:
        """Take in one value over n rows; `basis` is what these are, unless the value says it.

        Raises:
            MetricFailure: there is one of that name.
        """
        if name in self.values:
            raise two_values(name)
        if not isinstance(value, Undefined) and _is_beyond(value):
            value = Undefined("the value is beyond the largest binary64 number")
        if isinstance(value, Undefined):
            self.values[name] = None
            self.n[name] = n if value.n is None else value.n
            self.reasons[name] = value.reason
            if basis is not None and value.n in (None, n):
                self.basis[name] = Basis(trials=basis.trials, tasks=basis.tasks)
            return
        found = value if isinstance(value, Estimate) else Estimate(value=value)
        if level is not None:
            found = found.known
        self.values[name] = found.value
        self.n[name] = n if found.n is None else found.n
        if found.over is not None:
            trials, tasks = found.over
            self.basis[name] = Basis(trials=trials, tasks=tasks)
        elif basis is not None and found.n in (None, n):
            self.basis[name] = basis
        self.notes += [note for note in dict.fromkeys(found.notes) if note not in self.notes]
        self.few.rests_on(found)
        if found.strata and level is not None:
            self.uncertainty[name] = _uncertainty(found, level, over)
            self.few.surrounded(found, over)


def _is_beyond(value: Number | Estimate) -> bool:
    """Whether a value is not a finite binary64 number, which no document can hold."""
    number = value.value if isinstance(value, Estimate) else value
    if isinstance(number, int):
        return exact.rounded(Fraction(number)) is None
    return not math.isfinite(number)


def measure(
    bound: Bound,
    spec: MetricSpec,
    table: Table,
    *,
    missing: Missing | None,
    level: float | None,
    over: Over = "tasks",
) -> Measured:
    """The metric's values over the table; `missing` where its own kwargs do not say.

    Raises:
        MetricFailure: the metric is another's, and raises or returns what is not a number; the
            policy is `error` and a trial lacks the key; a trial lacks a label that was asked for.
    """
    measured = Measured(dict(spec.kwargs))
    policy = policy_of(bound, missing)
    if policy is not None:
        measured.kwargs["missing"] = policy
    for output in outputs(bound, spec, table, missing=missing, with_basis=True):
        measured.add(output.name, output.value, output.n, level, over, output.basis)
    measured.notes += measured.few.notes(grouped=bound.metric.takes == "inner")
    return measured


def two_values(name: str) -> MetricFailure:
    """Why a metric fails that gives two values of one name."""
    return MetricFailure("duplicate-output", f"two values are called `{name}`")


def policy_of(bound: Bound, missing: Missing | None) -> Missing | None:
    """What a missing reward counts as: as the metric's own kwargs say, else `missing`."""
    return None if bound.takes == "table" else bound.common.missing or missing


class Output(msgspec.Struct, frozen=True):
    """A value of a metric by its name, how many trials or tasks it is of, and what of them.

    `key`: the reward that it is of, where there are several.
    """

    name: str
    value: Value
    n: int
    basis: Basis | None = None
    key: str | None = None


def outputs(
    bound: Bound,
    spec: MetricSpec,
    table: Table,
    *,
    missing: Missing | None,
    with_basis: bool = False,
    among: Sequence[str] = (),
) -> Iterator[Output]:
    """The metric's values over the table, with what each was computed from.

    A value is called by its reward where there are several: in the table, or `among` those of all
    trials, of which the table has some.

    Raises:
        MetricFailure: as `measure`.
    """
    if bound.takes == "table":
        reason = Undefined("there are no trials") if not len(table) else None
        whole = Basis(trials=len(table), tasks=table.n_tasks)
        for name, value in _outputs(spec.type, None, bound(table)):
            yield Output(name, reason or value, len(table), whole)
        return
    policy = policy_of(bound, missing)
    keys = [key for key in table.columns if not _is_beside(key, bound)]
    single = len([key for key in among or keys if not _is_beside(key, bound)]) <= 1
    if bound.common.key is not None:
        keys, single = [bound.common.key], True
    for key in keys or (None,):
        reason = _undefined(table, key)
        view = Column((), ())
        if reason is None:
            view = table.column(key if key is not None else "", policy or "zero")
            if policy == "skip":
                view = view.having(_beside(bound))
        n = len(table) if reason else bound.rows(view)
        rows = view
        if bound.reducer is not None and reason is None:
            reduced = bound.reducer(view, skip=policy == "skip")
            if isinstance(reduced, Undefined):
                n, reason, view = view.n_tasks, reduced, Column((), ())
            else:
                n, view = len(reduced), reduced
        found = bound(view)
        basis = _basis(bound, rows, found, table, key, policy) if with_basis else None
        of_several = None if single else key
        for name, value in _outputs(spec.type, of_several, found):
            yield Output(name, reason or value, n, basis, of_several)


def _basis(
    bound: Bound,
    rows: Column,
    found: Value | dict[str, Value],
    table: Table,
    key: str | None,
    policy: Missing | None,
) -> Basis:
    """What values over these rows are over, before a reducer makes one of a task's."""
    if not len(rows):
        return Basis(trials=len(table), tasks=table.n_tasks)
    optional: dict[str, Any] = {}
    if bound.metric.is_ours and _is_plain(bound):
        passed = _passed(bound, rows)
        if passed is not None:
            optional["passed"] = passed
        otherwise = _otherwise(bound, rows, found, table, key, policy or "zero")
        if otherwise is not None:
            optional["otherwise"] = otherwise
    return Basis(trials=len(rows), tasks=rows.n_tasks, **optional)


def _is_plain(bound: Bound) -> bool:
    """Whether the values are of the rows as they are, without a reducer and without weights."""
    return bound.takes == "column" and bound.reducer is None and not _beside(bound)


def _passed(bound: Bound, rows: Column) -> int | None:
    """How many rows pass, where the value is the share of them that does."""
    if bound.metric.name == "pass-rate":
        passes = rows.passes(bound.arguments["threshold"])
        return sum(passed * times for (_, passed), times in passes.items())
    if bound.metric.name in _MEANS and rows.range is Range.BINARY:
        return int(rows.total or 0)
    return None


def _otherwise(
    bound: Bound,
    rows: Column,
    found: Value | dict[str, Value],
    table: Table,
    key: str | None,
    policy: Missing,
) -> Reading | None:
    """A mean with missing rewards counted the other way; None where none is missing."""
    if policy == "error" or not isinstance(found, Estimate) or not (found.strata or found.later):
        return None
    other: Missing = "skip" if policy == "zero" else "zero"
    view = table.column(key or "", other)
    if len(view) == len(rows) or not len(view):
        return None
    value = bound(view)
    if not isinstance(value, Estimate):
        return None
    return Reading(missing=other, value=value.value, n=len(view))


def _beside(bound: Bound) -> list[str]:
    """The rewards that those of the key are weighted by or compared with."""
    if not bound.metric.is_ours:
        return []
    named = (bound.arguments.get(name) for name in _BESIDE)
    return [name for name in named if isinstance(name, str) and name]


def _is_beside(key: str, bound: Bound) -> bool:
    """Whether a reward is weighed with or compared with, and so no result of its own."""
    return any(key == name or key.startswith(f"{name}/") for name in _beside(bound))


def _outputs(
    type_: str, key: str | None, value: Value | dict[str, Value]
) -> list[tuple[str, Value]]:
    """Outputs by name: the metric's type, or the reward key; several outputs by their own."""
    if not isinstance(value, dict):
        return [(type_ if key is None else key, value)]
    return [(name if key is None else f"{key}/{name}", each) for name, each in value.items()]


def _undefined(table: Table, key: str | None) -> Undefined | None:
    if not len(table):
        return Undefined("there are no trials")
    if not table.n_scored:
        return Undefined(f"0 of {len(table)} trials have rewards")
    if key is not None and key not in table.columns:
        return Undefined(f"no trial has the reward `{key}`")
    if key is None and table.columns:
        # But for those that the metric takes beside it, as weights. Rewards without any key are 0.
        return Undefined(NO_VALUES)
    return None


def _uncertainty(estimate: Estimate, level: float, over: Over) -> Uncertainty:
    found = uncertainty.interval(estimate.value, estimate.strata, level, over)
    return Uncertainty(
        stderr=found.stderr,
        low=found.low,
        high=found.high,
        level=level,
        method=found.method,
        over=over,
        n_effective=found.n_effective,
        reason=found.reason,
    )
