"""Which values of the base are made of rewards that the candidate does not have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..contract.metric import Bound
from ..errors import MetricFailure
from ..evaluation.measurement import outputs
from ..numbers.exact import Number
from ..trials.table import Table
from .document import Row
from .finding import Asked
from .resampled import number_of


def with_lacking(
    asked: Asked, whole: Table, kept: Table, lacking: Sequence[str], rows: Sequence[Row]
) -> list[Row]:
    """The rows, and of those that the base has otherwise with all its rewards which ones lack.

    `kept` are the trials of the base with the rewards alone that both runs have.
    """
    if not lacking:
        return list(rows)
    bound = asked.planned.bound
    if bound is None:
        # What a script reads nobody knows.
        same = set()
    else:
        before, after = (_numbers(asked, bound, table) for table in (whole, kept))
        same = {name for name, value in after.items() if before.get(name) == value}
    return [
        row if row.value in same else msgspec.structs.replace(row, lacking=list(lacking))
        for row in rows
    ]


def _numbers(asked: Asked, bound: Bound, table: Table) -> dict[str, Number | str]:
    """The numbers of the metric by name, or why there is none; nothing where it fails."""
    try:
        found = outputs(bound, asked.planned.spec, table, missing=asked.settings.missing)
        return {output.name: number_of(output.value) for output in found}
    except MetricFailure:
        return {}
