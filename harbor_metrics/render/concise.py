"""Findings a line each, as compilers print them and editors jump to."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Diagnostic
from ..syntax import printable


def concise(found: Iterable[Diagnostic]) -> str:
    """`path:line:column: severity[rule] message`."""
    return "".join(f"{_place(d)}: {d.severity}[{d.rule}] {printable(d.message)}\n" for d in found)


def _place(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = f":{span.line}:{span.column}" if span else ""
    return f"{printable(diagnostic.path or '-')}{place}"
