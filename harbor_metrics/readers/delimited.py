"""A table of trials: CSV with a header line, its columns recognised by name or mapped.

Delimiters are `,` `;` and tab. A column is what `--columns FIELD=COLUMN` says, else what its name
says; every other column is a label. An empty cell is a missing value, also of a reward.
"""

from __future__ import annotations

import csv
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TextIO

from ..documents.diagnostics import Diagnostic, Severity, Span
from ..documents.wording import listed, printable, shown
from ..errors import InputError
from ..numbers.exact import Number
from ..trials.source import Source
from ..trials.trial import NO_USAGE, Trial, Usage
from .columns import MANY, USAGE, meanings
from .files.file import File
from .reading import Options, Reading
from .recognition import FITS, Fit, Head

# A cell, quoted or not; the delimiter is to be filled in.
_CELL = r'(?:(?<={0})|\A)(?:"(?:[^"]|"")*"|[^{0}\n]*)(?={0}|\Z)'
# Characters of a row, of many cells and lines perhaps: it is in memory several times.
_MOST_OF_A_ROW = 1 << 24
_WHOLE = re.compile(r"[+-]?[0-9]+")
# Without what `float` takes besides: NaN, inf, 1_000 and the digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def fit(head: Head) -> Fit:
    """A first line with a column of rewards, in a text that is not JSON."""
    if head.line is not None or head.members or head.is_array or head.is_zip:
        return Fit(0.0, "it begins like JSON" if not head.is_zip else "it is a zip archive")
    names = _header(head.first_text)
    meaning = meanings(names, {})
    if "reward" in meaning or any(field.startswith("reward.") for field in meaning):
        return FITS
    # One alone may be any text, which is for its owner's eyes.
    columns = f" ({listed([name[:40] for name in names], 6, counted=False)})" if names[1:] else ""
    return Fit(
        0.5 if "task" in meaning else 0.3,
        f"no column of its first line is named `reward` or `score`{columns}; "
        "--columns reward=COLUMN names one",
    )


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _header(line: str) -> list[str]:
    line = line.lstrip("\ufeff")
    try:
        row = next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in row]


def read(file: File, options: Options) -> list[Source]:
    """One source, its trials in canonical order.

    Raises:
        InputError: it has no header, a column that is asked for does not exist, or no column has
            the rewards.
    """
    given = options.columns
    reading = Reading(file)
    with open(file.local, encoding="utf-8-sig", newline="", errors="strict") as stream:
        try:
            line, blank = _line(stream, file.path), 0
            while line and not line.strip():
                line, blank = _line(stream, file.path), blank + 1
            names = _header(line.rstrip("\r\n"))
            _check_header(file.path, names, given)
            meaning = meanings(names, given)
            if "reward" not in meaning and not any(f.startswith("reward.") for f in meaning):
                raise InputError(
                    f"{file.path} has no column of rewards; it has {', '.join(names)}",
                    "name it with --columns reward=COLUMN",
                )
            rows = _Rows(reading, names, meaning)
            for place, row in _placed(stream, file.path, _delimiter(line), blank + 2):
                rows.add(place, row)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{file.path} is not UTF-8: byte 0x{error.object[error.start]:02x}",
                "save the file as UTF-8",
            ) from error
        except csv.Error as error:
            raise InputError(f"{file.path}: not CSV: {error}") from error
    reading.skim()
    return [reading.source()]


def _check_header(path: str, names: list[str], given: Mapping[str, str]) -> None:
    if not any(names):
        raise InputError(f"{path} has no header line with the names of its columns")
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"{path} has two columns named `{printable(name)}`", "rename one")
    for field, column in given.items():
        if column not in names:
            raise InputError(
                f"{path} has no column `{printable(column)}` for {field}; "
                f"it has {', '.join(map(printable, names))}"
            )


class _Place:
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


