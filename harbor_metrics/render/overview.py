"""Several groups of a result as one sheet: a row a group, their metrics beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..documents.wording import columns, did_you_mean, listed, nearest, plural, printable
from ..errors import UsageError
from ..evaluation.naming import model_of, names
from ..evaluation.result import Group, Outcome, Result
from ..numbers.exact import Number
from . import rows
from .alignment import fold, longest_word
from .numerals import NONE, Digits, exact
from .sheet import Line, Sheet

_BEST = " *"
# Headings of columns are not folded below that.
_NARROWEST = 14
# The metrics that are higher where rewards are; of other keys than these nobody knows.
_OF_REWARDS = ("mean", "mean-reward")
_REWARD = "reward"
_SEVERAL = 2


class Cell(NamedTuple):
    """What one group has of one column; `why`: why there is no value."""

    text: str
    value: Number | None = None
    higher_is_better: bool | None = None
    why: str = ""
    failed: bool = False


def sheets(
    result: Result, *, blocks: bool = False, digits: Digits = "significant", sort: str | None = None
) -> list[Sheet]:
    """All groups in one sheet; a single one, or with `blocks` each, in a sheet of its own.

    With `sort` they are ordered by the metric or the column of that name, the best first.

    Raises:
        UsageError: there is no such metric, or it has several values.
    """
    groups = result.groups
    table = [_cells(group, digits) for group in groups]
    if sort is not None:
        order = _order(table, _column(table, sort))
        groups, table = [groups[i] for i in order], [table[i] for i in order]
    together = [] if blocks else _comparable(table)
    if len(together) < _SEVERAL:
        return [rows.sheet(group, digits) for group in groups]
    apart = [rows.sheet(group, digits) for i, group in enumerate(groups) if i not in together]
    return [_overview([groups[i] for i in together], [table[i] for i in together]), *apart]


def _comparable(table: Sequence[dict[str, Cell]]) -> list[int]:
    """The groups that have a column in common with another."""
    often = Counter(head for cells in table for head in cells)
    return [i for i, cells in enumerate(table) if any(often[head] > 1 for head in cells)]


def _cells(group: Group, digits: Digits) -> dict[str, Cell]:
    """Column -> what the group has there; a line break parts a metric from its value's name."""
    found: dict[str, Cell] = {}
    for outcome in group.metrics:
        called = names(outcome, rows.said_once(group))
        if outcome.status == "failed" or not outcome.values:
            why = outcome.error.message if outcome.error else "there are no trials"
            text = "failed" if outcome.status == "failed" else NONE
            cell = Cell(text, why=why, failed=outcome.status == "failed")
            found.setdefault(called.metric, cell)
        for name in outcome.values:
            own = called.values[name]
            head = own if called.alone or own == called.metric else f"{called.metric}\n{own}"
            found.setdefault(head, _cell(outcome, name, digits))
    for k, chance in list(group.pass_at_k.items())[: rows.MOST_K]:
        found[f"Harbor's\npass@{k}"] = Cell(exact(chance, digits), chance, higher_is_better=True)
    return found


def _cell(outcome: Outcome, name: str, digits: Digits) -> Cell:
    shown = rows.cells(outcome, name, digits)
    error = f" ({shown.stderr})" if shown.stderr not in ("", NONE) else ""
    said = outcome.higher_is_better
    of_rewards = outcome.type in _OF_REWARDS and name in (outcome.type, _REWARD)
    better = said if isinstance(said, bool) else of_rewards or None
    why = outcome.reasons.get(name, "")
    return Cell(f"{shown.value}{error}", outcome.values[name], better, why)


def _overview(groups: Sequence[Group], table: Sequence[dict[str, Cell]]) -> Sheet:
    heads = list(dict.fromkeys(head for cells in table for head in cells))
    best = {head: _best(groups, [cells.get(head) for cells in table]) for head in heads}
    who = _identities(groups)
    asked = [(name, of) for name, of in _LACKING if any(of(group) for group in groups)]
    lines = []
    for index, (group, cells) in enumerate(zip(groups, table, strict=True)):
        numbers = [_marked(cells.get(head), index, best[head]) for head in heads]
        own = [of(group) for _, of in who]
        lacking = [of(group) for _, of in asked]
        failed = any(cell.failed for cell in cells.values())
        lines.append(Line((*own, _over(group), *numbers, *lacking), failed=failed))
    below = [("parentheses", "standard errors; --format blocks has intervals, notes and usage")]
    if any(best.values()):
        below.append(("*", "the best of those on its dataset"))
    below += _reasons(groups, table, who)
    return Sheet(
        _title(groups),
        f"{plural(len(groups), 'group')}, {_trials(groups)}",
        (
            *(name for name, _ in who),
            "trials / tasks",
            *(_heading(head, [cells.get(head) for cells in table]) for head in heads),
            *(name for name, _ in asked),
        ),
        lines,
        below,
        names=len(who),
    )


