"""What `list` prints: a table by family, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

import msgspec

from ..listing import Entry

_GAP = "  "


def table(entries: Sequence[Entry], width: int) -> str:
    """A section a family, a line a name, folded at the width."""
    return "\n".join(_lines(entries, max(width, 40))) + "\n"


def _lines(entries: Sequence[Entry], width: int) -> Iterator[str]:
    room = max(len(entry.name) for entry in entries) + len(_GAP)
    first = True
    for (kind, family), members in groupby(entries, key=lambda entry: (entry.kind, entry.family)):
        if not first:
            yield ""
        first = False
        yield f"{family} ({kind}s)"
        for entry in members:
            lines = wrap(_about(entry), width - room - len(_GAP)) or [""]
            yield f"{_GAP}{entry.name:<{room}}{lines[0]}".rstrip()
            yield from (f"{_GAP}{'':<{room}}{line}" for line in lines[1:])


def _about(entry: Entry) -> str:
    if entry.of is None:
        return entry.summary
    kwargs = ", ".join(f"{k}={_plain(v)}" for k, v in entry.of["kwargs"].items())
    return f"{entry.of['type']}({kwargs})" if kwargs else str(entry.of["type"])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def json(entries: Sequence[Entry]) -> str:
    """An array of objects, one a name."""
    encoded = msgspec.json.encode([entry._asdict() for entry in entries])
    return msgspec.json.format(encoded, indent=2).decode() + "\n"
