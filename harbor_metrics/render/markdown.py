"""Sheets as Markdown, for pull requests and step summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .sheet import Sheet

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
# An indent that Markdown keeps.
_INDENT = "&emsp;"


def markdown(sheets: Iterable[Sheet]) -> str:
    """A section with a table for each sheet."""
    return "\n".join(map(_section, sheets))


def _section(sheet: Sheet) -> str:
    lines = [f"### {_escape(sheet.title)}", "", _escape(sheet.counts), ""]
    sides = [":---"] * sheet.names + ["---:"] * (len(sheet.headings) - sheet.names)
    lines += [_line([_escape(" ".join(head.split("\n"))) for head in sheet.headings]), _line(sides)]
    below = []
    for line in sheet.lines:
        first, *others = map(_escape, line.cells)
        lines.append(_line([_INDENT * line.indent + first, *others]))
        if line.why:
            below.append(f"- {first}: {_escape(' '.join(line.why.split(chr(10))))}")
    below += [f"- {name}: {_escape(text)}" for name, text in sheet.below]
    return "\n".join([*lines, "", *dict.fromkeys(below), *([""] if below else [])])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
