"""Findings as people read them: the fact, the source line with carets, notes and help."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from ..diagnostics import Diagnostic, Severity
from ..syntax import printable

_WIDEST = 160


def text(found: Iterable[Diagnostic], sources: Mapping[str, str] | None = None) -> str:
    """Every finding in full, an empty line between two; `sources` are the texts by path."""
    found = list(found)
    named = {diagnostic.path for diagnostic in found}
    rows = {p: source.split("\n") for p, source in (sources or {}).items() if p in named}
    return "\n".join(_finding(diagnostic, rows) for diagnostic in found)


def _finding(diagnostic: Diagnostic, sources: Mapping[str, list[str]]) -> str:
    d, span = diagnostic, diagnostic.span
    lines = [f"{d.severity}[{d.rule}]: {printable(d.message)}"]
    gutter = " " * (len(str(span.line)) if span else 1)
    if d.path is not None:
        place = f":{span.line}:{span.column}" if span else ""
        lines.append(f"{gutter}--> {printable(d.path)}{place}")
    rows = sources.get(d.path or "", [])
    if span and 0 < span.line <= len(rows):
        lines += _snippet(d, rows[span.line - 1].rstrip("\r"), gutter)
    if d.subject:
        lines.append(f"{gutter} = in {printable(d.subject)}")
    lines += [f"{gutter} = note: {printable(note)}" for note in d.notes]
    if d.help:
        lines.append(f"{gutter} = help: {printable(d.help)}")
    return "\n".join(lines) + "\n"


def _snippet(d: Diagnostic, row: str, gutter: str) -> list[str]:
    """The source line, or the part of a long one around the place, and carets below it."""
    assert d.span is not None
    start = d.span.column - 1
    end = d.span.end_column - 1 if d.span.end_line == d.span.line else len(row)
    cut = max(0, start - 40) if columns(row) > _WIDEST else 0
    stop = cut
    width = 0
    while stop < len(row) and width + columns(row[stop]) <= _WIDEST:
        width += columns(row[stop])
        stop += 1
    shown = "".join(c if c.isprintable() else " " for c in row[cut:stop])
    before, after = "…" if cut else "", "…" if stop < len(row) else ""
    pad = " " * columns(before + row[cut:start])
    carets = "^" * max(1, columns(row[start : min(end, stop)]))
    return [
        f"{gutter} |",
        f"{d.span.line} | {before}{shown}{after}".rstrip(),
        f"{gutter} | {pad}{carets} {d.label}".rstrip(),
        f"{gutter} |",
    ]


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def summary(found: Iterable[Diagnostic], n_files: int, n_datasets: int) -> str:
    """How many findings there are, and in how much."""
    severities = [d.severity for d in found]
    counted = [plural(severities.count(s), str(s)) for s in Severity if s in severities]
    where = f"{plural(n_files, 'file')}, {plural(n_datasets, 'dataset')}"
    return f"Found {', '.join(counted)} in {where}." if counted else f"No mistakes in {where}."


def plural(n: int, noun: str) -> str:
    """The number with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
