"""What was found about a metric script, for its author."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..syntax import printable
from .rows import number
from .text import columns, plural

if TYPE_CHECKING:
    from ..scripts.check import Check, Tried


def check(found: Check) -> str:
    """A paragraph a case, and what there is to say about all of them."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Check) -> Iterator[str]:
    made = found.environment
    yield f"{printable(found.script.shown)}"
    yield f"sha256 {found.script.sha256}"
    lock = ", locked" if made.lock else ""
    uv = f", uv {made.uv}{lock}" if made.uv else ", no PEP 723 block: the standard library alone"
    yield f"Python {made.python}{uv}; ready after {_time(found.prepared_in)}"
    yield f"sandbox {'+'.join(found.layers) or 'none'}"
    for why in found.missing:
        yield f"  without {printable(why)}"
    for tried in found.tried:
        yield ""
        yield f"{tried.case}: {plural(tried.n, 'trial')}, {_time(tried.seconds)}"
        yield from _outcome(tried)
    if found.refused:
        yield ""
        yield "refused, by the sandbox or the system:"
        yield from (f"  {printable(line)}" for line in found.refused)
    if found.differing:
        yield ""
        yield "the same rewards gave other numbers the second time:"
        yield from (f"  {case}" for case in found.differing)


def _outcome(tried: Tried) -> Iterator[str]:
    if tried.error:
        first, *more = tried.error.split("\n")
        yield f"  failed: {printable(first)}"
        yield from (f"  {printable(line)}" for line in more)
        return
    shown = {printable(name): number(value) for name, value in tried.values.items()}
    width = max(map(columns, shown))
    yield from (f"  {name}{' ' * (width - columns(name))}  {n}" for name, n in shown.items())


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
