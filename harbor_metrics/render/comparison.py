"""A comparison as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from ..comparison.document import Compared, Comparison
from ..comparison.naming import name_of
from ..comparison.numerals import numerals
from ..documents.wording import columns, plural, printable
from ..numbers.exact import Number
from .alignment import align, fold, measure
from .sentences import ADJUSTED, JOINED, details, is_adjusted, title, together, word
from .sheet import Line, Sheet

_GAP = "  "
# Wider names of runs would leave no room for their numbers.
_WIDEST_NAME = 12
_P_PLACES = 3


def table(comparison: Comparison, *, width: int = 80) -> str:
    """A table for each candidate and dataset, at most `width` columns wide where numbers allow."""
    lines: list[str] = []
    for compared in comparison.comparisons:
        lines += ["", *_lines(comparison, compared, width)] if lines else []
        lines = lines or list(_lines(comparison, compared, width))
    for name, text in together(comparison):
        lines += _hanging(f"{name}  {text}", width)
    return "".join(f"{line}\n" for line in lines)


def sheet(comparison: Comparison, compared: Compared) -> Sheet:
    """The table of a candidate beside the base, with what stands above and below it."""
    headings, cells = grid(comparison, compared)
    below = [
        (name.strip(), text.replace(JOINED, " ")) for name, text in details(comparison, compared)
    ]
    lines = [Line(cells_) for cells_ in cells]
    return Sheet(title(compared), counts(compared), headings, lines, below)


def _lines(comparison: Comparison, compared: Compared, width: int) -> Iterator[str]:
    yield from _hanging(title(compared), width)
    yield from _hanging(counts(compared), width)
    headings, cells = grid(comparison, compared)
    widths = measure([headings, *cells])
    room = max(16, width - sum(widths[1:]) - len(widths[1:]) * len(_GAP))
    widths[0] = min(widths[0], room)
    right = range(1, len(widths) - 1)
    yield align(headings, widths, right=right, gap=_GAP)
    yield "─" * (sum(widths) + len(widths[1:]) * len(_GAP))
    for row in cells:
        first, *more = fold(row[0], widths[0])
        yield align([first, *row[1:]], widths, right=right, gap=_GAP)
        yield from (f"  {part}" for part in more)
    for name, text in details(comparison, compared):
        yield from _hanging(f"{name}  {text}" if name else text, width)


def _hanging(text: str, width: int) -> Iterator[str]:
    own = text.lstrip(" ")
    margin = text[: -len(own)]
    first, *more = fold(own, width - len(margin))
    yield f"{margin}{first}".replace(JOINED, " ")
    yield from (f"{margin}  {part}".replace(JOINED, " ") for part in more)


def counts(compared: Compared) -> str:
    """How many tasks are paired, with how many attempts, and what is missing."""
    tasks, sides = compared.tasks, (compared.base, compared.candidate)
    parts = [f"{plural(tasks.paired, 'task')} paired"]
    attempts = {(row.base[1], row.candidate[1]) for row in compared.by_task}
    if len(attempts) == 1 and not compared.not_listed:
        ((ours, theirs),) = attempts
        each = plural(ours, "attempt")
        parts.append(f"{each} a side" if ours == theirs else f"{ours} and {theirs} attempts")
    left = {
        f"only in {compared.base.run}": len(tasks.only_base),
        f"only in {compared.candidate.run}": len(tasks.only_candidate),
        "changed": len(tasks.changed),
    }
    parts += [f"{n} {where}" for where, n in left.items() if n]
    text = ", ".join(parts)
    for what in ("missing", "errored", "unread"):
        n = [(getattr(side.counts, what), side.run) for side in sides]
        if any(count for count, _ in n):
            text += f"; {what}: {', '.join(f'{count} in {run}' for count, run in n if count)}"
    if not all(side.complete for side in sides):
        unfinished = [side.run for side in sides if not side.complete]
        text += f"; incomplete: {', '.join(unfinished)}"
    return printable(text)


def grid(
    comparison: Comparison, compared: Compared
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headings and cells of a table, without columns that would be empty."""
    names = [printable(side.run) for side in (compared.base, compared.candidate)]
    if max(map(columns, names)) > _WIDEST_NAME:
        names = ["base", "candidate"]
    adjusted = is_adjusted(comparison)
    headings = [
        "metric",
        *names,
        "difference",
        f"{100 * comparison.level:g}% interval",
        f"p ({ADJUSTED[comparison.adjust]})" if adjusted else "p",
        "",
    ]
    cells: list[tuple[str, ...]] = []
    for row in compared.rows:
        shown = numerals(row.base, row.candidate, row)
        cells.append(
            (
                name_of(row),
                shown.base,
                shown.candidate,
                shown.difference,
                shown.interval,
                _p(row.p_adjusted),
                word(comparison, row),
            )
        )
    return tuple(headings), cells


def _p(value: Number | None) -> str:
    if value is None:
        return "—"
    least = 10**-_P_PLACES
    return f"<{least}" if value < least else f"{value:.{_P_PLACES}f}"
