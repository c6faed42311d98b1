"""A result as Markdown, for pull requests and step summaries."""

from __future__ import annotations

import re

from ..evaluation.result import Group, Result
from .rows import counts, details, grid, title

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(result: Result) -> str:
    """A section with a table for each group."""
    return "\n".join(_section(group) for group in result.groups)


def _section(group: Group) -> str:
    lines = [f"### {_escape(title(group))}", "", _escape(counts(group)), ""]
    headings, cells, whys = grid(group)
    lines += [_line(headings), _line((":---", *["---:"] * (len(headings) - 1)))]
    below = []
    for row, why in zip(cells, whys, strict=True):
        lines.append(_line(tuple(map(_escape, row))))
        if why:
            below.append(f"- {_escape(row[0])}: {_escape(why.replace(chr(10), ' '))}")
    below += [f"- {name}: {_escape(value)}" for name, value in details(group)]
    return "\n".join([*lines, "", *dict.fromkeys(below), *([""] if below else [])])


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
