"""A CSV text as rows that know where they stand: its header line, and the cells of each row.

Delimiters are `,` `;` and tab, whichever the header line has most of.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TextIO

from ..documents.diagnostics import Span
from ..documents.wording import printable
from ..errors import InputError
from ..numbers.exact import Number
from ..numbers.written import number
from .columns import folded

# A cell, quoted or not; the delimiter is to be filled in.
_CELL = r'(?:(?<={0})|\A)(?:"(?:[^"]|"")*"|[^{0}\n]*)(?={0}|\Z)'
# A quoted cell of a header, whichever its delimiter is: what stands in it delimits nothing.
_QUOTED = re.compile(r'(?:(?<=[,;\t])|\A)"(?:[^"]|"")*"')
# Characters of a row, of many cells and lines perhaps: it is in memory several times.
_MOST_OF_A_ROW = 1 << 24


class Place:
    """Where a row stands: the line on which it begins, and its text."""

    def __init__(self, line: int, lines: Sequence[str], delimiter: str) -> None:
        self.line = line
        self._lines = lines
        self._delimiter = delimiter

    def cell(self, index: int) -> Span:
        """Where a cell of the row stands; behind the row where it has no such cell."""
        cells = self._cells
        return cells[index if index < len(cells) else -1]

    @cached_property
    def _cells(self) -> list[Span]:
        """Where all cells stand, for as many can be wrong; and at last the end of the row."""
        text = "".join(self._lines).rstrip("\r\n")
        offsets = [
            cell.span()
            for cell in re.finditer(_CELL.format(re.escape(self._delimiter)), text, re.DOTALL)
        ]
        ends = [-1, *(end.start() for end in re.finditer("\n", text))]

        def point(offset: int) -> tuple[int, int]:
            before = bisect_left(ends, offset) - 1
            return self.line + before, offset - ends[before]

        return [Span(*point(start), *point(end)) for start, end in [*offsets, 2 * (len(text),)]]


def names_in(line: str) -> list[str]:
    """The names of the columns in a header line; none where it is not CSV."""
    try:
        return _names(line)
    except csv.Error:
        return []


def _names(line: str) -> list[str]:
    reader = csv.reader([line.lstrip("\ufeff")], delimiter=_delimiter(line), strict=True)
    return [name.strip() for name in next(reader, [])]


def read_rows(stream: TextIO, path: str) -> tuple[list[str], Iterator[tuple[Place, list[str]]]]:
    """The names of the columns, and each row that is not blank: where it stands, and its cells.

    Raises:
        InputError: there is no header line, two columns have one name, or (while rows are read) a
            row is longer than any.
        csv.Error: while rows are read, something is not CSV.
        UnicodeDecodeError: something is not UTF-8.
    """
    line, blank = _line(stream, path), 0
    while line and not line.strip():
        line, blank = _line(stream, path), blank + 1
    try:
        names = _names(line.rstrip("\r\n"))
    except csv.Error as error:
        raise InputError(
            f"{path}: the header line is not CSV: {error}",
            "the names of the columns stand on one line, quotes closed",
        ) from error
    if not any(names):
        raise InputError(f"{path} has no header line with the names of its columns")
    for name, times in Counter(map(_compared, names)).items():
        if times > 1:
            raise InputError(
                f"{path} has two columns named `{printable(name)}`, or so but for case",
                "rename one",
            )
    return names, _placed(stream, path, _delimiter(line), blank + 2, alone=len(names) == 1)


def refusal(path: str, error: csv.Error | UnicodeDecodeError) -> InputError:
    """What is told of a text that is not CSV, or not UTF-8."""
    if isinstance(error, csv.Error):
        return InputError(f"{path}: not CSV: {error}")
    return InputError(
        f"{path} is not UTF-8: byte 0x{error.object[error.start]:02x}", "save the file as UTF-8"
    )


def label(cell: str) -> str | Number:
    """A number where the text is how a number is written; `007` stays text."""
    value = number(cell)
    return value if value is not None and str(value) == cell else cell


def _compared(name: str) -> str:
    """A name as it is compared: `reward.Acc` and `reward.acc` are two keys, others but for case."""
    return name if "." in name else folded(name)


def _delimiter(line: str) -> str:
    return max(",;\t", key=_QUOTED.sub("", line.lstrip("\ufeff")).count)


def _placed(
    stream: TextIO, path: str, delimiter: str, first: int, *, alone: bool
) -> Iterator[tuple[Place, list[str]]]:
    lines: list[str] = []

    def kept() -> Iterable[str]:
        length = 0
        while line := _line(stream, path):
            length = length + len(line) if lines else len(line)
            if length > _MOST_OF_A_ROW:
                raise _too_long(path)
            lines.append(line)
            yield line

    # The limit is that of the process: it is never made smaller.
    csv.field_size_limit(max(csv.field_size_limit(), _MOST_OF_A_ROW))
    reader = csv.reader(kept(), delimiter=delimiter, strict=True)
    begin = first
    for row in reader:
        # What is blank may be an empty cell of a column that stands alone.
        if row or alone:
            yield Place(begin, lines, delimiter), row
        begin = reader.line_num + first
        lines.clear()


def _line(stream: TextIO, path: str) -> str:
    line = stream.readline(_MOST_OF_A_ROW + 1)
    if len(line) > _MOST_OF_A_ROW:
        raise _too_long(path)
    return line


def _too_long(path: str) -> InputError:
    return InputError(
        f"{path}: a row is longer than {_MOST_OF_A_ROW >> 20} million characters",
        "end each row with a line break, and each quoted cell with a quote",
    )
