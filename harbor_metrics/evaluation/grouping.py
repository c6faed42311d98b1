"""Metrics by label: `grouped` around each one that is computed from a table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..catalogue import names
from ..contract.spec import CommonKwargs, MetricSpec
from ..documents.diagnostics import Diagnostic
from ..errors import MetricFailure
from .plan import Plan
from .planned import Planned

_GROUPED = "grouped"


def by_labels(plan: Plan, labels: Sequence[str]) -> Plan:
    """The plan with each metric grouped by the labels; it says which it could not group."""
    metrics = [_by_labels(metric, labels) for metric in plan.metrics]
    scripts = [metric.name for metric in metrics if metric.runs_script]
    if not scripts:
        return msgspec.structs.replace(plan, metrics=metrics)
    said = Diagnostic(
        rule="not-grouped",
        message=f"--group-by {', '.join(labels)}: a script sees all trials, and is not grouped",
        help="group in the script: HARBOR_METRICS_TRIALS names a file with the labels",
    )
    return msgspec.structs.replace(plan, metrics=metrics, diagnostics=[*plan.diagnostics, said])


def _by_labels(planned: Planned, labels: Sequence[str]) -> Planned:
    """The metric, grouped; one that groups already, fails or runs a script stays as it is."""
    bound = planned.bound
    if bound is None or planned.spec.type == _GROUPED:
        return planned
    common = {k: v for k, v in planned.spec.kwargs.items() if k in bound.metric.common}
    own = {k: v for k, v in planned.spec.kwargs.items() if k not in common}
    inner = {"type": planned.spec.type, "kwargs": own} if own else planned.spec.type
    by = labels[0] if len(labels) == 1 else list(labels)
    kwargs = {"metric": inner, "by": by, **common}
    plain = msgspec.structs.replace(bound, common=CommonKwargs(), reducer=None)
    try:
        grouped = names.find_metric(_GROUPED).bind(kwargs, plain, bound.reducer)
    except MetricFailure as failure:
        return msgspec.structs.replace(planned, bound=None, failure=failure)
    spec = MetricSpec(type=_GROUPED, kwargs=kwargs)
    return msgspec.structs.replace(planned, name=_GROUPED, spec=spec, bound=grouped)
