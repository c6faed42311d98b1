"""A result as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..documents.wording import columns
from ..evaluation.result import Group, Result
from .alignment import align, measure
from .rows import counts, details, grid, title
from .styles import BOLD, DIM, PLAIN, RED, YELLOW

_GAP = "   "


def table(result: Result, *, width: int = 80, colour: bool = False) -> str:
    """A table for each group, at most `width` columns wide where the numbers allow it."""
    lines: list[str] = []
    for group in result.groups:
        lines += ["", *_lines(group, width, colour)] if lines else _lines(group, width, colour)
    return "".join(f"{line}\n" for line in lines)


def _lines(group: Group, width: int, colour: bool) -> Iterator[str]:
    headings, cells, whys = grid(group)
    widths = measure([headings, *cells])
    room = max(16, width - sum(widths[1:]) - len(widths[1:]) * len(_GAP))
    widths[0] = min(widths[0], room)
    numbers = range(1, len(widths))

    def line(texts: Sequence[str], style: str = "") -> Iterator[str]:
        first, *more = _fold(texts[0], widths[0])
        value = _paint(texts[1], style, colour)
        yield align([first, value, *texts[2:]], widths, right=numbers, gap=_GAP)
        yield from (f"  {part}" for part in more)

    for part in _fold(title(group), width):
        yield _paint(part, BOLD, colour)
    for part in _fold(counts(group), width):
        yield _paint(part, DIM, colour)
    yield from line(headings)
    yield "─" * (sum(widths) + len(widths[1:]) * len(_GAP))
    for row, why in zip(cells, whys, strict=True):
        yield from line(row, RED if row[1] == "failed" else YELLOW if why else "")
    reasons = [f"{row[0]}: {why}" for row, why in zip(cells, whys, strict=True) if why]
    for reason in dict.fromkeys(reasons):
        for text in reason.split("\n"):
            yield from _fold(text, width)
    for name, text in details(group):
        first, *more = _fold(f"{name}  {text}", width)
        yield _paint(name, DIM, colour) + first.removeprefix(name)
        yield from (f"  {part}" for part in more)


def _fold(text: str, width: int) -> list[str]:
    """The text in pieces that fit, cut at a space where there is one."""
    pieces: list[str] = []
    while columns(text) > (room := width - (2 if pieces else 0)):
        end = used = 0
        while used + columns(text[end]) <= room or not end:
            used += columns(text[end])
            end += 1
        space = text.rfind(" ", 1, end + 1)
        pieces.append(text[: space if space > room // 3 else end])
        text = text[len(pieces[-1]) :].lstrip(" ")
    return [*pieces, text]


def _paint(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{PLAIN}" if style and colour else text


def html(result: Result) -> str:
    """The tables as HTML, without scripts and styles."""
    # Inside, for weight: only a notebook needs it.
    from html import escape

    parts = []
    for group in result.groups:
        headings, cells, whys = grid(group)
        head = "".join(f"<th>{heading}</th>" for heading in headings)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            + (f'<tr><td colspan="{len(headings)}">{escape(why)}</td></tr>' if why else "")
            for row, why in zip(cells, whys, strict=True)
        )
        below = "".join(f"<p>{escape(name)}: {escape(value)}</p>" for name, value in details(group))
        parts.append(
            f"<h4>{escape(title(group))}</h4><p>{escape(counts(group))}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
        )
    return "\n".join(parts)
