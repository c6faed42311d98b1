"""Which metrics an engine cannot answer, known before it is asked anything."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..engines.asked import WouldAskError
from ..engines.table import RelationTable
from ..errors import MetricFailure, NeedsRowsError
from ..trials.table import Missing, Table
from .measurement import outputs
from .planned import Planned

_HELP = "leave it out, or compute from the trials themselves"


def foreseen(planned: Sequence[Planned], table: Table, missing: Missing | None) -> list[Planned]:
    """The metrics, as failed those that need rows, whatever the engine would answer."""
    assert isinstance(table, RelationTable)  # nothing else is foreseen
    asked = table.relation.asked
    asked.dry = True
    try:
        return [_foreseen(metric, table, missing) for metric in planned]
    finally:
        asked.dry = False


def _foreseen(metric: Planned, table: RelationTable, missing: Missing | None) -> Planned:
    if metric.failure is not None:
        return metric
    try:
        if metric.of_strangers or metric.bound is None:
            raise NeedsRowsError("every trial, as all code does that is not ours")
        for _ in outputs(metric.bound, metric.spec, table, missing=missing):
            pass
    except NeedsRowsError as error:
        failure = MetricFailure("needs-rows", f"{error}; {_HELP}")
        return msgspec.structs.replace(metric, failure=failure)
    except (WouldAskError, MetricFailure):
        return metric
    return metric
