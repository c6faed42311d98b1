"""A table of trials: CSV with a header line, its columns recognised by name or mapped.

A column is what `--columns FIELD=COLUMN` says, else what its name says; every other column is a
label. An empty cell is a missing value, also of a reward.
"""

from __future__ import annotations

import csv
from typing import Any

from ..documents.diagnostics import Diagnostic, Severity
from ..documents.parquet import MARK
from ..documents.wording import listed, printable, shown
from ..errors import InputError
from ..numbers.exact import Number
from ..numbers.written import integer, number
from ..trials.source import Source
from ..trials.trial import NO_USAGE, Trial, Usage
from .columns import MANY, USAGE, check_columns, meanings
from .files.file import File
from .reading import Options, Reading
from .recognition import FITS, Fit, Head
from .rows import Place, label, names_in, read_rows, refusal

# What data frames write of flags, and where there is no value.
_NO_NAMES = {"0", "0.0", "1", "1.0", "false", "nan", "none", "null", "true"}


def fit(head: Head) -> Fit:
    """A first line with a column of rewards, in a text that is not JSON."""
    if head.line is not None or head.members or head.is_array or head.is_zip:
        return Fit(0.0, "it begins like JSON" if not head.is_zip else "it is a zip archive")
    names = names_in(head.first_text)
    if _is_parquet(names):
        return Fit(0.0, "it begins as Parquet does")
    if not names:
        return Fit(0.3, "a quote of its first line stays open, so it has no names of columns")
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


def _is_parquet(names: list[str]) -> bool:
    """Whether a header begins with the signs by which others take a file for Parquet."""
    return bool(names) and names[0].startswith(MARK.decode())


def read(file: File, options: Options) -> list[Source]:
    """One source, its trials in canonical order.

    Raises:
        InputError: it has no header, a column that is asked for does not exist, or no column has
            the rewards.
    """
    reading = Reading(file)
    with reading.text() as stream:
        try:
            names, placed = read_rows(stream, file.path)
            if _is_parquet(names):
                raise InputError(
                    f"{file.path} begins as Parquet does, and can be taken for that",
                    "give Parquet as a file; of a CSV, name the first column otherwise",
                )
            check_columns(file.path, names, options.columns)
            meaning = meanings(names, options.columns)
            if "reward" not in meaning and not any(f.startswith("reward.") for f in meaning):
                raise InputError(
                    f"{file.path} has no column of rewards; it has {', '.join(names)}",
                    "name it with --columns reward=COLUMN",
                )
            rows = _Rows(reading, names, meaning)
            for place, row in placed:
                rows.add(place, row)
        except (csv.Error, UnicodeDecodeError) as error:
            raise refusal(file.path, error) from error
    return [reading.source(by_place="task" not in meaning)]


class _Rows:
    """Makes trials of rows."""

    def __init__(self, reading: Reading, names: list[str], meaning: dict[str, int]) -> None:
        self.reading = reading
        self.names = names
        self.meaning = meaning

    def add(self, place: Place, row: list[str]) -> None:
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

    def _trial(self, place: Place, row: list[str], wrong: list[Diagnostic]) -> Trial | None:
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
                many[name][rest] = label(cell) if name == "label" else cell
            elif field in USAGE:
                usage[field] = self._number(place, index, cell, wrong)
            else:
                plain[field] = self._plain(place, index, field, cell, wrong)
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

    def _plain(
        self, place: Place, index: int, field: str, cell: str, wrong: list[Diagnostic]
    ) -> Any:
        if field == "attempt":
            attempt = integer(number(cell))
            if not isinstance(attempt, int):
                wrong.append(self._bad(place, index, cell, "an integer", ""))
            return attempt
        if field == "error" and cell.strip().lower() in _NO_NAMES:
            advice = "leave the cell empty where there is none"
            wrong.append(self._bad(place, index, cell, "the name of an exception", advice))
        return cell

    def _number(self, place: Place, index: int, cell: str, wrong: list[Diagnostic]) -> Number:
        value = number(cell)
        if value is None:
            text = cell.strip().lower()
            advice = "leave the cell empty where there is none"
            if text in ("true", "false"):
                advice = f"write {int(text == 'true')}"
            wrong.append(self._bad(place, index, cell, "a finite number", advice))
            return 0
        return value

    def _bad(self, place: Place, index: int, cell: str, wanted: str, advice: str) -> Diagnostic:
        name = printable(self.names[index])
        message = f"line {place.line}: column `{name}` must be {wanted}, not {shown(cell)}"
        return self._slip(place, index, "invalid-reward", message, advice)

    def _slip(self, place: Place, index: int, rule: str, message: str, advice: str) -> Diagnostic:
        return Diagnostic(
            rule=rule,
            severity=Severity.ERROR,
            message=message,
            path=self.reading.path,
            span=place.cell(index),
            subject=f"line {place.line}",
            help=advice,
        )
