"""What `list` prints: a table by family, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

import msgspec

from ..catalogue.listing import Entry
from .alignment import align

_GAP = "  "


def table(entries: Sequence[Entry], width: int) -> str:
    """A section for each family, a line for each name, folded at the width."""
    return "\n".join(_lines(entries, max(width, 40))) + "\n"


def _lines(entries: Sequence[Entry], width: int) -> Iterator[str]:
    widest = max(len(entry.name) for entry in entries)
    first = True
    for (kind, family), members in groupby(entries, key=lambda entry: (entry.kind, entry.family)):
        if not first:
            yield ""
        first = False
        yield f"{family} ({kind}s)"
        for entry in members:
            lines = wrap(_about(entry), width - widest - 2 * len(_GAP)) or [""]
            names = [entry.name, *[""] * (len(lines) - 1)]
            for row in zip(names, lines, strict=True):
                yield f"{_GAP}{align(row, (widest, 0), gap=_GAP)}"


def _about(entry: Entry) -> str:
    if entry.of is None:
        return entry.summary
    kwargs = ", ".join(f"{k}={_plain(v)}" for k, v in entry.of["kwargs"].items())
    return f"{entry.of['type']}({kwargs})" if kwargs else str(entry.of["type"])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def json(entries: Sequence[Entry]) -> str:
    """An array with an object for each name."""
    encoded = msgspec.json.encode([entry._asdict() for entry in entries])
    return msgspec.json.format(encoded, indent=2).decode() + "\n"
