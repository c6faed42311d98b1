"""The heads of a Parquet's pages and its footer, read without its engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

DATA, DICTIONARY, DATA_V2 = 0, 2, 3
# How a page of the first kind says which of its values are null: what all writers have today.
RUNS = 3
# Most heads are shorter; what is longer than the other has a text in it that nobody needs there.
_SHORT, _LONG = 1 << 8, 1 << 16
_FALSE, _BYTE, _DOUBLE, _TEXT, _LIST, _SET, _STRUCT = 2, 3, 7, 8, 9, 10, 12
_INTEGER, _FLAG = 5, 1
_DEPTH = 8
# The largest number of a field, and how many bits integers of a kind have.
_LAST = 0x7FFF
_BITS = {4: 16, 5: 32}
# The kinds of the fields of a page's head, by the numbers that lead to them. A field of another
# kind Thrift passes over, and of one that stands twice readers differ in which they take.
_OF_DATA = dict.fromkeys((1, 2, 3, 4), _INTEGER) | {5: _STRUCT}
_OF_DATA_V2 = dict.fromkeys((1, 2, 3, 4, 5, 6), _INTEGER) | {7: _FLAG, 8: _STRUCT}
_KINDS = {
    (): dict.fromkeys((1, 2, 3, 4), _INTEGER) | dict.fromkeys((5, 6, 7, 8), _STRUCT),
    (5,): _OF_DATA,
    (7,): {1: _INTEGER, 2: _INTEGER, 3: _FLAG},
    (8,): _OF_DATA_V2,
}
# Behind a key its value, which is the next field and a text.
_VALUE = 0x18
# Behind the footer its length and the mark.
_ENDS, _MARK = 8, 4
# A list of as many or more says how many behind that.
_MANY = 15


class BrokenError(Exception):
    """A page has no head that can be read."""


# What reading a head, and a field of it, may end with.
BROKEN = (BrokenError, IndexError, KeyError, TypeError, RecursionError)


def read_head(file: BinaryIO, place: int, end: int) -> tuple[dict[int, Any], int]:
    """The head of the page at a place before the end, and where its content begins.

    Raises:
        One of `BROKEN`: there is none.
    """
    for most in (_SHORT, _LONG):
        file.seek(place)
        data = file.read(max(0, min(most, end - place)))
        head = Head(data)
        try:
            page = head.struct()
        except IndexError:
            if most == _SHORT:
                continue
            raise
        if head.place <= len(data):
            return page, place + head.place
    raise BrokenError


def footer_length(file: str) -> int:
    """How many bytes the footer of a file has, as it says; at most those of the file.

    Raises:
        OSError: the file cannot be read.
    """
    with open(file, "rb") as stream:
        return _footer_of(stream)[1]


def read_footer(file: str) -> bytes:
    """The footer of a file; raises as `footer_length`."""
    with open(file, "rb") as stream:
        place, length = _footer_of(stream)
        stream.seek(place)
        return stream.read(length)


def values_in(footer: bytes, key: bytes) -> Iterator[bytes | None]:
    """What a footer has under a key that it or its engine wrote; None where it cannot be read.

    Only as all writers have it: behind the key its value, and nothing more of the two.
    """
    place = footer.find(key)
    while place >= 0:
        place += len(key)
        head = Head(footer[place + 1 :])
        try:
            value = head.bytes(head.unsigned())
            yield value if (footer[place], head.bytes(1)) == (_VALUE, b"\0") else None
        except BROKEN:
            yield None
        place = footer.find(key, place)


def _footer_of(stream: BinaryIO) -> tuple[int, int]:
    """Where it begins, and how long it is."""
    end = max(0, stream.seek(0, os.SEEK_END) - _ENDS)
    stream.seek(end)
    length = min(int.from_bytes(stream.read(_MARK), "little"), end)
    return end - length, length


class Head:
    """Thrift's compact form, as the head of a page has it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, inside: tuple[int, ...] = ()) -> dict[int, Any]:
        """Values by the numbers of their fields, `inside` those that lead to it."""
        if len(inside) > _DEPTH:
            raise BrokenError
        fields: dict[int, Any] = {}
        number = 0
        kinds = _KINDS.get(inside, {})
        while byte := self._field():
            number = number + (byte >> 4) if byte >> 4 else self.integer()
            if not 0 < number <= _LAST:
                raise BrokenError  # Thrift cuts it, and takes the field for another one
            kind = _FLAG if byte & 15 == _FALSE else byte & 15
            if number in fields or kind != kinds.get(number, kind):
                raise BrokenError
            fields[number] = self._value(byte & 15, (*inside, number))
        return fields

    def count_listed(self, most: int, depth: int = 0) -> int:
        """How many structures the lists of the next one say that they have; none is kept.

        Raises:
            One of `BROKEN`: it cannot be read, or they are more than `most`.
        """
        if depth > _DEPTH:
            raise BrokenError
        n = 0
        while byte := self._field():
            if not byte >> 4:
                self.integer()
            n += self._count_in(byte & 15, most - n, depth)
        return n

    def _count_in(self, kind: int, most: int, depth: int) -> int:
        if kind == _STRUCT:
            return self.count_listed(most, depth + 1)
        if kind not in (_LIST, _SET):
            self._value(kind, ())
            return 0
        byte = self._byte()
        size = self.unsigned() if byte >> 4 == _MANY else byte >> 4
        n = size if byte & 15 == _STRUCT else 0
        if n > most:
            raise BrokenError
        for _ in range(size):
            if byte & 15 <= _FALSE:
                self._byte()
            else:
                n += self._count_in(byte & 15, most - n, depth)
        return n

    def _value(self, kind: int, inside: tuple[int, ...]) -> Any:
        if kind <= _FALSE:
            return kind != _FALSE
        if kind == _BYTE:
            return self._byte()
        if kind < _DOUBLE:
            value = self.integer()
            if (value if value >= 0 else ~value).bit_length() >= _BITS.get(kind, 64):
                raise BrokenError  # as above
            return value
        if kind == _DOUBLE:
            return self.skip(8)
        if kind == _TEXT:
            return self.skip(self.unsigned())
        if kind == _STRUCT:
            return self.struct(inside)
        raise BrokenError  # lists, sets and maps are in no page's head

    def _field(self) -> int:
        """The kind of the next field and how far its number is from the last; 0 at the end."""
        byte = self._byte()
        if byte and not byte & 15:
            raise BrokenError  # Thrift ends there, whatever else it says
        return byte

    def _byte(self) -> int:
        byte = self._data[self.place]
        self.place += 1
        return byte

    def skip(self, n: int) -> None:
        """Go on without the next bytes."""
        self.place += n

    def bytes(self, n: int) -> bytes:
        """The next bytes."""
        found = self._data[self.place : self.place + n]
        if n <= 0 or len(found) < n:
            raise BrokenError
        self.place += n
        return found

    def unsigned(self) -> int:
        """The next integer without a sign."""
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise BrokenError

    def integer(self) -> int:
        """The next integer with its sign."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)
