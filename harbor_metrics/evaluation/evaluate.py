"""Metrics x table -> outcomes; pure: `uv-script` is handed to who runs scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..contract.metric import Bound
from ..documents.wording import without_passwords, without_passwords_in
from ..errors import MetricFailure
from ..numbers.uncertainty import Over
from ..trials.table import Missing, Table
from .measurement import measure
from .planned import Planned
from .result import Basis, Failure, Outcome, PluginRef

RunScripts = Callable[[Sequence[Planned], Table], list[Outcome]]


def evaluate(
    planned: Sequence[Planned],
    table: Table,
    *,
    missing: Missing | None,
    level: float | None,
    run_scripts: RunScripts,
    over: Over = "tasks",
) -> list[Outcome]:
    """An outcome a metric, in order; a failed one never stops the others."""
    scripts = [metric for metric in planned if metric.runs_script]
    of_scripts = iter(run_scripts(scripts, table) if scripts else ())
    return [
        _over_all(next(of_scripts), table)
        if metric.runs_script
        else _outcome(metric, table, missing, level, over)
        for metric in planned
    ]


def _over_all(outcome: Outcome, table: Table) -> Outcome:
    """What a script gave, which is over all trials."""
    whole = Basis(trials=len(table), tasks=table.n_tasks)
    return msgspec.structs.replace(outcome, basis=dict.fromkeys(outcome.values, whole))


def _outcome(
    planned: Planned, table: Table, missing: Missing | None, level: float | None, over: Over
) -> Outcome:
    if planned.failure is not None:
        return _failed(planned, planned.failure)
    assert planned.bound is not None
    try:
        return _measured(planned, planned.bound, table, missing, level, over)
    except MetricFailure as failure:
        return _failed(planned, failure)


def _measured(
    planned: Planned,
    bound: Bound,
    table: Table,
    missing: Missing | None,
    level: float | None,
    over: Over,
) -> Outcome:
    measured = measure(bound, planned.spec, table, missing=missing, level=level, over=over)
    optional: dict[str, Any] = {}
    better = bound.measures.metric.higher_is_better
    if better is not None:
        optional["higher_is_better"] = better
    if bound.plugins:
        plugins = dict.fromkeys(loaded.plugin for loaded in bound.plugins)
        optional["plugins"] = [
            PluginRef(distribution=plugin.distribution, version=plugin.version)
            for plugin in plugins
        ]
        measured.notes += [note for loaded in bound.plugins for note in loaded.notes]
    if planned.file is not None:
        optional["script"] = planned.file
    return Outcome(
        name=planned.name,
        type=planned.spec.type,
        origin=planned.origin,
        kwargs=without_passwords_in(measured.kwargs),
        status="undefined" if len(measured.reasons) == len(measured.values) else "ok",
        values=measured.values,
        n=measured.n,
        basis=measured.basis,
        reasons={name: without_passwords(why) for name, why in measured.reasons.items()},
        uncertainty=measured.uncertainty,
        notes=measured.notes,
        **optional,
    )


def _failed(planned: Planned, failure: MetricFailure) -> Outcome:
    return Outcome(
        name=planned.name,
        type=planned.spec.type,
        origin=planned.origin,
        kwargs=planned.shown_kwargs,
        status="failed",
        error=Failure(rule=failure.rule, message=without_passwords(str(failure))),
    )
