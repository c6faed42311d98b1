"""Metrics x table -> outcomes; pure: `uv-script` is handed to who runs scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .column import LabelError
from .measurement import measure
from .metric import UV_SCRIPT, Metric, MetricSpec, lookup
from .result import Failure, Origin, Outcome, PluginRef, ScriptRef
from .signature import SpecError
from .table import Missing, MissingRewardError, Table


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


RunScripts = Callable[[Sequence[Planned], Table], list[Outcome]]


def evaluate(
    planned: list[Planned],
    table: Table,
    *,
    missing: Missing | None,
    level: float | None,
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
    bound = metric.bind(one.spec.kwargs)
    measured = measure(bound, one.spec, table, missing=missing, level=level)
    more: dict[str, Any] = {}
    if metric.higher_is_better is not None:
        more["higher_is_better"] = metric.higher_is_better
    if bound.brought:
        found = dict.fromkeys(loaded.plugin for loaded in bound.brought)
        more["plugins"] = [PluginRef(distribution=p.distribution, version=p.version) for p in found]
        measured.notes += [note for loaded in bound.brought for note in loaded.notes]
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


def _outcome(one: Planned, **fields: Any) -> Outcome:
    fields.setdefault("kwargs", one.spec.kwargs)
    return Outcome(name=one.name, type=one.spec.type, origin=one.origin, **fields)


def _failed(one: Planned, rule: str, message: str) -> Outcome:
    return _outcome(one, status="failed", error=Failure(rule=rule, message=message))
