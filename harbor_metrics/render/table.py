"""A result as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..result import Group, Result
from .rows import HEADINGS, counts, details, rows, title
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
    cells = list(rows(group))
    value = max(columns(text) for text in [HEADINGS[1], *(row.value for row in cells)])
    n = max(columns(text) for text in [HEADINGS[2], *(row.n for row in cells)])
    room = max(16, width - value - n - 2 * len(_GAP))
    metric = max(columns(text) for text in [HEADINGS[0], *(row.metric for row in cells)])
    metric = min(metric, room)

    def line(texts: Sequence[str], style: str = "") -> Iterator[str]:
        first, *more = _folded(texts[0], metric)
        middle = " " * (value - columns(texts[1])) + _painted(texts[1], style, colour)
        yield f"{_padded(first, metric)}{_GAP}{middle}{_GAP}{texts[2]:>{n}}".rstrip()
        yield from (f"  {part}" for part in more)

    for part in _folded(title(group), width):
        yield _painted(part, _BOLD, colour)
    for part in _folded(counts(group), width):
        yield _painted(part, _DIM, colour)
    yield from line(HEADINGS)
    yield "─" * (metric + value + n + 2 * len(_GAP))
    for row in cells:
        yield from line(row[:3], _RED if row.value == "failed" else _YELLOW if row.why else "")
    for reason in dict.fromkeys(f"{row.metric}: {row.why}" for row in cells if row.why):
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
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[:3])
            + "</tr>"
            + (f'<tr><td colspan="3">{escape(row.why)}</td></tr>' if row.why else "")
            for row in rows(group)
        )
        below = "".join(f"<p>{escape(name)}: {escape(value)}</p>" for name, value in details(group))
        parts.append(
            f"<h4>{escape(title(group))}</h4><p>{escape(counts(group))}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
        )
    return "\n".join(parts)
