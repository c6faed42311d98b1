"""Whether a verdict hangs on what a missing reward counts as."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..evaluation.measurement import policy_of
from .document import Row
from .finding import Asked
from .numerals import numerals
from .pairing import Pairs
from .rows import rows_of


def with_policies(asked: Asked, pairs: Pairs, rows: Sequence[Row]) -> list[Row]:
    """The rows, with a note where leaving trials without rewards out gives another verdict.

    Only where nobody said what they count as, for then they count as 0.
    """
    bound = asked.planned.bound
    tables = (pairs.base, pairs.candidate)
    missing = any(len(table) > table.n_scored for table in tables)
    if bound is None or not missing or asked.settings.missing is not None:
        return list(rows)
    settings = msgspec.structs.replace(asked.settings, missing="skip")
    if policy_of(bound, None) == policy_of(bound, "skip"):
        return list(rows)
    others = {
        row.value: row for row in rows_of(msgspec.structs.replace(asked, settings=settings), pairs)
    }
    return [_noted(row, others.get(row.value)) for row in rows]


def _noted(row: Row, other: Row | None) -> Row:
    if other is None or other.difference is None or other.verdict == row.verdict:
        return row
    shown = numerals(other.base, other.candidate, other)
    word = "no difference is shown" if other.verdict == "~" else f"it is {other.verdict}"
    note = f"hangs on the missing trials: left out (--missing skip) {word}, {shown.difference}"
    return msgspec.structs.replace(row, notes=[*row.notes, note])
