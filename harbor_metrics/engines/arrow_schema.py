"""Columns of durations: Arrow's own schema in a footer says so, and Parquet has no word for it.

To who knows Parquet alone they are integers of a unit that nobody tells.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Sequence

from ..documents.wording import printable
from ..errors import InputError
from .heads import read_footer, values_in

_KEY = b"ARROW:schema"
# Before the message: that it goes on, which older ones do not say, and its length.
_GOES_ON, _BEFORE, _SHORTER = b"\xff" * 4, 8, 4
# The places of fields in tables of Arrow's Message, Schema and Field, and a type by its number.
_HEADER, _FIELDS, _NAME, _KIND = 2, 1, 0, 2
_DURATION = 18
_BROKEN = (struct.error, ValueError)


def durations(file: str, columns: Callable[[], Sequence[str] | None] = lambda: None) -> list[str]:
    """The names of these columns of a file; none where it has no such schema.

    `columns` gives those of the file itself: some readers take what the schema says by the names of
    columns, and some by their places.

    Raises:
        InputError: it has one that cannot be read, in which others may find durations, or that is
            of other columns.
        OSError: the file cannot be read.
    """
    found: list[str] = []
    for schema in values_in(read_footer(file), _KEY):
        try:
            message = base64.b64decode(schema or b"")
            start = _BEFORE if message.startswith(_GOES_ON) else _SHORTER
            fields = list(_fields(message[start:]))
        except _BROKEN as error:
            raise InputError(
                f"{printable(file)}: Arrow's own schema in its footer cannot be read",
                "write the file anew",
            ) from error
        named = [name for name, is_duration in fields if is_duration]
        own = columns() if named else None
        if own is not None and [name for name, _ in fields] != list(own):
            raise InputError(
                f"{printable(file)}: Arrow's own schema in its footer has other columns than it",
                "write the file anew",
            )
        found += named
    return found


def _fields(message: bytes) -> Iterator[tuple[str, bool]]:
    """The columns of a message, a flatbuffer that holds a schema, and which are durations."""
    buffer = _Buffer(message)
    fields = buffer.inner(buffer.inner(buffer.at(0), _HEADER), _FIELDS)
    (n,) = struct.unpack_from("<I", message, fields)
    if n > len(message):
        raise ValueError
    for i in range(n):
        field = buffer.at(fields + 4 + 4 * i)
        kind = buffer.place(field, _KIND)
        is_duration = kind is not None and message[kind : kind + 1] == bytes([_DURATION])
        if buffer.place(field, _NAME) is None and not is_duration:
            yield "", False
            continue
        name = buffer.inner(field, _NAME)
        (length,) = struct.unpack_from("<I", message, name)
        yield message[name + 4 : name + 4 + length].decode(), is_duration


class _Buffer:
    """Tables of a flatbuffer, by where they begin."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, place: int) -> int:
        """Where what is named at a place begins."""
        (further,) = struct.unpack_from("<I", self._data, place)
        return place + int(further)

    def place(self, table: int, field: int) -> int | None:
        """Where a field of a table stands; None where it has none."""
        (back,) = struct.unpack_from("<i", self._data, table)
        size, at = struct.unpack_from("<H", self._data, table - back)[0], 4 + 2 * field
        if at >= size:
            return None
        (further,) = struct.unpack_from("<H", self._data, table - back + at)
        return table + further if further else None

    def inner(self, table: int, field: int) -> int:
        """Where begins what a field of a table names.

        Raises:
            ValueError: it has none.
        """
        place = self.place(table, field)
        if place is None:
            raise ValueError
        return self.at(place)
