"""A result as rows of a leaderboard of Harbor Hub, for `harbor hub leaderboard row create`."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from ..documents.wording import encodable
from ..errors import UsageError
from ..evaluation.naming import apart, told_by
from ..evaluation.result import Group, Outcome, Result

_COUNTS = ("trials", "scored")
_PARTS = ("_stderr", "_low", "_high")
# Of a value the metric's name, what tells it from others of that name, and the key.
_Value = tuple[str, Hashable, str]
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
    # A name is the same value's in all rows.
    wished = {of: name for group in result.groups for of, name, _ in _values(group)}
    names = apart(wished, _PARTS, _COUNTS)
    rows = [
        _row(group, of_group, names) for group, of_group in zip(result.groups, ids, strict=True)
    ]
    return json.dumps({"rows": encodable(rows)}, indent=2, ensure_ascii=False) + "\n"


def _row(
    group: Group, ids: Sequence[str | None], of_values: Mapping[_Value, str]
) -> dict[str, Any]:
    names = {"agent": group.agent, "model": group.model, "provider": group.provider or None}
    if group.dataset is not None:
        names |= {"dataset": group.dataset.name, "version": group.dataset.version}
    metadata = {name: value for name, value in names.items() if value is not None}
    metrics: dict[str, Any] = dict(
        zip(_COUNTS, (group.counts.found, group.counts.scored), strict=True)
    )
    for of, _, outcome in _values(group):
        key, own = of[-1], of_values[of]
        if outcome.values[key] is None:
            continue
        metrics[own] = outcome.values[key]
        sure = outcome.uncertainty.get(key)
        if sure is not None:
            parts = zip(_PARTS, (sure.stderr, sure.low, sure.high), strict=True)
            metrics |= {f"{own}{part}": value for part, value in parts if value is not None}
    known = [each for each in ids if each is not None and _UUID.fullmatch(each)]
    return {"metadata": metadata, "metrics": metrics, "trial_ids": known}


def _values(group: Group) -> Iterator[tuple[_Value, str, Outcome]]:
    """Each value, the name that it would have alone, and what it is of.

    Raises:
        UsageError: a metric failed, and a row without it would look whole.
    """
    for outcome in group.metrics:
        if outcome.status == "failed":
            why = outcome.error.message if outcome.error else ""
            raise UsageError(f"a row needs every metric, and {outcome.name} failed: {why}")
        for key in outcome.values:
            name = outcome.name if key == outcome.type else f"{outcome.name}_{key}"
            written = str(encodable(name)).replace("/", "_")
            yield (outcome.name, told_by(outcome), key), written, outcome
