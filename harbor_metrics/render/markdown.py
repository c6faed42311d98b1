"""A result as Markdown, for pull requests and step summaries."""

from __future__ import annotations

import re

from ..result import Group, Result
from .rows import counts, details, grid, title

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(result: Result) -> str:
    """A section with a table a group."""
    return "\n".join(_section(group) for group in result.groups)


def _section(group: Group) -> str:
    lines = [f"### {_escaped(title(group))}", "", _escaped(counts(group)), ""]
    headings, cells, whys = grid(group)
    lines += [_line(headings), _line((":---", *["---:"] * (len(headings) - 1)))]
    below = []
    for row, why in zip(cells, whys, strict=True):
        lines.append(_line(tuple(map(_escaped, row))))
        if why:
            below.append(f"- {_escaped(row[0])}: {_escaped(why.replace(chr(10), ' '))}")
    below += [f"- {name}: {_escaped(value)}" for name, value in details(group)]
    return "\n".join([*lines, "", *dict.fromkeys(below), *([""] if below else [])])


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
