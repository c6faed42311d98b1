"""A table of trials: CSV with a header line, its columns recognised by name or mapped.

Delimiters are `,` `;` and tab. A column is what `--columns FIELD=COLUMN` says, else what its name
says; every other column is a label. An empty cell is no value: an empty reward is a missing one.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from ..diagnostics import Diagnostic, Severity, Span
from ..errors import InputError
from ..exact import Number
from ..syntax import printable, shown
from ..trial import NO_USAGE, Trial, Usage, group_key, in_canonical_order
from .columns import MANY, USAGE, meanings
from .file import File
from .recognition import FITS, Fit, Head
from .source import Source

KIND = "csv"
_WHOLE = re.compile(r"[+-]?[0-9]+")
# What `float` takes and no table means: NaN, inf, 1_000 and other scripts' digits.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def fit(head: Head) -> Fit:
    """A first line that is no JSON and has a column of rewards."""
    if head.line is not None or head.members or head.is_array or head.is_zip:
        return Fit(0.0, "it begins like JSON" if not head.is_zip else "it is a zip archive")
    names = _header(head.first_text)
    meaning = meanings(names, {})
    if "reward" in meaning or any(field.startswith("reward.") for field in meaning):
        return FITS
    points = 0.5 if "task" in meaning else 0.3
    return Fit(
        points,
        f"no column of its first line is named `reward` or `score` ({_listed(names)}); "
        "--columns reward=COLUMN names one",
    )


def _listed(names: list[str]) -> str:
    shown_ones = ", ".join(printable(name[:40]) for name in names[:6])
    return f"{shown_ones}, …" if len(names) > 6 else shown_ones


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _header(line: str) -> list[str]:
    line = line.lstrip("\ufeff")
    try:
        row = next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in row]


def read(file: File, columns: Mapping[str, str] | None = None) -> list[Source]:
    """One source, its trials in canonical order.

    Raises:
        InputError: it has no header, a column that is asked for does not exist, or none is the
            reward.
    """
    given = columns or {}
    with open(file.local, encoding="utf-8-sig", newline="", errors="strict") as stream:
        try:
            line, blank = stream.readline(), 0
            while line and not line.strip():
                line, blank = stream.readline(), blank + 1
            names = _header(line.rstrip("\r\n"))
            _check_header(file.path, names, given)
            meaning = meanings(names, given)
            if "reward" not in meaning and not any(f.startswith("reward.") for f in meaning):
                raise InputError(
                    f"{file.path} has no column of rewards; it has {', '.join(names)}",
                    "name it with --columns reward=COLUMN",
                )
            table = _Rows(file.path, names, meaning)
            for number, row in _rows(stream, _delimiter(line), blank + 2):
                table.add(number, row)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{file.path} is not UTF-8: byte 0x{error.object[error.start]:02x}",
                "save the file as UTF-8",
            ) from error
        except csv.Error as error:
            raise InputError(f"{file.path}: not CSV: {error}") from error
    with open(file.local, "rb") as binary:
        digest = sha256(binary.read()).hexdigest()
    trials = in_canonical_order(table.trials)
    groups = set(map(group_key, trials))
    group = groups.pop() if len(groups) == 1 else None
    return [
        Source(
            path=file.path,
            kind=KIND,
            trials=trials,
            sha256=digest,
            unread=[group] * table.unread,
            diagnostics=table.found,
        )
    ]


def _check_header(path: str, names: list[str], given: Mapping[str, str]) -> None:
    if not any(names):
        raise InputError(f"{path} has no header line with the names of its columns")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path} has two columns named `{printable(name)}`", "rename one")
    for field, column in given.items():
        if column not in names:
            raise InputError(
                f"{path} has no column `{printable(column)}` for {field}; "
                f"it has {', '.join(map(printable, names))}"
            )


def _rows(stream: Any, delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Number of the line on which each row begins, and its cells; blank rows are left out."""
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    begin = first
    for row in reader:
        if row:
            yield begin, row
        begin = reader.line_num + first


class _Rows:
    """The trials so far, and what was wrong with rows."""

    def __init__(self, path: str, names: list[str], meaning: dict[str, int]) -> None:
        self.path = path
        self.names = names
        self.meaning = meaning
        self.trials: list[Trial] = []
        self.found: list[Diagnostic] = []
        self.unread = 0

    def add(self, number: int, row: list[str]) -> None:
        wrong: list[Diagnostic] = []
        if len(row) != len(self.names):
            wrong.append(
                self._slip(
                    number,
                    1,
                    "invalid-trial",
                    f"line {number} has {len(row)} cells, the header has {len(self.names)}",
                    "quote a cell that holds the delimiter",
                )
            )
        else:
            trial = self._trial(number, row, wrong)
            if not wrong and trial is not None:
                self.trials.append(trial)
        self.unread += bool(wrong)
        self.found += wrong

    def _trial(self, number: int, row: list[str], wrong: list[Diagnostic]) -> Trial | None:
        plain: dict[str, Any] = {}
        many: dict[str, dict[str, Any]] = {name: {} for name in MANY}
        usage: dict[str, Number] = {}
        for field, index in self.meaning.items():
            cell = row[index]
            if not cell.strip():
                if field == "task":
                    wrong.append(self._bad(number, index, cell, "a task's name", ""))
                continue
            name, _, rest = field.partition(".")
            if field == "reward" or (name == "reward" and rest):
                value = self._number(number, index, cell, wrong)
                many["reward"][rest or "reward"] = value
            elif name in ("label", "text") and rest:
                many[name][rest] = _label(cell) if name == "label" else cell
            elif field in USAGE:
                usage[field] = self._number(number, index, cell, wrong)
            elif field == "attempt":
                if _WHOLE.fullmatch(cell.strip()):
                    plain[field] = int(cell)
                else:
                    wrong.append(self._bad(number, index, cell, "an integer", ""))
            else:
                plain[field] = cell
        if wrong:
            return None
        rewards = many["reward"] or None
        plain.setdefault("task", f"line:{number}")
        return Trial(
            rewards=rewards,
            labels=many["label"],
            texts=many["text"],
            usage=Usage(**usage) if usage else NO_USAGE,
            **plain,
        )

    def _number(self, number: int, index: int, cell: str, wrong: list[Diagnostic]) -> Number:
        value = _number(cell)
        if value is None:
            text = cell.strip().lower()
            advice = "leave the cell empty where there is none"
            if text in ("true", "false"):
                advice = f"write {int(text == 'true')}"
            wrong.append(self._bad(number, index, cell, "a finite number", advice))
            return 0
        return value

    def _bad(self, number: int, index: int, cell: str, what: str, advice: str) -> Diagnostic:
        name = printable(self.names[index])
        message = f"line {number}: column `{name}` must be {what}, not {shown(cell)}"
        return self._slip(number, 1, "invalid-reward", message, advice)

    def _slip(self, line: int, column: int, rule: str, message: str, advice: str) -> Diagnostic:
        return Diagnostic(
            rule=rule,
            severity=Severity.ERROR,
            message=message,
            path=self.path,
            span=Span(line, column, line, column),
            subject=f"line {line}",
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