def _heading(head: str, column: Sequence[Cell | None]) -> str:
    """The name of a column in lines that are hardly wider than its cells."""
    widest = max((columns(cell.text) for cell in column if cell is not None), default=0)
    width = max(widest, _NARROWEST, longest_word(head.replace("\n", " ")) + 2)
    return "\n".join(line for part in head.split("\n") for line in fold(part, width))


def _marked(cell: Cell | None, index: int, best: Sequence[int]) -> str:
    if cell is None:
        return ""
    if not best:
        return cell.text
    return f"{cell.text}{_BEST if index in best else ' ' * len(_BEST)}"


def _best(groups: Sequence[Group], column: Sequence[Cell | None]) -> list[int]:
    """The groups with the best value of those on the same dataset; of one alone there is none."""
    best = []
    for where in dict.fromkeys(map(rows.dataset, groups)):
        here = {
            i: cell.value
            for i, (group, cell) in enumerate(zip(groups, column, strict=True))
            if rows.dataset(group) == where and cell is not None and cell.value is not None
        }
        better = {column[i].higher_is_better for i in here}  # type: ignore[union-attr]
        if len(here) < _SEVERAL or len(set(here.values())) == 1 or None in better:
            continue
        most = (max if True in better else min)(here.values())
        best += [i for i, value in here.items() if value == most]
    return best


_Part = tuple[str, Callable[[Group], str]]
_WHO: tuple[_Part, ...] = (
    ("agent", lambda group: printable(group.agent or "")),
    ("model", lambda group: printable(model_of(group) or "")),
    ("dataset", rows.dataset),
)
_LACKING: tuple[_Part, ...] = (
    ("missing", lambda group: str(group.counts.missing or "")),
    ("errored", lambda group: str(group.counts.errored or "")),
    ("unread", lambda group: str(group.counts.unread or "")),
)


def _over(group: Group) -> str:
    c = group.counts
    found = f"{c.found} of {c.expected}" if c.expected not in (None, c.found) else str(c.found)
    return f"{found} / {c.tasks}"


def _identities(groups: Sequence[Group]) -> list[_Part]:
    """What tells the groups apart; all that they have where nothing does."""
    differ = [(name, of) for name, of in _WHO if len(set(map(of, groups))) > 1]
    return differ or [(name, of) for name, of in _WHO if any(map(of, groups))] or [_WHO[0]]


def _title(groups: Sequence[Group]) -> str:
    """What all groups have in common."""
    agent, model, dataset = (
        of(groups[0]) if len(set(map(of, groups))) == 1 else "" for _, of in _WHO
    )
    who = " · ".join(part for part in (agent, model) if part)
    return " on ".join(part for part in (who, dataset) if part) or "results"


def _trials(groups: Sequence[Group]) -> str:
    incomplete = sum(not group.complete for group in groups)
    trials = plural(sum(group.counts.found for group in groups), "trial")
    return f"{trials}, {incomplete} incomplete" if incomplete else trials


def _reasons(
    groups: Sequence[Group], table: Sequence[dict[str, Cell]], who: Sequence[_Part]
) -> Iterable[tuple[str, str]]:
    """Each reason for a missing value once, with the groups that it holds for."""
    having: dict[tuple[str, str], list[str]] = {}
    for group, cells in zip(groups, table, strict=True):
        for head, cell in cells.items():
            if cell.why:
                called = " ".join(of(group) for _, of in who if of(group))
                why = " ".join(map(printable, cell.why.split("\n")))
                having.setdefault((": ".join(head.split("\n")), why), []).append(called)
    for (head, why), where in having.items():
        yield head, f"{why} ({listed(where)})"


def _column(table: Sequence[dict[str, Cell]], wanted: str) -> str:
    """The column of that name, or the only one of that metric or value.

    Raises:
        UsageError: there is none, or several.
    """
    heads = list(dict.fromkeys(head for cells in table for head in cells))
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
