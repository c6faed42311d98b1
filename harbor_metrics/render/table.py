"""A result as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from html import escape
from typing import IO

from ..result import Group, Result
from .rows import HEADINGS, counts, details, rows, title


def table(result: Result, file: IO[str]) -> None:
    """Print a table a group; 80 columns where there is no terminal, colour only where there is."""
    from rich.console import Console

    console = Console(file=file, highlight=False, width=None if file.isatty() else 80)
    for index, group in enumerate(result.groups):
        if index:
            console.print()
        _print(group, console)


def _print(group: Group, console: object) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    console.print(Text(title(group), style="bold"), soft_wrap=True)
    console.print(Text(counts(group), style="dim"))
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading in HEADINGS:
        right = heading != "metric"
        grid.add_column(
            heading, justify="right" if right else "left", no_wrap=right, overflow="fold"
        )
    reasons = []
    for row in rows(group):
        style = "red" if row.value == "failed" else "yellow" if row.why else ""
        grid.add_row(Text(row.metric), Text(row.value, style=style), Text(row.n))
        if row.why:
            reasons.append(f"{row.metric}: {row.why}")
    console.print(grid)
    for reason in dict.fromkeys(reasons):
        console.print(Text(reason), soft_wrap=True)
    for name, value in details(group):
        console.print(Text.assemble((f"{name}  ", "dim"), value))


def html(result: Result) -> str:
    """The tables as HTML without scripts or styles of its own."""
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
