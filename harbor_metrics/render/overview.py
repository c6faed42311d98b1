"""Several groups of a result as one sheet: a row a group, their metrics beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from ..documents.wording import columns, did_you_mean, listed, nearest, plural
from ..errors import UsageError
from ..evaluation.distinct import apart
from ..evaluation.result import Group, Result
from ..numbers.exact import Number
from . import rows
from .alignment import fold, longest_word
from .legends import BEST, legends, over
from .numerals import Digits
from .sheet import Line, Sheet
from .together import WHO, Cell, Part, Together, identities, together

_BEST = f" {BEST}"
# Headings of columns are not folded below that.
_NARROWEST = 14
_SEVERAL = 2


def sheets(
    result: Result,
    *,
    blocks: bool = False,
    digits: Digits = "significant",
    sort: str | None = None,
    hints: bool = False,
) -> list[Sheet]:
    """All groups in one sheet; a single one, or with `blocks` each, in a sheet of its own.

    With `sort` they are ordered by the metric or the column of that name, the best first. With
    `hints` it is said which option or command shows more.

    Raises:
        UsageError: there is no such metric, or it has several values.
    """
    whole = together(result, digits, _OWN)
    if sort is not None:
        whole = whole.of(_order(whole.table, _column(whole.heads, sort)))
    beside = [] if blocks else whole.comparable()
    if len(beside) < _SEVERAL:
        return _told_apart([rows.sheet(group, digits) for group in whole.groups])
    alone = [rows.sheet(group, digits) for i, group in enumerate(whole.groups) if i not in beside]
    return _told_apart([_overview(whole.of(beside), hints=hints), *alone])


def _told_apart(found: list[Sheet]) -> list[Sheet]:
    """The sheets, no two with one title: a part of one can hold what stands between parts."""
    titles = apart({i: sheet.title for i, sheet in enumerate(found) if sheet.title})
    return [
        msgspec.structs.replace(sheet, title=titles.get(i, "")) for i, sheet in enumerate(found)
    ]


def _overview(whole: Together, *, hints: bool) -> Sheet:
    groups, table, heads = whole.groups, whole.table, whole.heads
    best = {head: _best(groups, [cells.get(head) for cells in table]) for head in heads}
    who = identities(groups)
    lacking = [(name, of) for name, of in _LACKING if any(of(group) for group in groups)]
    lines = []
    for index, (group, cells) in enumerate(zip(groups, table, strict=True)):
        numbers = [_marked(cells.get(head), index, best[head]) for head in heads]
        counts = [" / ".join(map(str, over(whole, index))), *(of(group) for _, of in lacking)]
        failed = any(cell.failed for cell in cells.values())
        lines.append(Line((*(of(group) for _, of in who), *counts, *numbers), failed=failed))
    return Sheet(
        _title(groups),
        f"{plural(len(groups), 'group')}, {_trials(groups)}",
        (
            *(name for name, _ in who),
            "trials /\ntasks",
            *(name for name, _ in lacking),
            *(_heading(head, [cells.get(head) for cells in table]) for head in heads),
        ),
        lines,
        list(legends(whole, marked=any(best.values()), hints=hints)),
        names=len(who),
    )


def _heading(head: str, column: Sequence[Cell | None]) -> str:
    """The name of a column in lines that are hardly wider than its cells, with the unit."""
    found = [cell for cell in column if cell is not None]
    unit = next((cell.unit for cell in found if cell.unit), None)
    parts = [*head.split("\n"), *([f"in {unit}"] if unit else [])]
    widest = max((columns(cell.text) for cell in found), default=0)
    width = max(widest, _NARROWEST, longest_word(" ".join(parts)) + 2)
    return "\n".join(line for part in parts for line in fold(part, width))


def _marked(cell: Cell | None, index: int, best: set[int]) -> str:
    if cell is None:
        return ""
    if not best:
        return cell.text
    return f"{cell.text}{_BEST if index in best else ' ' * len(_BEST)}"


def _best(groups: Sequence[Group], column: Sequence[Cell | None]) -> set[int]:
    """The groups with the best value of those on the same dataset; of one alone there is none."""
    by_dataset: dict[tuple[str, str | None] | None, dict[int, Number]] = {}
    for i, (group, cell) in enumerate(zip(groups, column, strict=True)):
        if cell is not None and cell.value is not None:
            dataset = group.dataset
            of = None if dataset is None else (dataset.name, dataset.version)
            by_dataset.setdefault(of, {})[i] = cell.value
    best: set[int] = set()
    for here in by_dataset.values():
        better = {column[i].higher_is_better for i in here}  # type: ignore[union-attr]
        if len(here) < _SEVERAL or len(set(here.values())) == 1 or None in better:
            continue
        most = (max if True in better else min)(here.values())
        best.update(i for i, value in here.items() if value == most)
    return best


_LACKING: tuple[Part, ...] = (
    ("planned", lambda group: str(group.counts.expected or "") if _lost(group) else ""),
    ("missing", lambda group: str(group.counts.missing or "")),
    ("left out", lambda group: str(group.counts.left_out or "")),
    ("errored", lambda group: str(group.counts.errored or "")),
    ("unread", lambda group: str(group.counts.unread or "")),
)
# What no metric's column is called.
_OWN = {"trials / tasks", *(name for name, _ in (*WHO, *_LACKING))}


def _lost(group: Group) -> bool:
    """Whether trials that were planned are not there, or more are."""
    return group.counts.expected not in (None, group.counts.found)


def _title(groups: Sequence[Group]) -> str:
    """What all groups have in common; empty where nothing is."""
    agent, model, dataset = (
        of(groups[0]) if len(set(map(of, groups))) == 1 else "" for _, of in WHO
    )
    who = " · ".join(part for part in (agent, model) if part)
    return " on ".join(part for part in (who, dataset) if part)


def _trials(groups: Sequence[Group]) -> str:
    incomplete = sum(not group.complete for group in groups)
    trials = plural(sum(group.counts.found for group in groups), "trial")
    return f"{trials}, {incomplete} incomplete" if incomplete else trials


def _column(heads: Sequence[str], wanted: str) -> str:
    """The column of that name, or the only one of that metric or value.

    Raises:
        UsageError: there is none, or several.
    """
    whole = {": ".join(head.split("\n")): head for head in heads}
    if wanted in whole:
        return whole[wanted]
    near = [head for head in heads if wanted in head.split("\n")]
    if len(near) == 1:
        return near[0]
    known = listed(list(whole), 8)
    if near:
        raise UsageError(f"--sort {wanted}: it has several values", f"one of: {known}")
    raise UsageError(
        f"--sort {wanted}: there is no such metric{did_you_mean(nearest(wanted, whole))}",
        f"one of: {known}",
    )


def _order(table: Sequence[dict[str, Cell]], head: str) -> list[int]:
    """The groups with the best value first, and those without one last."""
    cells = [row.get(head) or Cell("") for row in table]
    better = Counter(cell.higher_is_better for cell in cells if cell.value is not None)
    sign = 1 if better[False] > better[True] else -1
    return sorted(
        range(len(cells)),
        key=lambda i: (cells[i].value is None, sign * (cells[i].value or 0)),
    )
