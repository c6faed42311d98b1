"""What a computation would run, said before it is run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .. import catalogue
from ..evaluate import Planned
from ..metric import UV_SCRIPT
from ..plan import Plan
from ..pool import Pool
from ..signature import SpecError
from ..syntax import printable
from ..trial import GroupKey
from .text import plural

if TYPE_CHECKING:
    from ..scripts.file import Script

    Scripts = Mapping[tuple[str | None, str], Script | None]


def dry_run(groups: Iterable[tuple[GroupKey, Pool, Plan]], scripts: Scripts) -> str:
    """A paragraph a group: dataset, registry, and each metric with its origin and script."""
    lines = []
    for (agent, model, dataset), pool, plan in groups:
        who = " · ".join(part for part in (agent, model) if part)
        where = f" on {dataset}" if dataset else ""
        lines.append(f"{who or 'rewards'}{where}: {plural(len(pool.table), 'trial')}")
        lines += [f"  dataset {found} of {found.registry}" for found in plan.datasets]
        if dataset and not plan.datasets:
            lines.append(f"  dataset {dataset}, without a registry")
        lines += [f"  would run {_metric(one, scripts)}" for one in plan.metrics]
    return "".join(f"{printable(line)}\n" for line in lines)


def _metric(one: Planned, scripts: Scripts) -> str:
    kwargs = f" {json.dumps(one.spec.kwargs)}" if one.spec.kwargs else ""
    line = f"{one.name}{kwargs} ({one.origin})"
    why = cannot_run(one, scripts)
    if why:
        return f"{line}: cannot: {why}"
    if one.spec.kwargs.get("git_url") is not None:
        return line
    script = scripts.get((one.registry, str(one.spec.kwargs.get("script_path"))))
    return f"{line}: {script.path} sha256 {script.sha256[:12]}" if script else line


def cannot_run(one: Planned, scripts: Scripts) -> str:
    """Why a metric would fail before it begins; empty where it would begin."""
    if one.metric is not None:
        return ""  # was checked when it was asked for
    try:
        catalogue.check(one.spec.type, one.spec.kwargs)
    except SpecError as error:
        return str(error)
    if one.spec.type == UV_SCRIPT and "git_url" not in one.spec.kwargs:
        path = str(one.spec.kwargs["script_path"])
        return "" if scripts.get((one.registry, path)) else "script not found"
    return ""
