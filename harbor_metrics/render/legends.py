"""What stands below several groups side by side: marks, missing rewards, reasons."""

from __future__ import annotations

from collections.abc import Iterator

from ..documents.wording import listed, plural, printable
from . import rows
from .together import Together

BEST = "*"


def legends(whole: Together, *, marked: bool, hints: bool) -> Iterator[tuple[str, str]]:
    """Headings and texts; `marked`: whether any value has the mark of the best.

    `hints`: whether they say which option or command shows more.
    """
    more = "; --format blocks has intervals, notes and usage" if hints else ""
    yield "parentheses", f"standard errors{more}"
    if marked:
        compare = "; whether it differs: harbor-metrics compare" if hints else ""
        lowest = any(
            cell.higher_is_better is False for cells in whole.table for cell in cells.values()
        )
        less = " (the lowest where less is better)" if lowest else ""
        yield BEST, f"the highest on its dataset{less}{compare}"
    if whole.policy is not None:
        yield "missing", rows.MISSING[whole.policy]
    yield from _missing(whole)
    yield from _over(whole)
    yield from _reasons(whole)


def over(whole: Together, index: int) -> tuple[int, int]:
    """The trials and tasks that all values of a group are over; those there are where they vary."""
    group, cells = whole.groups[index], whole.table[index].values()
    all_ = {cell.over for cell in cells if cell.over is not None and cell.value is not None}
    return all_.pop() if len(all_) == 1 else (group.counts.counting, group.counts.tasks)


def _missing(whole: Together) -> Iterator[tuple[str, str]]:
    """Of each group that lacks rewards the first mean, as shown and read the other way."""
    for index, group in enumerate(whole.groups):
        reading = next(rows.readings(group, whole.digits, whole.without), None)
        if reading is not None:
            yield "missing", f"{reading} ({whole.called[index]})"


def _over(whole: Together) -> Iterator[tuple[str, str]]:
    """What a column is over where that is not what stands in the line."""
    lines = [over(whole, index) for index in range(len(whole.groups))]
    having: dict[tuple[str, str], list[str]] = {}
    for index, (line, group) in enumerate(zip(lines, whole.groups, strict=True)):
        counts = group.counts
        if group.pass_at_k and line != (counts.counting, counts.tasks):
            which = "all trials that count" if counts.left_out else "all trials"
            where = (rows.HARBORS, f"over {which}: a missing reward counts as 0")
            having.setdefault(where, []).append(whole.called[index])
    for index, (line, cells) in enumerate(zip(lines, whole.table, strict=True)):
        for head, cell in cells.items():
            if cell.over not in (None, line) and cell.value is not None:
                assert cell.over is not None
                where = (": ".join(head.split("\n")), f"over {_counted(cell.over)}")
                having.setdefault(where, []).append(whole.called[index])
    for (head, text), groups in having.items():
        of_all = head == rows.HARBORS and len(groups) == len(lines)
        yield head, text if of_all else f"{text} ({listed(groups)})"


def _counted(trials_and_tasks: tuple[int, int]) -> str:
    trials, tasks = trials_and_tasks
    return f"{plural(trials, 'trial')} of {plural(tasks, 'task')}"


def _reasons(whole: Together) -> Iterator[tuple[str, str]]:
    """Each reason for a missing value once, with the columns and the groups that it holds for."""
    having: dict[str, dict[str, list[int]]] = {}
    for index, cells in enumerate(whole.table):
        for head, cell in cells.items():
            if cell.why:
                heads = having.setdefault(" ".join(map(printable, cell.why.split("\n"))), {})
                heads.setdefault(head, []).append(index)
    for why, heads in having.items():
        alike: dict[tuple[int, ...], list[str]] = {}
        anywhere = sorted({index for where in heads.values() for index in where})
        for head, where in heads.items():
            lacking = [i for i in anywhere if i in where or head not in whole.table[i]]
            alike.setdefault(tuple(lacking), []).append(": ".join(head.split("\n")))
        for groups, names in alike.items():
            called = listed([whole.called[index] for index in groups])
            everywhere = len(groups) == len(whole.groups)
            yield listed(names), why if everywhere else f"{why} ({called})"
