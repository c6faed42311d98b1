"""Lines of a rewards file as columns, a key each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter, methodcaller
from typing import Any

import msgspec

from ..documents.document import KEY_TWICE, repeats_a_key
from ..documents.limits import check_integers
from ..numbers.exact import Number
from ..trials.rewards import FEW_KEYS, check_keys
from ..trials.source import REFUSED
from .files.lines import split

_decode_any = msgspec.json.Decoder(dict[str, Number] | None).decode
# An empty object has nothing or white space behind its brace; few lines have that.
_EMPTY = re.compile(rb"\{[} \t\r]")
# What msgspec refuses in the name of a field.
_NO_FIELD_NAME = re.compile(r'["\\\x00-\x1f]')
_REMEMBERED = 4_096
_Row = Any
_SAMPLE = 256
# From so many keys on, and of so many places of a table one filled, rows are quicker than columns.
MANY_KEYS, _SPARSE = 32, 8


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


class LineColumns:
    """Decodes lines into columns by a struct with a field a key: four times faster than dicts.

    Each line is decoded by itself: two objects on one line, or one over two, are refused, and a
    key that stands twice is, by the number of quotes.
    """

    def __init__(self) -> None:
        self.n = 0
        # Lines and rewards that were taken out again.
        self._n_taken = self._n_rewards_taken = 0
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
        check_integers(block)
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
        if repeat_often(lines):
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
        else:
            self._append_some(block, rows)
            return
        seen = list(map(msgspec.json.Decoder(dict[str, Any] | None).decode, lines))
        keys = dict.fromkeys(key for row in seen for key in row or ())
        self._check_keys(len(self.columns.keys() | keys), seen)
        known = self.columns
        self.columns = known | {key: [None] * self.n for key in keys if key not in known}
        self._build()
        try:
            if self._odd or not self._add_full(block, lines):
                self._append_some(block, self._decoded(lines))
        except REFUSED:
            # A key that only refused lines have is none.
            self.columns = known
            self._build()
            raise

    def _append_some(self, block: bytes, rows: list[_Row]) -> None:
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

    def pass_by(self, n_keys: int, rows: Sequence[dict[str, Any] | None]) -> None:
        """Let rows by that get no columns, but count where keys are too many."""
        self._check_keys(n_keys, rows)
        self._n_taken += len(rows)
        self._n_rewards_taken += sum(len(row or ()) for row in rows)

    def _check_keys(self, n_keys: int, rows: Sequence[dict[str, Any] | None]) -> None:
        """Refuse too many keys before there are columns for them."""
        if n_keys > FEW_KEYS:
            n_rewards = self._n_rewards_taken + self._n_rewards
            n_rewards += sum(len(row or ()) for row in rows)
            check_keys(n_keys, n_rewards, self._n_taken + self.n + len(rows))

    @property
    def _n_rewards(self) -> int:
        return sum(len(column) - column.count(None) for column in self.columns.values())

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

    def take(self) -> tuple[int, dict[str, list[Number | None]], set[int]]:
        """What `extend` takes; the keys stay, for the lines that follow."""
        taken = self.n, self.columns, self.empty
        self._n_taken += self.n
        self._n_rewards_taken += self._n_rewards
        self.n, self.columns, self.empty = 0, {key: [] for key in self.columns}, set()
        return taken

    def _append(self, rows: list[_Row]) -> None:
        for column, get in zip(self.columns.values(), self._getters, strict=True):
            column += map(get, rows)
        self.n += len(rows)


def repeat_often(lines: list[bytes]) -> bool:
    """Whether most lines of a block are one of a few, by its first lines."""
    return len(set(lines[:_SAMPLE])) * 2 < len(lines[:_SAMPLE])


def are_sparse(lines: list[bytes], known: set[str]) -> bool:
    """Whether columns of these keys and some lines would mostly be gaps, by the first lines.

    Raises:
        ValueError: one of them is not an object of rewards.
    """
    rows = [row for row in map(_decode_any, lines[:_SAMPLE]) if row]
    keys = known.union(*rows)
    return len(keys) > MANY_KEYS and len(keys) * len(rows) > _SPARSE * sum(map(len, rows))


def decode_line(line: bytes) -> dict[str, Number] | None:
    """The rewards of a line.

    Raises:
        ValueError: it is not an object of numbers or null, or a key stands twice in it.
    """
    check_integers(line)
    row: dict[str, Number] | None = _decode_any(line)
    if repeats_a_key(line):
        raise ValueError(KEY_TWICE)
    return row
