"""Rewards as Harbor hands them to metric scripts: an object of numbers or `null` a line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.document import KEY_TWICE, Document, repeats_a_key
from ..documents.wording import article, printable
from ..numbers.exact import Number
from ..trials.rewards import check
from ..trials.source import REFUSED, Source
from ..trials.trial import NO_GROUP, LineTrials
from .files import fork
from .files.file import File
from .files.lines import blank_lines, blocks, middle, split
from .reading import Options, Reading
from .recognition import FITS, Fit, Head

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

    def __init__(self, decode: Callable[[bytes], _Row]) -> None:
        super().__init__()
        self._decode = decode

    def __missing__(self, line: bytes) -> _Row:
        row = self._decode(line)
        if len(self) < _REMEMBERED:
            self[line] = row
        return row


class _Columns:
    """Decodes lines into columns by a struct with a field a key: four times faster than dicts.

    Each line is decoded by itself: two objects on one line, or one over two, are refused, and a
    key that stands twice is, by the number of quotes.
    """

    def __init__(self) -> None:
        self.n = 0
        self.columns: dict[str, list[Number | None]] = {}
        self.empty: set[int] = set()
        self._build()

    def _build(self) -> None:
        self._odd = any(_NO_FIELD_NAME.search(key) for key in self.columns)
        self._memo = _Memo(self._row_of_memo)
        if self._odd:
            self._build_for_odd_keys()
            return
        names = [f"f{i}" for i in range(len(self.columns))]
        rename = dict(zip(names, self.columns, strict=True))
        options: Any = {"rename": rename, "forbid_unknown_fields": True, "gc": False, "eq": False}
        # The default is never checked: a key that is absent becomes None, a null is refused.
        some: Any = msgspec.defstruct("Row", [(name, Number, None) for name in names], **options)
        every: Any = msgspec.defstruct("Row", [(name, Number) for name in names], **options)
        self._decode: Callable[[bytes], _Row | None] = msgspec.json.Decoder(some | None).decode
        self._decode_full = msgspec.json.Decoder(every | None).decode
        self._blank = some()
        self._getters: list[Callable[[_Row], Any]] = [attrgetter(name) for name in names]

    def _build_for_odd_keys(self) -> None:
        """Rows as dicts, because a struct cannot have fields of such names."""
        known = self.columns.keys()
        decode_any = msgspec.json.Decoder(dict[str, Number] | None).decode

        def decode(line: bytes) -> _Row | None:
            row = decode_any(line)
            if row is not None and not row.keys() <= known:
                raise msgspec.ValidationError("Object contains unknown field")
            if repeats_a_key(line):
                raise ValueError(KEY_TWICE)
            return row

        self._decode = decode
        self._blank = {}
        self._getters = [methodcaller("get", key) for key in self.columns]

    def add(self, block: bytes) -> int:
        """Put the rows of a block below those that are there; how many lines they are.

        Raises:
            ValueError: a line is not an object of rewards; nothing was added.
        """
        lines = split(block)
        try:
            self._add(block, lines)
        except REFUSED:
            filled = [line for line in lines if line.strip()]
            if len(filled) == len(lines):
                raise
            self._add(block, filled)
        return len(lines)

    def _add(self, block: bytes, lines: list[bytes]) -> None:
        if len(set(lines[:_SAMPLE])) * 2 < len(lines[:_SAMPLE]):
            try:
                self._append(list(map(self._memo.__getitem__, lines)))
            except REFUSED:
                pass
            else:
                return
        if self._odd or not self._add_full(block, lines):
            self._add_some(block, lines)

    def _row_of_memo(self, line: bytes) -> _Row:
        row = self._decode(line)
        if row is None:
            return self._blank
        if _EMPTY.search(line):
            raise ValueError("an empty object differs from null, and the columns do not show it")
        if not self._odd and line.count(b'"') != 2 * sum(
            get(row) is not None for get in self._getters
        ):
            raise ValueError(KEY_TWICE)
        return row

    def _add_full(self, block: bytes, lines: list[bytes]) -> bool:
        """Add lines that have every key or are null; whether they are so, and no key twice."""
        try:
            rows: list[_Row | None] = list(map(self._decode_full, lines))
        except REFUSED:
            return False
        n_full = len(rows) - (rows.count(None) if b"null" in block else 0)
        if not self._getters or block.count(b'"') != 2 * len(self._getters) * n_full:
            return False
        self._append(
            rows if n_full == len(rows) else [self._blank if r is None else r for r in rows]
        )
        return True

    def _add_some(self, block: bytes, lines: list[bytes]) -> None:
        """Add lines that may lack keys, after making room for keys that are new in them."""
        try:
            rows = self._decoded(lines)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
            seen = list(map(msgspec.json.Decoder(dict[str, Any] | None).decode, lines))
            for key in dict.fromkeys(key for row in seen for key in row or ()):
                self.columns.setdefault(key, [None] * self.n)
            self._build()
            if not self._odd and self._add_full(block, lines):
                return
            rows = self._decoded(lines)
        columns = [list(map(get, rows)) for get in self._getters]
        n_present = sum(len(column) - column.count(None) for column in columns)
        if not self._odd and block.count(b'"') != 2 * n_present:
            raise ValueError(KEY_TWICE)
        if _EMPTY.search(block):
            blank = self._blank
            self.empty |= {
                self.n + i
                for i, row in enumerate(rows)
                if row is not blank and all(column[i] is None for column in columns)
            }
        self._append(rows)

    def _decoded(self, lines: list[bytes]) -> list[_Row]:
        return [self._blank if row is None else row for row in map(self._decode, lines)]

    def extend(self, n: int, columns: dict[str, list[Number | None]], empty: set[int]) -> None:
        """Put other columns below these."""
        for key in [key for key in columns if key not in self.columns]:
            self.columns[key] = [None] * self.n
        for key, column in self.columns.items():
            column += columns.get(key) or [None] * n
        self.empty |= {self.n + i for i in empty}
        self.n += n

    def _append(self, rows: list[_Row]) -> None:
        for column, get in zip(self.columns.values(), self._getters, strict=True):
            column += map(get, rows)
        self.n += len(rows)


class _Lines:
    """What is known after some blocks of lines."""

    def __init__(self, file: File) -> None:
        self.reading = Reading(file)
        self.columns = _Columns()
        self.n = 0
        self.skipped: set[int] = set()

    def add(self, block: bytes) -> None:
        """Read one more block; a line that cannot be read is explained."""
        first_line, before = self.n + 1, self.columns.n
        try:
            size = self.columns.add(block)
        except REFUSED:
            rows = dict(self.reading.salvage(block, first_line, _decode_line, _explain))
            self.columns.add(msgspec.json.Encoder().encode_lines(rows.values()))
            size = block.count(b"\n") + (block[-1:] != b"\n")
            self.skipped |= set(range(first_line, first_line + size)) - rows.keys()
        self.n += size
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


def read(file: File, _options: Options) -> list[Source]:
    """One source; its trials take 32 bytes a number."""
    lines = _Lines(file)
    reading = lines.reading
    size = os.path.getsize(file.local)
    half = middle(file.local) if size > _HALVES_PAY and fork.pays() else size
    wait = fork.alongside(lambda: _second_half(file, half)) if half < size else None
    answer = None
    try:
        for _, block in reading.blocks(0, half):
            lines.add(block)
        for _ in reading.blocks(half):
            pass  # takes the digest while the other process reads
    finally:
        answer = wait() if wait else None
    second = msgspec.msgpack.decode(answer, type=_Half) if answer else None
    if second is not None:
        lines.columns.extend(*second)
        lines.n += second[0]
    else:
        for block in blocks(file.local, half):
            lines.add(block)
    columns, skipped = lines.columns, lines.skipped
    numbers = [n for n in range(1, lines.n + 1) if n not in skipped] if skipped else None
    trials = LineTrials(columns.n, columns.columns, frozenset(columns.empty), numbers)
    return [reading.source(trials=trials, unread=[NO_GROUP] * reading.n_unread)]


def _second_half(file: File, start: int) -> bytes:
    """The columns of the lines from `start` on, unless something must be said about them."""
    lines = _Lines(file)
    for block in blocks(file.local, start):
        lines.add(block)
    if lines.skipped:
        return b""
    columns = lines.columns
    half: _Half = (columns.n, columns.columns, columns.empty)
    return msgspec.msgpack.encode(half)


def _decode_line(line: bytes) -> dict[str, Number] | None:
    row: dict[str, Number] | None = _decode_any(line)
    if repeats_a_key(line):
        raise ValueError(KEY_TWICE)
    return row


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check(document, [], f"line {number}")
