"""Rewards as Harbor hands them to metric scripts: an object of numbers or `null` a line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from hashlib import sha256
from operator import attrgetter, methodcaller
from typing import Any

import msgspec

from .. import fork
from ..diagnostics import Diagnostic
from ..document import Document
from ..exact import Number
from ..rewards import article, check
from ..syntax import printable
from ..trial import LineTrials
from .file import File
from .lines import blank_lines, blocks, middle, salvage
from .recognition import FITS, Fit, Head
from .source import REFUSED, Source

KIND = "rewards"
_decode_any = msgspec.json.Decoder(dict[str, Number] | None).decode

# An empty object has nothing or white space behind its brace; few lines have that.
_EMPTY = re.compile(rb"\{[} \t\r]")
# What msgspec refuses in the name of a field.
_NO_FIELD_NAME = re.compile(r'["\\\x00-\x1f]')
_SAMPLE = 256
_REMEMBERED = 4_096
_Row = Any
_Half = tuple[int, dict[str, list[Number | None]], set[int]]
# Bytes from which on a second process is faster.
_HALVES_PAY = 4 << 20


class _Memo(dict[bytes, _Row]):
    """Line -> row: most lines of a rewards file are one of a few, and a look-up beats decoding."""

    def __init__(self, decode: Callable[[bytes], _Row | None], blank: _Row) -> None:
        super().__init__()
        self._decode = decode
        self._blank = blank

    def __missing__(self, line: bytes) -> _Row:
        row = self._decode(line)
        if row is None:
            row = self._blank
        elif _EMPTY.search(line):
            raise ValueError("an empty object differs from null, and the columns do not show it")
        if len(self) < _REMEMBERED:
            self[line] = row
        return row


class _Columns:
    """Decodes blocks into columns by a struct with a field a key: four times faster than dicts."""

    def __init__(self) -> None:
        self.n = 0
        self.columns: dict[str, list[Number | None]] = {}
        self.empty: set[int] = set()
        self._build()

    def _build(self) -> None:
        if any(_NO_FIELD_NAME.search(key) for key in self.columns):
            self._build_for_odd_keys()
            return
        fields = [f"f{i}" for i in range(len(self.columns))]
        # The default is never checked: a key that is absent becomes None, a null is refused.
        row: Any = msgspec.defstruct(
            "Row",
            [(name, Number, None) for name in fields],
            rename=dict(zip(fields, self.columns, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
            eq=False,
        )
        decoder = msgspec.json.Decoder(row | None)
        self._decode_lines: Callable[[bytes], list[_Row | None]] = decoder.decode_lines
        self._blank = row()
        self._memo = _Memo(decoder.decode, self._blank)
        self._getters: list[Callable[[_Row], Any]] = [attrgetter(name) for name in fields]

    def _build_for_odd_keys(self) -> None:
        """Rows as dicts, because a struct cannot have fields of such names."""
        known = self.columns.keys()
        decode_lines = msgspec.json.Decoder(dict[str, Number] | None).decode_lines

        def decode_known(block: bytes) -> list[_Row | None]:
            rows = decode_lines(block)
            if any(row is not None and not row.keys() <= known for row in rows):
                raise msgspec.ValidationError("Object contains unknown field")
            return rows

        def decode(line: bytes) -> _Row | None:
            return next(iter(decode_known(line)))

        self._decode_lines = decode_known
        self._blank = {}
        self._memo = _Memo(decode, self._blank)
        self._getters = [methodcaller("get", key) for key in self.columns]

    def add(self, block: bytes) -> int:
        """Put the rows of a block below those that are there; how many lines they are.

        Raises:
            msgspec.DecodeError: a line is no rewards object; nothing was added.
        """
        lines = block.split(b"\n")
        if not lines[-1]:
            del lines[-1]
        if len(set(lines[:_SAMPLE])) * 2 < len(lines[:_SAMPLE]):
            try:
                self._append(list(map(self._memo.__getitem__, lines)))
            except REFUSED:
                pass
            else:
                return len(lines)
        self._add_decoded(self._rows(block), any_empty=_EMPTY.search(block) is not None)
        return len(lines)

    def extend(self, n: int, columns: dict[str, list[Number | None]], empty: set[int]) -> None:
        """Put other columns below these."""
        for key in [key for key in columns if key not in self.columns]:
            self.columns[key] = [None] * self.n
        for key, column in self.columns.items():
            column += columns.get(key) or [None] * n
        self.empty |= {self.n + i for i in empty}
        self.n += n

    def _rows(self, block: bytes) -> list[_Row | None]:
        """The rows of a block, after making room for keys that are new in it."""
        try:
            return self._decode_lines(block)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
        seen = msgspec.json.Decoder(dict[str, Any] | None).decode_lines(block)
        for key in dict.fromkeys(key for row in seen for key in row or ()):
            self.columns.setdefault(key, [None] * self.n)
        self._build()
        return self._decode_lines(block)

    def _add_decoded(self, rows: list[_Row | None], *, any_empty: bool) -> None:
        if any_empty:
            self.empty |= {
                self.n + i
                for i, row in enumerate(rows)
                if row is not None and all(get(row) is None for get in self._getters)
            }
        self._append([self._blank if row is None else row for row in rows])

    def _append(self, rows: list[_Row]) -> None:
        for column, get in zip(self.columns.values(), self._getters, strict=True):
            column += map(get, rows)
        self.n += len(rows)


class _Reading:
    """What is known after some blocks of a file."""

    def __init__(self) -> None:
        self.columns = _Columns()
        self.n_lines = 0
        self.skipped: set[int] = set()
        self.bad = 0
        self.found: list[Diagnostic] = []

    def add(self, path: str, block: bytes) -> None:
        """Read one more block; a line that cannot be read is explained."""
        first_line, before = self.n_lines + 1, self.columns.n
        try:
            size = self.columns.add(block)
        except REFUSED:
            good = []
            for number, row, reasons in salvage(block, first_line, path, _decode_any, _explain):
                if reasons:
                    self.skipped.add(number)
                    self.bad += 1
                    self.found += reasons
                else:
                    good.append(row)
            self.columns.add(msgspec.json.Encoder().encode_lines(good))
            size = block.count(b"\n") + (block[-1:] != b"\n")
        self.n_lines += size
        if self.columns.n - before < size:
            self.skipped |= blank_lines(block, first_line)


def fit(head: Head) -> Fit:
    """A first line that is an object of numbers, for the greater part at least; or only nulls."""
    line = head.line
    if line is None and not (head.broken or head.members or head.is_array or head.is_zip):
        return FITS
    if not isinstance(line, dict):
        if line is None and not (head.members or head.is_array):
            return Fit(0.1, "its first line is no JSON")
        if head.is_array:
            return Fit(0.5, "it is a JSON array; JSONL has an object or null a line")
        if line is None:
            return Fit(0.2, "rewards come as JSONL, an object of numbers or null a line")
        return Fit(0.6, 'the lines are bare values; write `{"reward": 0.5}`, not `0.5`')
    if isinstance(line.get("rewards"), dict):
        return Fit(0.4, "rewards are flat, and `rewards` is an object")
    numbers = sum(type(value) in (int, float, bool) for value in line.values())
    if len(line) <= 1 or 2 * numbers >= len(line):
        return FITS
    other = next(key for key, value in line.items() if type(value) not in (int, float, bool))
    return Fit(
        numbers / len(line),
        f"rewards are flat objects of numbers, and `{printable(other)}` is {article(line[other])}",
    )


def read(file: File) -> list[Source]:
    """One source; its trials take 32 bytes a number."""
    path, local = file.path, file.local
    reading = _Reading()
    digest = sha256()
    size = os.path.getsize(local)
    half = middle(local) if size > _HALVES_PAY and fork.pays() else size
    wait = fork.alongside(lambda: _second_half(path, local, half)) if half < size else None
    answer = None
    try:
        for block in blocks(local, 0, half):
            digest.update(block)
            reading.add(path, block)
        for block in blocks(local, half):
            digest.update(block)
    finally:
        answer = wait() if wait else None
    second = msgspec.msgpack.decode(answer, type=_Half) if answer else None
    if second is not None:
        reading.columns.extend(*second)
        reading.n_lines += second[0]
    else:
        for block in blocks(local, half):
            reading.add(path, block)
    skipped = reading.skipped
    lines = range(1, reading.n_lines + 1)
    columns = reading.columns
    trials = LineTrials(
        columns.n,
        columns.columns,
        frozenset(columns.empty),
        [number for number in lines if number not in skipped] if skipped else None,
    )
    return [
        Source(
            path=path,
            kind=KIND,
            trials=trials,
            sha256=digest.hexdigest(),
            unread=[(None, None, None)] * reading.bad,
            diagnostics=reading.found,
        )
    ]


def _second_half(path: str, local: str, start: int) -> bytes:
    """The columns of the lines from `start` on, unless something must be said about them."""
    reading = _Reading()
    for block in blocks(local, start):
        reading.add(path, block)
    if reading.skipped:
        return b""
    columns = reading.columns
    half: _Half = (columns.n, columns.columns, columns.empty)
    return msgspec.msgpack.encode(half)


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check(document, [], f"line {number}")
