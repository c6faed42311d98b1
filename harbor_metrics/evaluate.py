"""Metrics x table -> outcomes; pure, but for handing `uv-script` to script.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from .column import LabelError
from .measurement import measure
from .metric import UV_SCRIPT, Metric, MetricSpec, ScriptKwargs, lookup
from .result import Failure, Origin, Outcome, PluginRef, ScriptRef
from .signature import SpecError, converted
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
    # A function of the user's own, and the file it stands in.
    metric: Metric | None = None
    file: ScriptRef | None = None


def evaluate(
    planned: list[Planned],
    table: Table,
    *,
    missing: Missing | None,
    level: float | None,
    scripts: ScriptOptions,
) -> list[Outcome]:
    """An outcome a metric, in order; a failed one never stops the others."""
    outcomes = []
    for one in planned:
        try:
            if one.spec.type == UV_SCRIPT:
                outcome = _by_script(one, table, scripts)
            else:
                outcome = _by_function(one, table, missing, level)
        except SpecError as error:
            outcome = _failed(one, error.rule, str(error))
        except MissingRewardError as error:
            outcome = _failed(one, "missing-reward", str(error))
        except LabelError as error:
            outcome = _failed(one, "missing-label", str(error))
        outcomes.append(outcome)
    return outcomes


def _by_function(
    one: Planned, table: Table, missing: Missing | None, level: float | None
) -> Outcome:
    metric = one.metric or lookup(one.spec.type)
    measured = measure(metric.bind(one.spec.kwargs), one.spec, table, missing=missing, level=level)
    more: dict[str, Any] = {}
    if metric.higher_is_better is not None:
        more["higher_is_better"] = metric.higher_is_better
    if metric.plugin is not None:
        plugin = metric.plugin.plugin
        more["plugin"] = PluginRef(distribution=plugin.distribution, version=plugin.version)
        measured.notes += metric.plugin.notes
    if one.file is not None:
        more["script"] = one.file
    return _outcome(
        one,
        **more,
        kwargs=measured.kwargs,
        status="undefined" if len(measured.reasons) == len(measured.values) else "ok",
        values=measured.values,
        n=measured.n,
        reasons=measured.reasons,
        uncertainty=measured.uncertainty,
        notes=measured.notes,
    )


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
