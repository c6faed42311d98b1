"""What a computation would run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..computation.preparation import PreparedGroup
from ..documents.wording import MOST_LISTED, plural, printable
from ..evaluation.planned import Planned


def dry_run(groups: Sequence[PreparedGroup]) -> str:
    """A paragraph for each group: its dataset, registry, metrics, their origins and scripts."""
    lines = []
    for group in groups[:MOST_LISTED]:
        key, plan = group.key, group.plan
        where = f" on {key.dataset}" if key.dataset else ""
        lines.append(f"{key.who or 'rewards'}{where}: {plural(len(group.pool.table), 'trial')}")
        lines += [f"  dataset {dataset} of {dataset.registry}" for dataset in plan.datasets]
        if key.dataset and not plan.datasets:
            lines.append(f"  dataset {key.dataset}, without a registry")
        lines += [f"  would run {_metric(metric)}" for metric in plan.metrics[:MOST_LISTED]]
        lines += _more("  ", len(plan.metrics), "metric")
    lines += _more("", len(groups), "group")
    return "".join(f"{printable(line)}\n" for line in lines)


def _more(margin: str, n: int, noun: str) -> list[str]:
    """The line that says how many are not named, where there are such."""
    more = n - MOST_LISTED
    return [f"{margin}and {more} more {noun}{'' if more == 1 else 's'}"] if more > 0 else []


def _metric(planned: Planned) -> str:
    kwargs = f" {json.dumps(planned.shown_kwargs)}" if planned.spec.kwargs else ""
    line = f"{planned.name}{kwargs} ({planned.origin})"
    if planned.failure is not None:
        return f"{line}: cannot: {planned.failure}"
    script = planned.script
    return f"{line}: {script.path} sha256 {script.sha256[:12]}" if script else line
