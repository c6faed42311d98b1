"""What the pages of a column unfold to, before an engine unfolds them: 300 bytes took gigabytes."""

from __future__ import annotations

import os
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import accumulate
from typing import Any, BinaryIO, NamedTuple

from ..documents.wording import printable
from ..errors import InputError
from ..readers.columns import folded
from ..readers.files.packed import GZIP, DamagedError, gunzipped
from .extras import literal
from .footers import Leaf, columns_by_place
from .heads import BROKEN, DATA, DATA_V2, DICTIONARY, RUNS, BrokenError, Head, read_head
from .pages import unpacked_page

# As of what a footer says; of texts as many as 16 million rows of 32 letters.
_MOST_TIMES = 500
_MOST_PAGES, _MOST_TEXTS = 64 << 20, 512 << 20
_OF_DICTIONARY, _LENGTHS, _SHARED = (2, 8), 6, 7
_TEXT, _OPTIONAL = "BYTE_ARRAY", "OPTIONAL"
# In the head of a page; and so many bytes old programs left out of what they say of a chunk.
_CHECKSUM, _FURTHER = 4, 100
_DAMAGED = "is damaged: its checksum is another"


class _Chunk(NamedTuple):
    """The pages of a column in a group of rows; where it is optional they say its nulls first.

    `end` is where they end as the footer says, `other` where the next ones begin.
    """

    file: str
    codec: str
    is_text: bool
    optional: bool
    rows: int
    start: int
    end: int
    other: int


class _Unfolded(NamedTuple):
    """How many bytes pages unpack to, and texts unfold to at most; whether all pages were read."""

    pages: int = 0
    texts: int = 0
    shared: int = 0
    known: bool = True


