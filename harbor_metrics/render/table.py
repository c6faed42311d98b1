"""Sheets as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

import msgspec

from ..documents.wording import columns
from .alignment import align, fold, longest_word, measure
from .sheet import Line, Sheet
from .styles import BOLD, DIM, PLAIN, RED, YELLOW

_GAP = "   "
_LEAST = 16


def table(sheets: Iterable[Sheet], *, width: int = 80, colour: bool = False) -> str:
    """The sheets one below the other, at most `width` columns wide."""
    lines: list[str] = []
    for sheet in sheets:
        lines += ["", *_lines(sheet, width, colour)] if lines else _lines(sheet, width, colour)
    return "".join(f"{line}\n" for line in lines)


def _lines(sheet: Sheet, width: int, colour: bool) -> Iterator[str]:
    for part in _hanging(sheet.title, width) if sheet.title else ():
        yield _paint(part, BOLD, colour)
    for part in fold(sheet.counts, width):
        yield _paint(part, DIM, colour)
    # Headings stay on one line where all columns then have room, whole names among them.
    flat = msgspec.structs.replace(
        sheet, headings=tuple(" ".join(h.split("\n")) for h in sheet.headings)
    )
    wide, widths = _widths(flat, width), _widths(sheet, width)
    if (
        wide[: sheet.names] == widths[: sheet.names]
        and len([*_bands(wide, sheet.names, width)]) == 1
    ):
        sheet, widths = flat, wide
    bands = list(_bands(widths, sheet.names, width))
    for band in bands:
        if band is not bands[0]:
            yield ""
        yield from _band(sheet, widths, band, width, colour, whole=len(bands) == 1)
    reasons = [f"{line.cells[0]}: {line.why}" for line in sheet.lines if line.why]
    for reason in dict.fromkeys(reasons):
        for text in reason.split("\n"):
            yield from _hanging(text, width)
    for name, text in sheet.below:
        first, *more = fold(f"{name}  {text}", width)
        yield _paint(name, DIM, colour) + first.removeprefix(name)
        yield from (f"  {part}" for part in more)


def _hanging(text: str, width: int) -> list[str]:
    first, *more = fold(text, width)
    return [first, *(f"  {part}" for part in more)]


def _widths(sheet: Sheet, width: int) -> list[int]:
    """The widths of the columns; those of the names leave room for at least one number."""
    cells = [("  " * line.indent + line.cells[0], *line.cells[1:]) for line in sheet.lines]
    widths = [
        max(wide, max(map(columns, heading.split("\n"))))
        for wide, heading in zip(
            measure([*cells, ("",) * len(sheet.headings)]), sheet.headings, strict=True
        )
    ]
    numbers = widths[sheet.names :]
    # All numbers beside the names where they fit, else as many as do.
    need = sum(numbers) + len(numbers) * len(_GAP)
    if need > width - _LEAST * sheet.names:
        need = max(numbers, default=0) + len(_GAP)
    room = max(_LEAST * sheet.names, width - need - (sheet.names - 1) * len(_GAP))
    while sum(widths[: sheet.names]) > room:
        widest = max(range(sheet.names), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _bands(widths: Sequence[int], names: int, width: int) -> Iterator[list[int]]:
    """The number columns in groups that fit beside the names."""
    band: list[int] = []
    room = left = width - sum(widths[:names]) - (names - 1) * len(_GAP)
    for index in range(names, len(widths)):
        need = widths[index] + len(_GAP)
        if band and need > left:
            yield band
            band, left = [], room
        band.append(index)
        left -= need
    yield band


def _band(
    sheet: Sheet,
    widths: Sequence[int],
    band: Sequence[int],
    width: int,
    colour: bool,
    *,
    whole: bool,
) -> Iterator[str]:
    chosen = [*range(sheet.names), *band]
    wide = [widths[i] for i in chosen]
    numbers = range(sheet.names, len(chosen))
    heads = [sheet.headings[i].split("\n") for i in chosen]
    deep = max(map(len, heads))
    for level in range(deep):
        texts = [([""] * (deep - len(head)) + head)[level] for head in heads]
        yield align(texts, wide, right=numbers, gap=_GAP)
    yield "─" * min(width, sum(wide) + len(wide[1:]) * len(_GAP))
    for index, line in enumerate(sheet.lines):
        cells = [line.cells[i] for i in chosen]
        if whole or any(cells[sheet.names :]) or _heads(sheet.lines[index:], band):
            style = RED if line.failed else YELLOW if line.why else ""
            yield from _row(line, cells, wide, sheet.names, width, style if colour else "")


def _heads(lines: Sequence[Line], band: Sequence[int]) -> bool:
    """Whether the first line is the heading of one below it that has a number in these columns."""
    below = takewhile(lambda line: line.indent > lines[0].indent, lines[1:])
    return any(line.cells[i] for line in below for i in band)


def _row(
    line: Line, cells: Sequence[str], widths: Sequence[int], names: int, width: int, style: str
) -> Iterator[str]:
    """The lines of a row: its names folded, the numbers beside the first line of them.

    A name with a word that is wider than its column has lines of its own, and its numbers follow.
    """
    margin = "  " * line.indent
    room = [widths[0] - len(margin), *widths[1:names]]
    values = (
        [_paint(cells[names], style, bool(style)), *cells[names + 1 :]] if cells[names:] else []
    )
    numbers = range(names, len(widths))
    if names == 1 and longest_word(cells[0]) > room[0] - 2 and columns(cells[0]) > room[0]:
        first, *more = fold(cells[0], width - len(margin))
        yield f"{margin}{first}"
        yield from (f"{margin}  {part}" for part in more)
        if any(values):
            yield align(["", *values], widths, right=numbers, gap=_GAP)
        return
    folded = [fold(cell, wide) for cell, wide in zip(cells[:names], room, strict=True)]
    deep = max(map(len, folded))
    for level in range(deep):
        parts = [part[level] if level < len(part) else "" for part in folded]
        parts = [f"  {part}" if level and part else part for part in parts]
        parts[0] = f"{margin}{parts[0]}" if parts[0] else ""
        yield align(
            [*parts, *(values if not level else [""] * len(values))],
            widths,
            right=numbers,
            gap=_GAP,
        )


def _paint(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{PLAIN}" if style and colour and text else text
