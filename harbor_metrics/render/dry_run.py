"""What a computation would run."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..computation.preparation import PreparedGroup
from ..documents.wording import plural, printable
from ..evaluation.planned import Planned


def dry_run(groups: Iterable[PreparedGroup]) -> str:
    """A paragraph for each group: its dataset, registry, metrics, their origins and scripts."""
    lines = []
    for group in groups:
        key, plan = group.key, group.plan
        where = f" on {key.dataset}" if key.dataset else ""
        lines.append(f"{key.who or 'rewards'}{where}: {plural(len(group.pool.table), 'trial')}")
        lines += [f"  dataset {dataset} of {dataset.registry}" for dataset in plan.datasets]
        if key.dataset and not plan.datasets:
            lines.append(f"  dataset {key.dataset}, without a registry")
        lines += [f"  would run {_metric(metric)}" for metric in plan.metrics]
    return "".join(f"{printable(line)}\n" for line in lines)


def _metric(planned: Planned) -> str:
    kwargs = f" {json.dumps(planned.spec.kwargs)}" if planned.spec.kwargs else ""
    line = f"{planned.name}{kwargs} ({planned.origin})"
    if planned.failure is not None:
        return f"{line}: cannot: {planned.failure}"
    script = planned.script
    return f"{line}: {script.path} sha256 {script.sha256[:12]}" if script else line
