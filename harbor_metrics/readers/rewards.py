"""Rewards as Harbor hands them to metric scripts: an object of numbers or `null` a line."""

from __future__ import annotations

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
_Reward = Number | msgspec.UnsetType
_encode_lines = msgspec.json.Encoder().encode_lines
_decode_any = msgspec.json.Decoder(dict[str, Number] | None).decode


class _Columns:
    """Decodes blocks into columns by a struct with a field a key: four times faster than dicts."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Number | None]] = {}
        self.scored = bytearray()
        self.digest = sha256()
        self._build()

    def _build(self) -> None:
        fields = [f"f{i}" for i in range(len(self.columns))]
        row: Any = msgspec.defstruct(
            "Row",
            [(name, _Reward, msgspec.UNSET) for name in fields],
            rename=dict(zip(fields, self.columns, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
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
            self.columns.setdefault(key, [None] * len(self.scored))
        self._build()
        return self._decode(block)

    def add(self, rows: list[Any]) -> None:
        self.digest.update(_encode_lines(rows))
        if None in rows:
            self.scored += bytes(row is not None for row in rows)
            rows = [self._blank if row is None else row for row in rows]
        else:
            self.scored += b"\x01" * len(rows)
        for get, column in zip(self._getters, self.columns.values(), strict=True):
            values = list(map(get, rows))
            if msgspec.UNSET in values:
                values = [None if value is msgspec.UNSET else value for value in values]
            column += values


def read(path: str) -> list[Source]:
    """One source; its trials take 32 bytes a number."""
    columns = _Columns()
    skipped: set[int] = set()
    found: list[Diagnostic] = []
    bad = n_lines = 0
    for block in blocks(path):
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
            rows = columns.rows(_encode_lines(good))
        if len(rows) < size:
            skipped |= blank_lines(block, first_line)
        columns.add(rows)
    numbers = [n for n in range(1, n_lines + 1) if n not in skipped] if skipped else None
    return [
        Source(
            path=path,
            kind=KIND,
            trials=LineTrials(columns.columns, columns.scored, numbers),
            sha256=columns.digest.hexdigest(),
            unread=[(None, None, None)] * bad,
            diagnostics=found,
        )
    ]


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check(document, [], f"line {number}")
