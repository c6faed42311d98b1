"""One metric over one table: its named values, what each is over, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from . import exact, uncertainty
from .column import Column
from .estimate import Estimate, Undefined
from .exact import Number
from .metric import MetricSpec, Value, lookup
from .result import Uncertainty
from .table import Missing, Table


@dataclass(slots=True)
class Measured:
    """The fields of an outcome that a metric's function fills."""

    kwargs: dict[str, Any]
    values: dict[str, Number | None] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    uncertainty: dict[str, Uncertainty] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: Value, n: int, level: float | None) -> None:
        """Take in one value over n rows."""
        if isinstance(value, int) and exact.rounded(Fraction(value)) is None:
            value = Undefined("the value is beyond the largest binary64 number")
        if isinstance(value, Undefined):
            self.values[name] = None
            self.n[name] = n
            self.reasons[name] = value.reason
            return
        found = value if isinstance(value, Estimate) else Estimate(value=value)
        self.values[name] = found.value
        self.n[name] = n if found.n is None else found.n
        notes = list(found.notes)
        if found.strata and level is not None:
            self.uncertainty[name] = _uncertainty(found, level)
            notes += uncertainty.few(found.strata)
        self.notes += [note for note in dict.fromkeys(notes) if note not in self.notes]


def measure(
    spec: MetricSpec, table: Table, *, missing: Missing | None, level: float | None
) -> Measured:
    """The metric's values over the table; `missing` where its own kwargs do not say.

    Raises:
        SpecError: the metric does not exist, or does not take these kwargs.
        MissingRewardError: the policy is `error` and a trial lacks the key.
        LabelError: a trial lacks a label that was asked for.
    """
    bound = lookup(spec.type).bind(spec.kwargs)
    measured = Measured(dict(spec.kwargs))
    if bound.takes == "table":
        reason = Undefined("there are no trials") if not len(table) else None
        for name, value in _outputs(spec.type, None, bound(table)):
            measured.add(name, reason or value, len(table), level)
        return measured
    policy = bound.common.missing or missing
    if policy is not None:
        measured.kwargs["missing"] = policy
    single = bound.common.key is not None or len(table.columns) <= 1
    keys: list[str] = [bound.common.key] if bound.common.key is not None else list(table.columns)
    for key in keys or (None,):
        reason = _undefined(table, key)
        view = Column((), ())
        if reason is None:
            view = table.column(key if key is not None else "", policy or "zero")
        n = len(table) if reason else len(view)
        if bound.reducer is not None and reason is None:
            reduced = bound.reducer(view, skip=policy == "skip")
            if isinstance(reduced, Undefined):
                n, reason, view = view.n_tasks, reduced, Column((), ())
            else:
                n, view = len(reduced), reduced
        for name, value in _outputs(spec.type, None if single else key, bound(view)):
            measured.add(name, reason or value, n, level)
    return measured


def _outputs(
    type_: str, key: str | None, value: Value | dict[str, Value]
) -> list[tuple[str, Value]]:
    """The names of DESIGN 4.7: the type, or the reward key; several outputs by their own."""
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
    return None


def _uncertainty(estimate: Estimate, level: float) -> Uncertainty:
    found = uncertainty.automatic(estimate, level)
    return Uncertainty(
        stderr=found.stderr,
        low=found.low,
        high=found.high,
        level=level,
        method=found.method,
        reason=found.reason,
    )
