"""What is kept for metric scripts, as people read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..documents.wording import plural
from .alignment import align, measure

if TYPE_CHECKING:
    from ..scripts.cache import Entry

_DAY = 86_400


def kept(entries: Sequence[Entry], folder: str) -> str:
    """A line for each thing that is kept, and all of it together."""
    rows = [("kind", "name", "MB", "last used")]
    rows += [(e.kind, e.name, _megabytes([e]), _since(e.age)) for e in entries]
    widths = measure(rows)
    lines = [align(row, widths, right=(2, 3)) for row in rows] if entries else []
    return "\n".join([*lines, f"{_all(entries)} in {folder}"]) + "\n"


def removed(entries: Sequence[Entry]) -> str:
    """How much went."""
    return f"removed {_all(entries)}\n"


def unused(folder: str, why: str) -> str:
    """That nothing is kept there, and what to do."""
    return (
        f"nothing is kept: {folder} is not used, for {why}; set XDG_CACHE_HOME to another place\n"
    )


def _all(entries: Sequence[Entry]) -> str:
    noun = "entry" if len(entries) == 1 else "entries"
    return f"{len(entries)} {noun}, {_megabytes(entries)} MB"


def _megabytes(entries: Sequence[Entry]) -> str:
    return f"{sum(entry.size for entry in entries) / 1e6:.1f}"


def _since(seconds: float) -> str:
    days = int(seconds / _DAY)
    return f"{plural(days, 'day')} ago" if days else "today"