class Texts:
    """The columns of files on this machine; of each is asked once, when it is to be read."""

    def __init__(
        self,
        connection: Any,
        files: Sequence[str],
        frugal: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._connection, self._files, self._frugal = connection, list(files), frugal

    def check(self, column: str) -> None:
        """Refuse a column that unfolds to very much more than its files have.

        Raises:
            InputError: it does, or one of its pages cannot be read.
        """
        chunks = self._chunks.get(folded(column), ())
        if not chunks:
            return
        most_pages = max(_MOST_PAGES, _MOST_TIMES * self._size)
        most_texts = max(_MOST_TEXTS, _MOST_TIMES * self._size)
        pages = texts = shared = 0
        known = True
        for chunk in chunks:
            with open(chunk.file, "rb") as file:
                try:
                    most = most_pages - pages, most_texts - shared
                    found = _unfolded(file, chunk, most)
                except BROKEN as error:
                    why = str(error) or "has no head that can be read"
                    raise InputError(
                        f"{printable(chunk.file)}: a page of column `{printable(column)}` {why}",
                        "write the file anew",
                    ) from error
            pages, texts, shared = pages + found.pages, texts + found.texts, shared + found.shared
            known = known and found.known
            if pages > most_pages or shared > most_texts:
                raise self._too_much(column, chunk.file, max(pages, shared))
        if known and texts <= most_texts:
            return
        texts = 0
        for path in dict.fromkeys(chunk.file for chunk in chunks):
            texts += self._asked(path, column)
            if texts > most_texts:
                raise self._too_much(column, path, texts)

    def _asked(self, file: str, column: str) -> int:
        """How long the texts of a column are; of a dictionary's only the lengths are looked at."""
        # Not united with others: DuckDB would copy each text.
        relation = self._connection.read_parquet(literal(file), hive_partitioning=False)
        own = next(name for name in relation.columns if folded(name) == folded(column))
        quoted = '"' + own.replace('"', '""') + '"'
        with self._frugal():
            rows = relation.aggregate(f"sum(strlen({quoted}::varchar)::hugeint)").fetchall()
        return rows[0][0] or 0

    def _too_much(self, column: str, file: str, found: int) -> InputError:
        others = ", together with the other files" if len(self._names) > 1 else ""
        return InputError(
            f"{printable(file)}: column `{printable(column)}` would unfold to {found:,} bytes or "
            f"more, {found // self._size:,} times as many as the file has{others}; at most "
            f"{_MOST_TIMES} times is read",
            "no file of trials is like that: convert the trials anew",
        )

    @cached_property
    def _chunks(self) -> dict[str, list[_Chunk]]:
        """The chunks of each column that is no part of another, by its name."""
        found: dict[str, list[_Chunk]] = {}
        if not self._files:
            return found
        rows = self._connection.execute(
            "select column_id, file_name, compression, type, row_group_num_rows, "
            "least(data_page_offset, nullif(dictionary_page_offset, 0)), total_compressed_size "
            "from parquet_metadata(?) where row_group_num_rows > 0",
            [self._files],
        ).fetchall()
        columns: dict[str, list[Leaf]] = {}
        starts: dict[str, list[int]] = {}
        for _, file, *_, start, _ in sorted(rows, key=lambda row: row[-2]):
            starts.setdefault(file, []).append(start)
        for place, file, codec, kind, n, start, size in rows:
            if file not in columns:
                columns[file] = columns_by_place(self._connection, file)
            name, repetition = columns[file][place]
            if name is None:
                continue
            is_text = kind.endswith(_TEXT)
            further = bisect_right(starts[file], start)
            other = starts[file][further] if further < len(starts[file]) else os.path.getsize(file)
            optional = repetition == _OPTIONAL
            chunk = _Chunk(file, codec, is_text, optional, n, start, start + size, other)
            found.setdefault(folded(name), []).append(chunk)
        return found

    @cached_property
    def _names(self) -> set[str]:
        return {chunk.file for chunks in self._chunks.values() for chunk in chunks}

    @cached_property
    def _size(self) -> int:
        return sum(map(os.path.getsize, self._names))


def _unfolded(file: BinaryIO, chunk: _Chunk, most: tuple[int, int]) -> _Unfolded:
    """What the pages of a chunk unfold to, as an engine reads them: until there are enough rows."""
    end = os.fstat(file.fileno()).st_size
    place, left, dictionary = chunk.start, chunk.rows, 0
    pages = texts = shared = 0
    known = True
    while left > 0 and pages <= most[0] and shared <= most[1]:
        page, place = _next_page(file, chunk, place, end)
        kind, size, packed = page[1], page[2], page[3]
        pages += size
        if pages <= most[0]:
            _check_content(file, place, page, chunk.codec)
        if kind == DICTIONARY:
            dictionary = size
        elif kind in (DATA, DATA_V2):
            n, encoding = (page[5][1], page[5][2]) if kind == DATA else (page[8][1], page[8][4])
            if n < 0:
                raise BrokenError
            if kind == DATA and chunk.optional and page[5][3] != RUNS:
                raise BrokenError("says which values are null in a way that DuckDB does not read")
            left -= n
            if chunk.is_text and encoding == _SHARED and pages <= most[0]:
                file.seek(place)
                shared += _with_shared(
                    file.read(packed), page, chunk.codec, n, optional=chunk.optional
                )
            elif chunk.is_text:
                texts += n * dictionary if encoding in _OF_DICTIONARY else size
                known = known and encoding != _LENGTHS
        place += packed
    return _Unfolded(pages, texts, shared, known)


def _next_page(file: BinaryIO, chunk: _Chunk, place: int, end: int) -> tuple[dict[int, Any], int]:
    """The head of the page at a place, and where its content begins; both within the file.

    Raises:
        One of `BROKEN`: there is none, or it is none of this chunk.
    """
    if place == chunk.end or place >= chunk.other or place > chunk.end + _FURTHER:
        # An engine would go on with the values of the next column.
        raise BrokenError("is not there: those that are have fewer values than rows")
    page, place = read_head(file, place, end)
    if page[2] < 0 or page[3] < 0 or place + page[3] > min(end, chunk.other):
        raise BrokenError
    if page[1] == DATA_V2 and page[8].get(6, 0):
        raise BrokenError("is damaged: values would repeat in it, as in a list")
    return page, place


def _check_content(file: BinaryIO, place: int, page: dict[int, Any], codec: str) -> None:
    """Look whether a page is what its checksum says, where it has one: engines do not.

    Raises:
        BrokenError: it is not.
    """
    checksum = page.get(_CHECKSUM)
    if checksum is None and codec != "GZIP":
        return
    file.seek(place)
    data = file.read(page[3])
    if checksum is not None and zlib.crc32(data) != checksum & 0xFFFFFFFF:
        raise BrokenError(_DAMAGED)
    size = page[2]
    if page[1] == DATA_V2:
        levels = page[8].get(5, 0) + page[8].get(6, 0)
        data, size = data[levels:] if page[8].get(7, True) else b"", size - levels
    if codec == "GZIP" and data.startswith(GZIP):
        try:
            n = 0
            for piece in gunzipped([data]):
                n += len(piece)
                if n > size:
                    break
        except DamagedError as error:
            raise BrokenError(_DAMAGED) from error
        if n != size:
            raise BrokenError(_DAMAGED)


def _with_shared(data: bytes, page: dict[int, Any], codec: str, n: int, *, optional: bool) -> int:
    """The bytes of a page's texts, of which each has the first letters of the one before it."""
    size: int = page[2]
    if page[1] == DATA_V2:
        levels = page[8].get(5, 0) + page[8].get(6, 0)
        packed = data[levels:]
        content = unpacked_page(codec, packed, size) if page[8].get(7, True) else packed
    else:
        content = unpacked_page(codec, data, size)
        if content is not None and optional:
            content = content[4 + int.from_bytes(content[:4], "little") :]
    # No text is longer than what all of them have of their own.
    return n * size if content is None else size + _sum_of_deltas(content, n)


def _sum_of_deltas(content: bytes, most: int) -> int:
    """The sum of integers that are kept as differences, of which none is below 0.

    Raises:
        One of `BROKEN`: they are not, or there are more of them.
    """
    head = Head(content)
    block, parts, n = head.unsigned(), head.unsigned(), head.unsigned()
    if not parts or n > most or block % (32 * parts):
        raise BrokenError
    each = block // parts
    value = total = head.integer() if n else 0
    left = n - 1
    while left > 0:
        least = head.integer()
        for width in head.bytes(parts):
            times = min(each, left)
            if times > 0 and not width:
                total += times * value + least * (times * (times + 1) // 2)
                value += times * least
            for start in range(0, times if width else 0, 32):
                deltas = _unpacked(head.bytes(4 * width), width, min(32, times - start), least)
                values = [*accumulate(deltas, initial=value)][1:]
                value, total = values[-1], total + sum(values)
                if min(values) < 0:
                    raise BrokenError
            if times > 0 and width:
                head.skip((each - -(-times // 32) * 32) // 8 * width)
            if value < 0:
                raise BrokenError
            left -= max(times, 0)
    return total


def _unpacked(data: bytes, width: int, n: int, least: int) -> list[int]:
    """The first n of 32 integers of so many bits, each more than the least by what it is."""
    bits, mask = int.from_bytes(data, "little"), (1 << width) - 1
    return [least + (bits >> place & mask) for place in range(0, n * width, width)]
