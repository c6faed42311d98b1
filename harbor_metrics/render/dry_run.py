"""What a computation would run, said before it is run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..evaluate import Planned
from ..metric import UV_SCRIPT
from ..plan import Plan
from ..pool import Pool
from ..syntax import printable
from ..table import GroupKey

if TYPE_CHECKING:
    from ..script import Script


def dry_run(
    groups: Iterable[tuple[GroupKey, Pool, Plan]], scripts: Mapping[str, Script | None]
) -> str:
    """A paragraph a group: dataset, registry, and each metric with its origin and script."""
    lines = []
    for (agent, model, dataset), pool, plan in groups:
        who = " · ".join(part for part in (agent, model) if part)
        lines.append(
            f"{who or 'rewards'}{f' on {dataset}' if dataset else ''}: {len(pool.table)} trials"
        )
        lines += [f"  dataset {found} of {found.registry}" for found in plan.datasets]
        if dataset and not plan.datasets:
            lines.append(f"  dataset {dataset}, without a registry")
        lines += [f"  would run {_metric(one, scripts)}" for one in plan.metrics]
    return "".join(f"{printable(line)}\n" for line in lines)


def _metric(one: Planned, scripts: Mapping[str, Script | None]) -> str:
    kwargs = f" {json.dumps(one.spec.kwargs)}" if one.spec.kwargs else ""
    line = f"{one.name}{kwargs} ({one.origin})"
    path = one.spec.kwargs.get("script_path")
    if one.spec.type != UV_SCRIPT or not isinstance(path, str):
        return line
    script = scripts.get(path)
    return (
        f"{line}: {f'{script.path} sha256 {script.sha256[:12]}' if script else 'script not found'}"
    )
