"""A trial of a metric script, for its author."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..documents.wording import plural, printable
from .alignment import align, measure
from .numerals import exact

if TYPE_CHECKING:
    from ..scripts.check import Check, Tried
    from ..scripts.kept import Environment


def check(result: Check) -> str:
    """The script and where it ran, a paragraph a case, and what it was refused."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: Check) -> Iterator[str]:
    yield f"{printable(result.script.shown)}"
    yield f"sha256 {result.script.sha256}"
    if result.script.company:
        yield f"sha256 {result.script.pin}, with {result.script.company}"
    yield f"{_environment(result.environment)}; ready after {_time(result.prepared_in)}"
    calls = ", seccomp" if result.filtered else ""
    yield f"sandbox {'+'.join(result.layers) or 'none'}{calls}"
    for why in result.missing:
        yield f"  without {printable(why)}"
    for tried in result.tried:
        yield ""
        yield f"{tried.case}: {plural(tried.n, 'trial')}, {_time(tried.seconds)}"
        yield from _outcome(tried)
    if result.refused:
        yield ""
        yield "refused, by the sandbox or the system:"
        yield from (f"  {printable(line)}" for line in result.refused)
    if result.differing:
        yield ""
        yield "the same rewards gave other numbers the second time:"
        yield from (f"  {case}" for case in result.differing)


def _environment(environment: Environment) -> str:
    if not environment.uv:
        return f"Python {environment.python}, no PEP 723 block: the standard library alone"
    lock = ", locked" if environment.lock else ""
    return f"Python {environment.python}, uv {environment.uv}{lock}"


def _outcome(tried: Tried) -> Iterator[str]:
    if tried.error:
        first, *more = tried.error.split("\n")
        yield f"  failed: {printable(first)}"
        yield from (f"  {printable(line)}" for line in more)
        return
    rows = [(printable(name), exact(value)) for name, value in tried.values.items()]
    widths = measure(rows)
    yield from (f"  {align(row, widths)}" for row in rows)
    yield from (f"  {line}" for line in tried.said.splitlines())


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
