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
from .verdicts import worded


def with_policies(rows: Sequence[Row], metrics: Sequence[Asked], pairs: Pairs) -> list[Row]:
    """The rows, each of a metric, noted where leaving trials without rewards out says otherwise.

    Only where nobody said what they count as, for then they count as 0.
    """
    # Of several rewards a trial can lack one.
    columns = [*pairs.base.columns.values(), *pairs.candidate.columns.values()]
    is_whole = all(len(table) == table.n_scored for table in (pairs.base, pairs.candidate))
    if is_whole and not any(None in column for column in columns):
        return list(rows)
    others = {id(asked): asked for asked in metrics}
    left_out = {metric: _without_missing(asked, pairs) for metric, asked in others.items()}
    return [
        _noted(row, left_out[id(asked)].get(row.value))
        for row, asked in zip(rows, metrics, strict=True)
    ]


def _without_missing(asked: Asked, pairs: Pairs) -> dict[str | None, Row]:
    """The rows of a metric by value where trials without rewards are left out, if that is new."""
    bound, settings = asked.planned.bound, asked.settings
    if bound is None or settings.missing is not None:
        return {}
    if policy_of(bound, None) == policy_of(bound, "skip"):
        return {}
    skipping = msgspec.structs.replace(settings, missing="skip")
    rows = rows_of(msgspec.structs.replace(asked, settings=skipping), pairs)
    return {row.value: row for row in rows}


def _noted(row: Row, other: Row | None) -> Row:
    if other is None or other.difference is None:
        return row
    verdict = worded(other.verdict, row.higher_is_better)
    if verdict == row.verdict:
        return row
    shown = numerals(other.base, other.candidate, other)
    word = "no difference is shown" if verdict == "~" else f"it is {verdict}"
    note = f"hangs on the missing trials: left out (--missing skip) {word}, {shown.difference}"
    return msgspec.structs.replace(row, notes=[*row.notes, note])
