"""Rewards as Harbor hands them to metric scripts: an object of numbers or `null` a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from operator import attrgetter
from typing import Any

import msgspec

from ..diagnostics import Diagnostic
from ..document import Document
from ..exact import Number
from ..rewards import check
from ..table import LineTrials
from .lines import blank_lines, blocks, salvage
from .source import Source

KIND = "rewards"
_decode_any = msgspec.json.Decoder(dict[str, Number] | None).decode

# An empty object has nothing or white space behind its brace; few lines have that.
_EMPTY = re.compile(rb"\{[} \t\r]")


class _Columns:
    """Decodes blocks into columns by a struct with a field a key: four times faster than dicts."""

    def __init__(self) -> None:
        self.n = 0
        self.columns: dict[str, list[Number | None]] = {}
        self.empty: set[int] = set()
        self._build()

    def _build(self) -> None:
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
        self._decode: Callable[[bytes], list[Any]] = msgspec.json.Decoder(row | None).decode_lines
        self._blank = row()
        self._getters = [attrgetter(name) for name in fields]

    def rows(self, block: bytes) -> list[Any]:
        """The rows of a block, after making room for keys that are new in it."""
        try:
            return self._decode(block)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
        seen = msgspec.json.Decoder(dict[str, Any] | None).decode_lines(block)
        for key in dict.fromkeys(key for row in seen for key in row or ()):
            self.columns.setdefault(key, [None] * self.n)
        self._build()
        return self._decode(block)

    def add(self, rows: list[Any], *, any_empty: bool) -> None:
        """Put the rows below those that are there; `any_empty`: some may be `{}`."""
        filled = [self._blank if row is None else row for row in rows]
        new = [list(map(get, filled)) for get in self._getters]
        for column, values in zip(self.columns.values(), new, strict=True):
            column += values
        if any_empty:
            self.empty |= {
                self.n + i
                for i, row in enumerate(rows)
                if row is not None and all(values[i] is None for values in new)
            }
        self.n += len(rows)


def read(path: str) -> list[Source]:
    """One source; its trials take 32 bytes a number."""
    columns = _Columns()
    digest = sha256()
    skipped: set[int] = set()
    found: list[Diagnostic] = []
    bad = n_lines = 0
    for block in blocks(path):
        digest.update(block)
        first_line, size = n_lines + 1, block.count(b"\n") + (block[-1:] != b"\n")
        n_lines += size
        try:
            rows = columns.rows(block)
        except (msgspec.DecodeError, ValueError):
            good = []
            for number, row, reasons in salvage(block, first_line, path, _decode_any, _explain):
                if reasons:
                    skipped.add(number)
                    bad += 1
                    found += reasons
                else:
                    good.append(row)
            rows = columns.rows(msgspec.json.Encoder().encode_lines(good))
        if len(rows) < size:
            skipped |= blank_lines(block, first_line)
        columns.add(rows, any_empty=_EMPTY.search(block) is not None)
    numbers = [n for n in range(1, n_lines + 1) if n not in skipped] if skipped else None
    return [
        Source(
            path=path,
            kind=KIND,
            trials=LineTrials(columns.n, columns.columns, frozenset(columns.empty), numbers),
            sha256=digest.hexdigest(),
            unread=[(None, None, None)] * bad,
            diagnostics=found,
        )
    ]


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check(document, [], f"line {number}")