def _placed(
    stream: TextIO, path: str, delimiter: str, first: int
) -> Iterator[tuple[_Place, list[str]]]:
    """Where each row stands, and its cells; blank rows are left out.

    Raises:
        InputError: a row is longer than any.
    """
    lines: list[str] = []

    def kept() -> Iterator[str]:
        length = 0
        while line := _line(stream, path):
            length = length + len(line) if lines else len(line)
            if length > _MOST_OF_A_ROW:
                raise _too_long(path)
            lines.append(line)
            yield line

    reader = csv.reader(kept(), delimiter=delimiter, strict=True)
    begin = first
    for row in reader:
        if row:
            yield _Place(begin, lines, delimiter), row
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


class _Rows:
    """Makes trials of rows."""

    def __init__(self, reading: Reading, names: list[str], meaning: dict[str, int]) -> None:
        self.reading = reading
        self.names = names
        self.meaning = meaning

    def add(self, place: _Place, row: list[str]) -> None:
        """Note the trial of the row at a place, or what is wrong with the row."""
        if len(row) != len(self.names):
            message = f"line {place.line} has {len(row)} cells, the header has {len(self.names)}"
            advice = "quote a cell that holds the delimiter"
            slip = self._slip(place, len(self.names), "invalid-trial", message, advice)
            self.reading.refuse(slip)
            return
        wrong: list[Diagnostic] = []
        trial = self._trial(place, row, wrong)
        if trial is None:
            self.reading.refuse(*wrong)
        else:
            self.reading.trials.append(trial)

    def _trial(self, place: _Place, row: list[str], wrong: list[Diagnostic]) -> Trial | None:
        plain: dict[str, Any] = {}
        many: dict[str, dict[str, Any]] = {name: {} for name in MANY}
        usage: dict[str, Number] = {}
        for field, index in self.meaning.items():
            cell = row[index]
            if not cell.strip():
                if field == "task":
                    wrong.append(self._bad(place, index, cell, "a task's name", ""))
                continue
            name, _, rest = field.partition(".")
            if name == "reward":
                value = self._number(place, index, cell, wrong)
                many["reward"]["reward" if field == "reward" else rest] = value
            elif name in ("label", "text") and rest:
                many[name][rest] = _label(cell) if name == "label" else cell
            elif field in USAGE:
                usage[field] = self._number(place, index, cell, wrong)
            elif field == "attempt":
                attempt = _number(cell)
                if isinstance(attempt, int):
                    plain[field] = attempt
                else:
                    wrong.append(self._bad(place, index, cell, "an integer", ""))
            else:
                plain[field] = cell
        if wrong:
            return None
        rewards = many["reward"] or None
        plain.setdefault("task", f"line:{place.line}")
        return Trial(
            rewards=rewards,
            labels=many["label"],
            texts=many["text"],
            usage=Usage(**usage) if usage else NO_USAGE,
            **plain,
        )

    def _number(self, place: _Place, index: int, cell: str, wrong: list[Diagnostic]) -> Number:
        value = _number(cell)
        if value is None:
            text = cell.strip().lower()
            advice = "leave the cell empty where there is none"
            if text in ("true", "false"):
                advice = f"write {int(text == 'true')}"
            wrong.append(self._bad(place, index, cell, "a finite number", advice))
            return 0
        return value

    def _bad(self, place: _Place, index: int, cell: str, wanted: str, advice: str) -> Diagnostic:
        name = printable(self.names[index])
        message = f"line {place.line}: column `{name}` must be {wanted}, not {shown(cell)}"
        return self._slip(place, index, "invalid-reward", message, advice)

    def _slip(self, place: _Place, index: int, rule: str, message: str, advice: str) -> Diagnostic:
        return Diagnostic(
            rule=rule,
            severity=Severity.ERROR,
            message=message,
            path=self.reading.path,
            span=place.cell(index),
            subject=f"line {place.line}",
            help=advice,
        )


def _number(cell: str) -> Number | None:
    text = cell.strip()
    if _WHOLE.fullmatch(text) and len(text) < 300:
        return int(text)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def _label(cell: str) -> str | Number:
    """A number where the text is how a number is written; `007` stays text."""
    number = _number(cell)
    return number if number is not None and str(number) == cell else cell
