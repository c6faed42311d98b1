"""Numbers of an Inspect log that are of the scores before people edited them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..readers.inspect.document import Reduction
from .inspect_reducers import has_threshold
from .inspect_scores import NotHeldError, Scored, plain
from .inspect_thresholds import same
from .row import Row, Verdict


def n_differ(rows: Iterable[Row]) -> int:
    """How many of the numbers differ."""
    return sum(row.verdict == Verdict.DIFFERS for row in rows)


def of_before(row: Row, before: Row, reason: str) -> Row:
    """The row of a number that is of the scores before they were edited.

    Args:
        row: by the scores behind the edits.
        before: by those before.
        reason: that it is of those.
    """
    if before.verdict == Verdict.DIFFERS:
        return before
    if before.verdict == Verdict.UNVERIFIED:
        return replace(before, reason=f"{reason}, and {before.reason}")
    if row.verdict == Verdict.EQUAL:
        return row
    return replace(row, verdict=Verdict.EXPLAINED, reason=reason)


def contradict(
    kept: Sequence[Reduction], behind: Callable[[str, str], list[Scored]], *, nan: bool
) -> bool:
    """Whether the reduced scores of the log, which are made with its numbers, are of others.

    Args:
        kept: the reduced scores of the log.
        behind: gives what a reducer makes of the scores of a scorer that its numbers may be of.
        nan: whether null stands for NaN.
    """
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for reduction in kept:
        if reduction.reducer is None or has_threshold(reduction.reducer):
            continue
        key = reduction.scorer, reduction.reducer
        if key not in known:
            try:
                known[key] = {score.sample: score.value for score in behind(*key)}
            except (NotHeldError, ValueError, TypeError, ArithmeticError):
                known[key] = {}
        for each in reduction.samples:
            value = known[key].get(str(each.sample_id))
            if value is not None and not same(value, plain(each.value, nan=nan, root=True)):
                return True
    return False
