"""What a notebook shows: small, by attributes alone, without anything to be linked to."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison.document import Comparison
from ..evaluation.result import Result
from ..reports.series import Series
from . import comparison as beside
from . import html as made
from . import markdown as plain
from .figures.differences import differences
from .figures.figure import Figure, Numbers
from .figures.values import values
from .markup import Markup
from .overview import sheets
from .remarks import in_lines
from .sheet import Sheet
from .table import table

# Notebooks are kept in version control, and hosts show large cells cut.
MOST_BYTES = 20_000
_MARKS = 24
# So many of what was found are shown, and so much of each.
_REMARKS, _LONGEST = 6, 600
# How many lines of all tables are shown, as far as there is room.
_LINES = (1000, 100, 50, 20, 10, 0)


def html(result: Result) -> str:
    """The first picture and the tables, as many lines of them as there is room for."""
    shown = sheets(result)
    series = [Series(None, group) for group in result.groups]
    figure = values(series, most_marks=_MARKS) if series else None
    return _fitting(figure, shown, in_lines(result.found))


def html_of_comparison(comparison: Comparison) -> str:
    """The same of a comparison."""
    shown = [beside.sheet(comparison, compared) for compared in comparison.comparisons]
    first = comparison.comparisons[0] if comparison.comparisons else None
    figure = differences(comparison, first, 1, most_lanes=_MARKS) if first is not None else None
    return _fitting(figure, shown, in_lines(comparison.found))


def _fitting(figure: Figure | None, shown: Sequence[Sheet], said: Sequence[str]) -> str:
    pictures = [made.figure_in_cell(figure)] if figure is not None else []
    below = [made.listing(_few(said))] if said else []
    for most in _LINES:
        text = made.cell(*pictures, *_tables(shown, most), *below)
        if len(text.encode()) <= MOST_BYTES:
            return text
    return made.cell(*_tables(shown[:1], 0), *below)


def _few(said: Sequence[str]) -> list[str]:
    more = [f"and {len(said) - _REMARKS} more: .diagnostics"] if len(said) > _REMARKS else []
    return [*(text[:_LONGEST] for text in said[:_REMARKS]), *more]


def _tables(shown: Sequence[Sheet], most: int) -> list[Markup]:
    parts = []
    for sheet in shown:
        lines, most = sheet.lines[:most], max(0, most - len(sheet.lines))
        left = len(sheet.lines) - len(lines)
        why = any(line.why for line in lines)
        numbers = Numbers(
            (*(" ".join(heading.split("\n")) for heading in sheet.headings), *(["why"] * why)),
            [
                (
                    f"{chr(0x2003) * line.indent}{line.cells[0]}",
                    *line.cells[1:],
                    *([line.why] * why),
                )
                for line in lines
            ],
            names=sheet.names,
            more=f"and {left} more lines" if left else "",
        )
        below = [": ".join(filter(None, pair)) for pair in sheet.below]
        parts.append(made.titled_table(sheet.title, sheet.counts, numbers, below if most else ()))
    return parts


def markdown(result: Result) -> str:
    """The tables, as many lines of them as there is room for."""
    return _cut(_remarks(in_lines(result.found)) + plain.markdown(sheets(result)))


def markdown_of_comparison(comparison: Comparison) -> str:
    """The same of a comparison."""
    shown = (beside.sheet(comparison, own) for own in comparison.comparisons)
    return _cut(_remarks(in_lines(comparison.found)) + plain.markdown(shown))


def _remarks(said: Sequence[str]) -> str:
    return "".join(f"- {plain.inert(text)}\n" for text in _few(said)) + "\n" * bool(said)


def _cut(text: str) -> str:
    if len(text.encode()) <= MOST_BYTES:
        return text
    kept = text.encode()[: MOST_BYTES - 100].decode(errors="ignore")
    return f"{kept.rpartition(chr(10))[0]}\n\nThe other lines are left out.\n"


def text(result: Result) -> str:
    """The tables of a terminal."""
    said = "".join(f"\n{text}" for text in _few(in_lines(result.found)))
    return table(sheets(result)) + said
