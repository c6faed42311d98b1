"""A result as rows of a leaderboard of Harbor Hub, for `harbor hub leaderboard row create`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..documents.wording import encodable
from ..errors import UsageError
from ..evaluation.result import Group, Outcome, Result

# What Harbor takes at once.
_MOST_ROWS = 500
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def hub_rows(result: Result, ids: Sequence[Sequence[str | None]]) -> str:
    """One row a group: its values with standard errors and intervals, and its trials by their ids.

    `ids` are those of each group's trials. A value that is undefined is left out.

    Raises:
        UsageError: there is no group, more than Harbor takes, or a metric failed.
    """
    if not 0 < len(result.groups) <= _MOST_ROWS:
        raise UsageError(f"Harbor takes 1 to {_MOST_ROWS} rows at once, not {len(result.groups)}")
    rows = [_row(group, of_group) for group, of_group in zip(result.groups, ids, strict=True)]
    return json.dumps({"rows": encodable(rows)}, indent=2, ensure_ascii=False) + "\n"


def _row(group: Group, ids: Sequence[str | None]) -> dict[str, Any]:
    names = {"agent": group.agent, "model": group.model, "provider": group.provider or None}
    if group.dataset is not None:
        names |= {"dataset": group.dataset.name, "version": group.dataset.version}
    metadata = {name: value for name, value in names.items() if value is not None}
    metrics: dict[str, Any] = {"trials": group.counts.found, "scored": group.counts.scored}
    for outcome in group.metrics:
        _add(metrics, outcome)
    known = [each for each in ids if each is not None and _UUID.fullmatch(each)]
    return {"metadata": metadata, "metrics": metrics, "trial_ids": known}


def _add(metrics: dict[str, Any], outcome: Outcome) -> None:
    """Put a metric's values beside the others, under names that no other value has.

    Raises:
        UsageError: it failed, and a row without it would look whole.
    """
    if outcome.status == "failed":
        why = outcome.error.message if outcome.error else ""
        raise UsageError(f"a row needs every metric, and {outcome.name} failed: {why}")
    title = outcome.name.replace("/", "_")
    for key, value in outcome.values.items():
        if value is None:
            continue
        name = title if key == outcome.type else f"{title}_{key}".replace("/", "_")
        n = 2
        while name in metrics:
            name, n = f"{name.rpartition('#')[0] or name}#{n}", n + 1
        metrics[name] = value
        sure = outcome.uncertainty.get(key)
        if sure is not None:
            parts = {"stderr": sure.stderr, "low": sure.low, "high": sure.high}
            metrics |= {f"{name}_{part}": v for part, v in parts.items() if v is not None}
