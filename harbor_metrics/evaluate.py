"""Metrics x table -> outcomes; pure: `uv-script` is handed to who runs scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import exact
from .exact import Number
from .metric import UV_SCRIPT, MetricSpec, SpecError, Undefined, lookup
from .result import Failure, Origin, Outcome
from .table import Missing, MissingRewardError, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A metric that will run: its name as written, what it means, who asked for it."""

    name: str
    spec: MetricSpec
    origin: Origin
    registry: str | None = None


RunScripts = Callable[[Sequence[Planned], Table], list[Outcome]]


def evaluate(
    planned: list[Planned],
    table: Table,
    *,
    missing: Missing | None,
    scripts: RunScripts,
) -> list[Outcome]:
    """An outcome a metric, in order; a failed one never stops the others."""
    wanted = [one for one in planned if one.spec.type == UV_SCRIPT]
    by_script = iter(scripts(wanted, table) if wanted else ())
    outcomes = []
    for one in planned:
        if one.spec.type == UV_SCRIPT:
            outcomes.append(next(by_script))
            continue
        try:
            outcome = _by_function(one, table, missing)
        except SpecError as error:
            outcome = _failed(one, error.rule, str(error))
        except MissingRewardError as error:
            outcome = _failed(one, "missing-reward", str(error))
        outcomes.append(outcome)
    return outcomes


def _by_function(one: Planned, table: Table, missing: Missing | None) -> Outcome:
    metric = lookup(one.spec.type)
    common, arguments = metric.arguments(one.spec.kwargs)
    policy = common.missing or missing
    kwargs = dict(one.spec.kwargs)
    if policy is not None:
        kwargs["missing"] = policy
    keys = [common.key] if common.key is not None else list(table.columns)
    values: dict[str, Number | None] = {}
    counts: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for name, key in _named(one.spec.type, keys, single=common.key is not None):
        value = _undefined(table, key)
        if value is None:
            column = table.column(key or "", policy or "zero")
            counts[name] = len(column.values)
            value = metric.function(column, **arguments)
        else:
            counts[name] = len(table)
        if isinstance(value, int) and exact.rounded(Fraction(value)) is None:
            value = Undefined("the value is beyond the largest binary64 number")
        if isinstance(value, Undefined):
            values[name] = None
            reasons[name] = value.reason
        else:
            values[name] = value
    return _outcome(
        one,
        kwargs=kwargs,
        status="undefined" if len(reasons) == len(values) else "ok",
        values=values,
        n=counts,
        reasons=reasons,
    )


def _named(type_: str, keys: list[str], *, single: bool) -> list[tuple[str, str | None]]:
    """Harbor's names for the values: the metric's for one key or none, else the keys'."""
    if single or len(keys) <= 1:
        return [(type_, keys[0] if keys else None)]
    return [(key, key) for key in keys]


def _undefined(table: Table, key: str | None) -> Undefined | None:
    if not len(table):
        return Undefined("there are no trials")
    if not table.n_scored:
        return Undefined(f"0 of {len(table)} trials have rewards")
    if key is not None and key not in table.columns:
        return Undefined(f"no trial has the reward `{key}`")
    return None


def _outcome(one: Planned, **fields: Any) -> Outcome:
    fields.setdefault("kwargs", one.spec.kwargs)
    return Outcome(name=one.name, type=one.spec.type, origin=one.origin, **fields)


def _failed(one: Planned, rule: str, message: str) -> Outcome:
    return _outcome(one, status="failed", error=Failure(rule=rule, message=message))
