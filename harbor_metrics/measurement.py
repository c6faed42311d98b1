"""One metric over one table: its named values, what each is over, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from . import exact, uncertainty
from .column import Column
from .estimate import Estimate, Undefined
from .exact import Number
from .metric import Bound, MetricSpec, Value
from .result import Uncertainty
from .signature import SpecError
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
    fewest: int | None = None

    def add(self, name: str, value: Value, n: int, level: float | None) -> None:
        """Take in one value over n rows.

        Raises:
            SpecError: there is one of that name.
        """
        if name in self.values:
            raise SpecError("duplicate-output", f"two values are called `{name}`")
        if isinstance(value, int) and exact.rounded(Fraction(value)) is None:
            value = Undefined("the value is beyond the largest binary64 number")
        if isinstance(value, Undefined):
            self.values[name] = None
            self.n[name] = n if value.n is None else value.n
            self.reasons[name] = value.reason
            return
        found = value if isinstance(value, Estimate) else Estimate(value=value)
        if level is not None:
            found = found.known
        self.values[name] = found.value
        self.n[name] = n if found.n is None else found.n
        self.notes += [note for note in dict.fromkeys(found.notes) if note not in self.notes]
        rests_on = found.fewest
        if found.strata and level is not None:
            self.uncertainty[name] = _uncertainty(found, level)
            rests_on = uncertainty.fewest(found.strata)
        if rests_on is not None and rests_on > 1:
            self.fewest = min(rests_on, self.fewest or rests_on)

    def say_how_few(self, *, grouped: bool) -> None:
        """A note where there are too few independent units to trust a standard error."""
        if self.fewest is not None and self.fewest < uncertainty.FEW_CLUSTERS:
            where = ", in the smallest group," if grouped else ""
            self.notes.append(
                f"standard errors and intervals rest on {self.fewest} independent units{where} "
                f"and are too small below {uncertainty.FEW_CLUSTERS}"
            )


def measure(
    bound: Bound, spec: MetricSpec, table: Table, *, missing: Missing | None, level: float | None
) -> Measured:
    """The metric's values over the table; `missing` where its own kwargs do not say.

    Raises:
        SpecError: the metric is another's, and raises or returns what is no number.
        MissingRewardError: the policy is `error` and a trial lacks the key.
        LabelError: a trial lacks a label that was asked for.
    """
    measured = Measured(dict(spec.kwargs))
    if bound.takes == "table":
        reason = Undefined("there are no trials") if not len(table) else None
        for name, value in _outputs(spec.type, None, bound(table)):
            measured.add(name, reason or value, len(table), level)
        measured.say_how_few(grouped=bound.metric.takes == "inner")
        return measured
    policy = bound.common.missing or missing
    if policy is not None:
        measured.kwargs["missing"] = policy
    keys = [key for key in table.columns if not _is_beside(key, bound)]
    keys = [bound.common.key] if bound.common.key is not None else keys
    single = len(keys) <= 1
    for key in keys or (None,):
        reason = _undefined(table, key)
        view = Column((), ())
        if reason is None:
            view = table.column(key if key is not None else "", policy or "zero")
            if policy == "skip":
                view = view.having([name for name in _beside(bound) if name])
        n = len(table) if reason else bound.rows(view)
        if bound.reducer is not None and reason is None:
            reduced = bound.reducer(view, skip=policy == "skip")
            if isinstance(reduced, Undefined):
                n, reason, view = view.n_tasks, reduced, Column((), ())
            else:
                n, view = len(reduced), reduced
        for name, value in _outputs(spec.type, None if single else key, bound(view)):
            measured.add(name, reason or value, n, level)
    measured.say_how_few(grouped=bound.metric.takes == "inner")
    return measured


def _beside(bound: Bound) -> list[str]:
    """The rewards that those of the key are weighted by or compared with."""
    if not bound.metric.is_ours:
        return []
    return [bound.arguments.get(name, "") for name in ("weight", "reference", "probabilities")]


def _is_beside(key: str, bound: Bound) -> bool:
    """Whether a reward is weighed with or compared with, and so no result of its own."""
    return any(name and (key == name or key.startswith(f"{name}/")) for name in _beside(bound))


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
