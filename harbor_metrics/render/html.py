"""A result as HTML for a notebook, without scripts and styles."""

from __future__ import annotations

from html import escape

from ..evaluation.result import Result
from .overview import sheets
from .sheet import Sheet


def html(result: Result) -> str:
    """The tables."""
    return "\n".join(map(_table, sheets(result)))


def _table(sheet: Sheet) -> str:
    head = "".join(f"<th>{escape(' '.join(h.split(chr(10))))}</th>" for h in sheet.headings)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{'&emsp;' * (line.indent * (not i))}{escape(cell)}</td>"
            for i, cell in enumerate(line.cells)
        )
        + "</tr>"
        + (
            f'<tr><td colspan="{len(sheet.headings)}">{escape(line.why)}</td></tr>'
            if line.why
            else ""
        )
        for line in sheet.lines
    )
    below = "".join(f"<p>{escape(name)}: {escape(text)}</p>" for name, text in sheet.below)
    return (
        f"<h4>{escape(sheet.title)}</h4><p>{escape(sheet.counts)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )
