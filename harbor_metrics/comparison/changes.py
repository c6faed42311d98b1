"""How each task turned by one reward."""

from __future__ import annotations

from ..numbers import exact
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.table import Missing
from .document import TaskRow
from .pairing import Pairs
from .settings import Settings


def changes_of_tasks(
    pairs: Pairs, key: str, settings: Settings
) -> dict[tuple[str, int], TaskRow | None]:
    """Each task, the sign of its change, and its row; None where a number is beyond binary64."""
    policy: Missing = "skip" if settings.missing == "skip" else "zero"
    columns = [table.column(key, policy) for table in (pairs.base, pairs.candidate)]
    before, after = map(_sums, columns)
    scales = [column.scaled.scale for column in columns]
    found: dict[tuple[str, int], TaskRow | None] = {}
    for task in pairs.paired:
        if task not in before or task not in after:
            continue
        (top, n), (other_top, other_n) = before[task], after[task]
        bottom, other_bottom = n * scales[0], other_n * scales[1]
        own = other_top * bottom - top * other_bottom
        change = exact.ratio(own, bottom * other_bottom)
        sums = (_whole(top, scales[0]), _whole(other_top, scales[1]))
        row = None
        if change is not None and sums[0] is not None and sums[1] is not None:
            row = TaskRow(
                task=task, base=(sums[0], n), candidate=(sums[1], other_n), difference=change
            )
        found[task, (own > 0) - (own < 0)] = row
    return found


def _sums(column: Column) -> dict[str, tuple[int, int]]:
    """Task -> the sum of its rewards, over the scale of all, and how many attempts it has."""
    sums = column.task_sums(column.scaled.integers)
    return dict(zip(column.names, zip(sums, column.sizes, strict=True), strict=True))


def _whole(top: int, scale: int) -> Number | None:
    quotient = exact.ratio(top, scale)
    return top if scale == 1 and quotient is not None else quotient
