"""Parquet written byte by byte, as no library writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

PLAIN, DICTIONARY, DELTA_LENGTH, DELTA = 0, 8, 6, 7
_DOUBLE, _TEXT = 5, 6
_CODECS = {"none": 0, "snappy": 1, "gzip": 2, "brotli": 4, "zstd": 6, "lz4_raw": 7}


class _Long(int):
    """An integer of 64 bits."""


class Page(NamedTuple):
    """A page: what it holds, how many values, how they are encoded; and what its head says."""

    content: bytes
    values: int
    encoding: int
    is_dictionary: bool = False
    said: int | None = None


class Written(NamedTuple):
    """The pages of a column, and the name of it as bytes."""

    name: bytes
    pages: Sequence[Page]
    is_text: bool = True


def unsigned(n: int) -> bytes:
    """An integer without a sign, seven bits a byte."""
    found = b""
    while n > 127:
        found += bytes([n & 127 | 128])
        n >>= 7
    return found + bytes([n])


def signed(n: int) -> bytes:
    """An integer with its sign in the lowest bit."""
    return unsigned(n << 1 if n >= 0 else (-n << 1) - 1)


def struct(fields: Mapping[int, Any]) -> bytes:
    """A structure of Thrift's compact form: integers, texts, structures and lists by number."""
    found, before = b"", 0
    for number, value in fields.items():
        kind, content = _value(value)
        found += bytes([(number - before) << 4 | kind]) + content
        before = number
    return found + b"\0"


def _value(value: Any) -> tuple[int, bytes]:
    if isinstance(value, int):
        return 6 if isinstance(value, _Long) else 5, signed(value)
    if isinstance(value, bytes):
        return 8, unsigned(len(value)) + value
    if isinstance(value, Mapping):
        return 12, struct(value)
    kind = _value(value[0])[0]
    content = b"".join(_value(each)[1] for each in value)
    return 9, bytes([0xF0 | kind]) + unsigned(len(value)) + content


def deltas(values: Sequence[int]) -> bytes:
    """Integers as differences: blocks of 128, each in four parts."""
    found = unsigned(128) + unsigned(4) + unsigned(len(values)) + signed(values[0])
    steps = [after - before for before, after in pairwise(values)]
    for start in range(0, len(steps), 128):
        block = steps[start : start + 128]
        least = min(block)
        parts = [[step - least for step in block[i : i + 32]] for i in range(0, 128, 32)]
        widths = [max(part, default=0).bit_length() for part in parts]
        found += signed(least) + bytes(widths)
        for width, part in zip(widths, parts, strict=True):
            bits = sum(step << place * width for place, step in enumerate(part))
            found += bits.to_bytes(4 * width if part else 0, "little")
    return found


def texts(values: Sequence[bytes]) -> bytes:
    """Texts one after the other, each after its length."""
    return b"".join(len(value).to_bytes(4, "little") + value for value in values)


def write(path: Path, rows: int, columns: Sequence[Written], codec: str = "none") -> str:
    """A file of one group of rows; what is required is no list and never null."""
    data = b"PAR1"
    chunks = []
    for column in columns:
        start, unpacked, first = len(data), 0, 0
        for page in column.pages:
            packed = _packed(page.content, codec)
            said = len(page.content) if page.said is None else page.said
            head = {1: 2 if page.is_dictionary else 0, 2: said, 3: len(packed)}
            encoding = {1: page.values, 2: page.encoding}
            levels = {} if page.is_dictionary else {3: 3, 4: 3}
            if not (page.is_dictionary or first):
                first = len(data)
            data += struct({**head, 7 if page.is_dictionary else 5: {**encoding, **levels}})
            data += packed
            unpacked += len(page.content) + 20
        dictionary = {11: _Long(start)} if column.pages[0].is_dictionary else {}
        chunks.append({
            2: _Long(start),
            3: {
                1: _TEXT if column.is_text else _DOUBLE,
                2: sorted({page.encoding for page in column.pages}),
                3: [column.name],
                4: _CODECS[codec],
                5: _Long(rows),
                6: _Long(unpacked),
                7: _Long(len(data) - start),
                9: _Long(first),
                **dictionary,
            },
        })  # fmt: skip
    kinds = [
        {1: _TEXT, 3: 0, 4: each.name, 6: 0} if each.is_text else {1: _DOUBLE, 3: 0, 4: each.name}
        for each in columns
    ]
    schema = [{4: b"schema", 5: len(columns)}, *kinds]
    group = {1: chunks, 2: _Long(len(data)), 3: _Long(rows)}
    footer = struct({1: 2, 2: schema, 3: _Long(rows), 4: [group]})
    path.write_bytes(data + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return str(path)


def _packed(content: bytes, codec: str) -> bytes:
    import pyarrow as pa

    return content if codec == "none" else pa.Codec(codec).compress(content, asbytes=True)


def plain(*values: bytes) -> list[Page]:
    """Texts one after the other, in one page."""
    return [Page(texts(values), len(values), PLAIN)]


def rewards(rows: int) -> Written:
    """A column of rewards that are all 0, in one page."""
    zero = Page(bytes(8), 1, PLAIN, is_dictionary=True)
    times = Page(b"\1" + unsigned(rows << 1) + b"\0", rows, DICTIONARY)
    return Written(b"reward", [zero, times], is_text=False)
