"""What the footer of a Parquet says of its pages, where an engine would believe it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from ..documents.wording import printable
from ..errors import InputError
from .extras import literal

# As of archives: no file of trials comes near so many rows and bytes for each of its own bytes.
_MOST_TIMES = 500
_MOST_ROWS, _MOST_BYTES = 16 << 20, 64 << 20
# Of a page's head; what is longer has a text in it that nobody needs there.
_HEAD = 1 << 16
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_FALSE, _BYTE, _DOUBLE, _TEXT, _LIST, _SET, _MAP, _STRUCT = 2, 3, 7, 8, 9, 10, 11, 12
_DEPTH = 8
# Bytes that an encoding takes where it encodes nothing: plain, and those of differences.
_OF_NO_VALUES = {0: 0, 5: 5, 6: 5, 7: 10}


class _Chunk(NamedTuple):
    """The values of a column in a group of rows, where all are said to be null.

    `named` is whether the footer has a least or a largest of them, `plain` whether no list or
    structure is around them.
    """

    file: str
    column: str
    values: int
    named: bool
    plain: bool
    start: int
    end: int


class _BrokenError(Exception):
    """A page has no head that can be read."""


def check_sizes(connection: Any, files: Sequence[str]) -> None:
    """Refuse files that are small and unpack to very much: 2 kB held a machine for minutes.

    Raises:
        InputError: they do.
    """
    if not files:
        return
    # A name that is told to DuckDB stands for one file, of which it gives the name itself.
    sizes = connection.execute(
        "select sum(row_group_num_rows) filter (column_id = 0), sum(total_uncompressed_size), "
        "file_name from parquet_metadata(?) group by file_name",
        [list(files)],
    ).fetchall()
    size = sum(os.path.getsize(file) for _, _, file in sizes)
    for place, least, what in ((0, _MOST_ROWS, "rows"), (1, _MOST_BYTES, "bytes")):
        found = sum(each[place] or 0 for each in sizes)
        if found > max(least, _MOST_TIMES * size):
            largest = max(sizes, key=lambda each: each[place] or 0)[-1]
            raise InputError(
                f"{printable(largest)} would unpack to {found:,} {what}, {found // size:,} times "
                "as many as its bytes"
                + (", together with the other files" if len(sizes) > 1 else "")
                + f"; at most {_MOST_TIMES} times is read",
                "no file of trials is like that: convert the trials anew",
            )


def check_nulls(connection: Any, files: Sequence[str]) -> None:
    """Refuse a file that has values where its footer says that all are null.

    DuckDB (from 2.0) does not look at such a part of a column, and others do.

    Args:
        connection: a DuckDB.
        files: files on this machine, as it is told of them.

    Raises:
        InputError: so it is.
    """
    for chunk in _said_null(connection, files) if files else ():
        with open(chunk.file, "rb") as file:
            lies = chunk.named or _has_values(file, chunk)
        if lies:
            raise InputError(
                f"{printable(chunk.file)}: its footer says that all values of a part of column "
                f"`{printable(chunk.column)}` are null, and they are not",
                "write the file anew",
            )


def _said_null(connection: Any, files: Sequence[str]) -> Iterator[_Chunk]:
    rows = connection.execute(
        "select file_name, column_id, path_in_schema, num_values, least(data_page_offset, "
        "dictionary_page_offset), total_compressed_size, coalesce(stats_min, stats_max, "
        "stats_min_value, stats_max_value) is not null from parquet_metadata(?) where "
        "stats_null_count >= least(num_values, row_group_num_rows) and num_values > 0",
        [list(files)],
    ).fetchall()
    plain: dict[str, list[bool]] = {}
    for file, column, called, values, start, size, named in rows:
        if file not in plain:
            plain[file] = _plain(connection, file)
        yield _Chunk(file, called, values, named, plain[file][column], start, start + size)


def _plain(connection: Any, file: str) -> list[bool]:
    """Of each column of values, whether no list or structure is around it."""
    query = "select num_children from parquet_schema(?)"
    rows = connection.execute(query, [literal(file)]).fetchall()
    plain, inside = [], 0
    for (children,) in rows[1:]:
        if not children:
            plain.append(not inside)
        inside += (children or 0) - bool(inside)
    return plain


def _has_values(file: BinaryIO, chunk: _Chunk) -> bool:
    """Whether a page is larger than one that says of each value no more than that it is null."""
    place, left = chunk.start, chunk.values
    while left > 0 and place < chunk.end:
        file.seek(place)
        head = _Head(file.read(min(_HEAD, chunk.end - place)))
        n = 0
        try:
            page = head.struct()
            kind, unpacked, packed = page[1], page[2], page[3]
            if kind == _DICTIONARY and page[7][1] > 0:
                return True
            if kind == _DATA:
                n, encoding = page[5][1], page[5][2]
                if unpacked > _most_of_nulls(n, encoding, plain=chunk.plain):
                    return True
                left -= n
            elif kind == _DATA_V2:
                n, nulls = page[8][1], page[8][2]
                if n != nulls:
                    return True
                left -= n
        except (_BrokenError, IndexError, KeyError, TypeError, RecursionError):
            return True
        if packed < 0 or (kind in (_DATA, _DATA_V2) and n <= 0):
            return True
        place += head.place + packed
    return left > 0


def _most_of_nulls(n: int, encoding: int, *, plain: bool) -> int:
    """The most bytes of a page of nulls: how long one run of them is, and an encoding's head."""
    if not plain:
        return 128 + n  # nobody knows how many lists are empty, and how many are null
    return 4 + ((2 * n).bit_length() + 6) // 7 + 1 + _OF_NO_VALUES.get(encoding, 2)


class _Head:
    """Thrift's compact form, as the head of a page has it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Values by the numbers of their fields."""
        if depth > _DEPTH:
            raise _BrokenError
        fields: dict[int, Any] = {}
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            fields[number] = self._value(byte & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind <= _FALSE:
            return kind != _FALSE
        if kind == _BYTE:
            return self._byte()
        if kind < _DOUBLE:
            return self._integer()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _TEXT:
            return self._skip(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise _BrokenError  # lists, sets and maps are in no page's head

    def _byte(self) -> int:
        byte = self._data[self.place]
        self.place += 1
        return byte

    def _skip(self, n: int) -> None:
        self.place += n

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise _BrokenError

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
