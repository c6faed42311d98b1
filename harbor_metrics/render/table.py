"""A result as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..result import Group, Result
from .rows import counts, details, grid, title
from .text import columns

_GAP = "   "
_BOLD, _DIM, _RED, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"


def table(result: Result, *, width: int = 80, colour: bool = False) -> str:
    """A table a group, at most `width` columns wide where the numbers allow it."""
    lines: list[str] = []
    for group in result.groups:
        lines += ["", *_lines(group, width, colour)] if lines else _lines(group, width, colour)
    return "".join(f"{_no_command(line)}\n" for line in lines)


def _no_command(line: str) -> str:
    """A script names its values: no line of a table may be one that GitHub's runner obeys."""
    return line.replace("::", r"\x3a:", 1) if line.lstrip().startswith("::") else line


def _lines(group: Group, width: int, colour: bool) -> Iterator[str]:
    headings, cells, whys = grid(group)
    widths = [max(map(columns, texts)) for texts in zip(headings, *cells, strict=True)]
    room = max(16, width - sum(widths[1:]) - len(widths[1:]) * len(_GAP))
    widths[0] = min(widths[0], room)

    def line(texts: Sequence[str], style: str = "") -> Iterator[str]:
        first, *more = _folded(texts[0], widths[0])
        right = [
            " " * (wide - columns(text)) + _painted(text, style if i == 0 else "", colour)
            for i, (text, wide) in enumerate(zip(texts[1:], widths[1:], strict=True))
        ]
        yield _GAP.join([_padded(first, widths[0]), *right]).rstrip()
        yield from (f"  {part}" for part in more)

    for part in _folded(title(group), width):
        yield _painted(part, _BOLD, colour)
    for part in _folded(counts(group), width):
        yield _painted(part, _DIM, colour)
    yield from line(headings)
    yield "─" * (sum(widths) + len(widths[1:]) * len(_GAP))
    for row, why in zip(cells, whys, strict=True):
        yield from line(row, _RED if row[1] == "failed" else _YELLOW if why else "")
    named = zip(cells, whys, strict=True)
    for reason in dict.fromkeys(f"{row[0]}: {why}" for row, why in named if why):
        for text in reason.split("\n"):
            yield from _folded(text, width)
    for name, text in details(group):
        first, *more = _folded(f"{name}  {text}", width)
        yield _painted(name, _DIM, colour) + first.removeprefix(name)
        yield from (f"  {part}" for part in more)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _folded(text: str, width: int) -> list[str]:
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


def _painted(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if style and colour else text


def html(result: Result) -> str:
    """The tables as HTML without scripts or styles of its own."""
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
