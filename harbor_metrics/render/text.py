"""Diagnostics as people read them, in full and on one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import columns, plural, printable, quoted_line

_WIDEST = 160
# Characters of a line among which there are that many columns, unless most take no room.
_LOOKED_AT = 4 * _WIDEST


def text(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None) -> str:
    """The fact, the source line with carets, notes and help; `sources` are the texts by path."""
    diagnostics = list(diagnostics)
    paths = {d.path for d in diagnostics}
    rows = {p: source.split("\n") for p, source in (sources or {}).items() if p in paths}

    # Once for each line, of which one may be the whole file and hold every mistake.
    @cache
    def row(path: str | None, line: int) -> str | None:
        lines = rows.get(path or "", [])
        return quoted_line(lines[line - 1].rstrip("\r")) if line <= len(lines) else None

    return "\n".join(_paragraph(d, row) for d in diagnostics)


def concise(diagnostics: Iterable[Diagnostic]) -> str:
    """`path:line:column: severity[rule] message`, as compilers print and editors read it."""
    return "".join(
        f"{_place(d)}: {d.severity}[{d.rule}] {printable(d.message)}\n" for d in diagnostics
    )


def _place(d: Diagnostic) -> str:
    place = f":{d.span.line}:{d.span.column}" if d.span else ""
    return f"{printable(d.path or '-')}{place}"


def _paragraph(d: Diagnostic, row_of: Callable[[str | None, int], str | None]) -> str:
    span = d.span
    lines = [f"{d.severity}[{d.rule}]: {printable(d.message)}"]
    gutter = " " * (len(str(span.line)) if span else 1)
    if d.path is not None:
        lines.append(f"{gutter}--> {_place(d)}")
    if span and span.line > 0 and (row := row_of(d.path, span.line)) is not None:
        lines += _snippet(d, row, gutter)
    if d.subject:
        lines.append(f"{gutter} = in {printable(d.subject)}")
    lines += [f"{gutter} = note: {printable(note)}" for note in d.notes]
    if d.help:
        lines.append(f"{gutter} = help: {printable(d.help)}")
    return "\n".join(lines) + "\n"


def _snippet(d: Diagnostic, row: str, gutter: str) -> list[str]:
    """The source line, of a long one the part around the place, and carets below it."""
    assert d.span is not None
    start = d.span.column - 1
    end = d.span.end_column - 1 if d.span.end_line == d.span.line else len(row)
    # Of a line that is the whole file no more is looked at than can be shown.
    cut = max(0, start - 40) if columns(row[:_LOOKED_AT]) > _WIDEST else 0
    stop = cut
    width = 0
    last = min(len(row), cut + _LOOKED_AT)
    while stop < last and (wider := width + columns(row[stop])) <= _WIDEST:
        width = wider
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


def summary(diagnostics: Iterable[Diagnostic], n_files: int, n_datasets: int) -> str:
    """How many diagnostics of each severity there are, in how many files and datasets."""
    severities = [d.severity for d in diagnostics]
    counts = [plural(severities.count(s), str(s)) for s in Severity if s in severities]
    where = f"{plural(n_files, 'file')}, {plural(n_datasets, 'dataset')}"
    return f"Found {', '.join(counts)} in {where}." if counts else f"No mistakes in {where}."
