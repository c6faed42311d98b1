"""Metrics x table -> outcomes; pure, but for handing `uv-script` to script.py."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec

from . import exact
from .exact import Number
from .metric import UV_SCRIPT, MetricSpec, ScriptKwargs, SpecError, Undefined, converted, lookup
from .result import Failure, Origin, Outcome, ScriptRef
from .table import Missing, MissingRewardError, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOptions:
    """How metric scripts are run: seconds they may take, and whether they may lie anywhere."""

    timeout: float = 60.0
    allow_outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A metric that will run: its name as written, what it means, who asked for it."""

    name: str
    spec: MetricSpec
    origin: Origin
    registry: str | None = None


def evaluate(
    planned: list[Planned],
    table: Table,
    *,
    missing: Missing | None,
    scripts: ScriptOptions,
) -> list[Outcome]:
    """An outcome a metric, in order; a failed one never stops the others."""
    outcomes = []
    for one in planned:
        try:
            if one.spec.type == UV_SCRIPT:
                outcome = _by_script(one, table, scripts)
            else:
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


def _by_script(one: Planned, table: Table, options: ScriptOptions) -> Outcome:
    # Imported here: most computations run no script, and its imports take as long as all others.
    from . import script

    kwargs = converted(UV_SCRIPT, one.spec.kwargs, ScriptKwargs)
    if kwargs.git_url is not None:
        raise SpecError(
            "git-script",
            f"{kwargs.script_path} of {kwargs.git_url} is not fetched by this version; "
            "check it out and pass it as --metric",
        )
    try:
        found = script.find(kwargs.script_path, one.registry, allow_outside=options.allow_outside)
    except script.ScriptError as error:
        return _failed(one, error.rule, str(error))
    reference = ScriptRef(path=kwargs.script_path, sha256=found.sha256)
    if not len(table):
        return _outcome(one, status="undefined", script=reference)
    try:
        values = script.compute(found, table, timeout=options.timeout)
    except script.ScriptError as error:
        failed = _failed(one, error.rule, str(error))
        return msgspec.structs.replace(failed, script=reference)
    return _outcome(
        one,
        status="ok",
        values=dict(values),
        n=dict.fromkeys(values, len(table)),
        script=reference,
    )


def _outcome(one: Planned, **fields: Any) -> Outcome:
    fields.setdefault("kwargs", one.spec.kwargs)
    return Outcome(name=one.name, type=one.spec.type, origin=one.origin, **fields)


def _failed(one: Planned, rule: str, message: str) -> Outcome:
    return _outcome(one, status="failed", error=Failure(rule=rule, message=message))
