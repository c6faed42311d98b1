"""What the footer of a Parquet says of its pages, where an engine would believe it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from ..documents.wording import printable
from ..errors import InputError
from .extras import literal
from .heads import (
    BROKEN,
    DATA,
    DATA_V2,
    DICTIONARY,
    RUNS,
    Head,
    footer_length,
    read_footer,
    read_head,
)
from .pages import UNPACKED, unpacked_page

# As of archives: no file of trials comes near so many rows and bytes for each of its own bytes.
_MOST_TIMES = 500
# A footer that is harmless, and the longest that is read; what is listed there takes some bytes.
_SHORT, _LONGEST, _LEAST = 1 << 18, 16 << 20, 8
_MOST_ROWS, _MOST_BYTES = 16 << 20, 64 << 20
_REQUIRED = "REQUIRED"
# Bytes that an encoding takes where it encodes nothing: plain, and those of differences.
_OF_NO_VALUES = {0: 0, 5: 5, 6: 5, 7: 10}


class _Chunk(NamedTuple):
    """The values of a column in a group of rows, where all are said to be null.

    `lies` is whether the footer has a least or a largest of them, or the column can have no nulls;
    `plain` whether no list or structure is around them.
    """

    file: str
    column: str
    codec: str
    values: int
    rows: int
    lies: bool
    plain: bool
    start: int
    end: int


def check_lengths(files: Sequence[str]) -> None:
    """Refuse files whose footers take very much memory: 5 MB that are zeros took 4 GB.

    DuckDB makes room for whatever a footer says that it lists, before it reads the first of that.

    Raises:
        InputError: there is one.
    """
    for file in files:
        length = footer_length(file)
        if length <= _SHORT:
            continue
        if length > _LONGEST or not _lists_what_it_has(read_footer(file)):
            raise InputError(
                f"{printable(file)}: its footer of {length:,} bytes lists more than it can hold, "
                f"or is longer than {_LONGEST >> 20} MiB",
                "write the file anew, in larger groups of rows",
            )


def _lists_what_it_has(footer: bytes) -> bool:
    try:
        Head(footer).count_listed(len(footer) // _LEAST)
    except BROKEN:
        return False
    return True


def check_sizes(connection: Any, files: Sequence[str]) -> None:
    """Refuse files that are small and unpack to very much: 2 kB held a machine for minutes.

    And those in which a column's dictionary is said to lie behind its values: some readers begin
    with it in any case, and would read other pages than others do.

    Raises:
        InputError: there are such files.
    """
    if not files:
        return
    # A name that is told to DuckDB stands for one file, of which it gives the name itself.
    sizes = connection.execute(
        "select sum(row_group_num_rows) filter (column_id = 0), sum(total_uncompressed_size), "
        # The first page can be behind the mark; of no rows some writers note no place of it.
        "bool_or(row_group_num_rows > 0 and coalesce(dictionary_page_offset, 0) <> 0 and "
        "not dictionary_page_offset between 4 and data_page_offset), "
        "file_name from parquet_metadata(?) group by file_name",
        [list(files)],
    ).fetchall()
    for *_, is_behind, file in sizes:
        if is_behind:
            raise InputError(
                f"{printable(file)} is damaged: its footer says that a column's dictionary lies "
                "where none can be",
                "write the file anew",
            )
    size = sum(os.path.getsize(file) for *_, file in sizes)
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
            lies = chunk.lies or _has_values(file, chunk)
        if lies:
            seen = "they are not" if chunk.codec in UNPACKED else f"by {chunk.codec} nobody sees it"
            raise InputError(
                f"{printable(chunk.file)}: its footer says that all values of a part of column "
                f"`{printable(chunk.column)}` are null, and {seen}",
                "write the file anew, packed with Snappy, gzip or Zstandard if at all",
            )


def _said_null(connection: Any, files: Sequence[str]) -> Iterator[_Chunk]:
    rows = connection.execute(
        "select file_name, column_id, compression, num_values, row_group_num_rows, "
        "least(data_page_offset, nullif(dictionary_page_offset, 0)), total_compressed_size, "
        "coalesce(stats_min, stats_max, stats_min_value, stats_max_value) is not null "
        "from parquet_metadata(?) where "
        "stats_null_count >= least(num_values, row_group_num_rows) and num_values > 0",
        [list(files)],
    ).fetchall()
    columns: dict[str, list[Leaf]] = {}
    for file, column, codec, values, n, start, size, named in rows:
        if file not in columns:
            columns[file] = columns_by_place(connection, file)
        name, repetition = columns[file][column]
        plain = name is not None
        # PyArrow names the least and the largest of a dictionary, also where none of it is there.
        is_shown = plain and codec in UNPACKED
        lies = (named and not is_shown) or (plain and repetition == _REQUIRED)
        yield _Chunk(file, name or "", codec, values, n, lies, plain, start, start + size)


class Leaf(NamedTuple):
    """A column of values: its name, None in a list or a structure; whether it can have nulls."""

    name: str | None
    repetition: str | None


def columns_by_place(connection: Any, file: str) -> list[Leaf]:
    """The columns of values as readers find them: by their places.

    What a chunk of one is called in the footer says nothing.
    """
    query = "select name, num_children, repetition_type from parquet_schema(?)"
    rows = connection.execute(query, [literal(file)]).fetchall()
    columns: list[Leaf] = []
    inside = 0
    for name, children, repetition in rows[1:]:
        if not children:
            columns.append(Leaf(None if inside else name, repetition))
        inside += (children or 0) - bool(inside)
    return columns


def _has_values(file: BinaryIO, chunk: _Chunk) -> bool:
    """Whether a page says of a value more than that it is null."""
    place, left = chunk.start, chunk.values
    if chunk.plain and left > chunk.rows:
        return True
    try:
        while left > 0 and place < chunk.end:
            page, place = read_head(file, place, chunk.end)
            packed = page[3]
            file.seek(place)
            data = file.read(max(0, min(packed, chunk.end - place)))
            n = _nulls(page, data, chunk)
            if n is None or n > left or packed < 0:
                return True
            left -= n
            place += packed
    except BROKEN:
        return True
    return left > 0


def _nulls(page: dict[int, Any], data: bytes, chunk: _Chunk) -> int | None:
    """Of how many values a page says that they are null; None where it has others."""
    if page[1] == DICTIONARY:
        # Whose values no page has that shows that all of its own are null.
        return 0 if (chunk.plain and chunk.codec in UNPACKED) or page[7][1] <= 0 else None
    n: int
    if page[1] == DATA_V2:
        n, nulls = page[8][1], page[8][2]
        if not n == nulls > 0:
            return None
        levels = data[page[8].get(6, 0) :][: page[8].get(5, 0)]
        return n if not chunk.plain or _are_null(levels, n) else None
    if page[1] != DATA:
        return 0
    n, encoding = page[5][1], page[5][2]
    if n <= 0 or page[2] > _most_of_nulls(n, encoding, plain=chunk.plain):
        return None
    if not chunk.plain:
        return n
    content = unpacked_page(chunk.codec, data, page[2])
    if content is None:
        return n if _holds_no_value(page[2], n, encoding) else None
    levels = content[4 : 4 + int.from_bytes(content[:4], "little")]
    return n if page[5][3] == RUNS and _are_null(levels, n) else None


def _holds_no_value(size: int, n: int, encoding: int) -> bool:
    """Whether a page of n rows, packed as nothing here unpacks, has no room for a value.

    One run says that all are null, and how long that is stands before it. Some encodings have a
    head, in which one value has room where there is no other row.
    """
    run = 1 + -(-(2 * n).bit_length() // 7)
    head = _OF_NO_VALUES.get(encoding, 2)
    return size <= 4 + run + head and not (n == 1 and head > 2)


def _most_of_nulls(n: int, encoding: int, *, plain: bool) -> int:
    """The most bytes of a page of nulls: a bit for each, how many, and an encoding's head."""
    if not plain:
        return 128 + n  # nobody knows how many lists are empty, and how many are null
    # fastparquet writes so many, and eight more; others say how many there are, and no more.
    return 4 + 5 + (n + 7) // 8 + 8 + _OF_NO_VALUES.get(encoding, 2)


def _are_null(said: bytes, n: int) -> bool:
    """Whether all of n values are null by what a page says of each, in runs."""
    levels = Head(said)
    while n > 0:
        times, packed = divmod(levels.unsigned(), 2)
        length = times if packed else 1
        if any(levels.bytes(length)):
            return False
        n -= 8 * times if packed else times
    return True
