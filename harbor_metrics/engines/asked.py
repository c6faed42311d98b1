"""What an engine was asked, and what it answered: each question once, rows in one order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from ..documents.unchanged import Unchanged
from ..documents.wording import printable
from ..errors import HarborMetricsError, InputError

Row = tuple[Any, ...]
_Parsed = TypeVar("_Parsed")


class WouldAskError(Exception):
    """A question would be asked, where it is only to be known whether any is."""


class TooManyError(Exception):
    """An answer is too large to be brought here; the message says what there is too much of."""


class Asked(msgspec.Struct):
    """An engine's answers by question; of a `dry` one nothing is asked."""

    engine: str
    # Of what it is asked, for people.
    path: str
    dry: bool = False
    # How many trials there are in all, once that is known.
    trials: int = 0
    # Whether no interval is wanted: then the squares need not be added up.
    totals_only: bool = False
    # The files that are asked, each question anew.
    unchanged: Unchanged = Unchanged()
    # (reward key, how trials are parted and made) -> what is known of the sizes of tasks.
    sizes: dict[Any, Any] = {}
    # (how trials are parted and made) -> what is known of each group.
    overviews: dict[Any, Any] = {}
    _rows: dict[str, list[Row]] = {}
    _parsed: dict[str, Any] = {}

    def once(
        self,
        question: Sequence[Any],
        query: Callable[[], Any],
        parse: Callable[[list[Row]], _Parsed],
        most: int = 0,
    ) -> _Parsed:
        """What was made of the rows of an answer, which are sorted and the same on every engine.

        Raises:
            WouldAskError: nothing is to be asked yet.
            TooManyError: there are more rows than `most`.
            InputError: the engine fails.
        """
        name = msgspec.json.encode(list(question)).decode()
        if name not in self._parsed:
            if self.dry:
                raise WouldAskError
            rows = self.unrecorded(query, most)
            if most and len(rows) > most:
                raise TooManyError(f"more than {most:,}")
            plain = [tuple(map(_plain, row)) for row in rows]
            self._rows[name] = sorted(plain, key=_canonical)
            self._parsed[name] = parse(self._rows[name])
        parsed: _Parsed = self._parsed[name]
        return parsed

    def unrecorded(self, query: Callable[[], Any], most: int = 0) -> list[Row]:
        """The rows of an answer as they come, which need not be the same on every engine."""
        with answering(self.engine, self.path):
            frame = query()
            rows = _collected(frame.head(most + 1) if most else frame)
        self.unchanged.check()
        return rows

    @property
    def sha256(self) -> str:
        """The digest of all questions and answers, whatever their order."""
        lines = []
        for question, rows in sorted(self._rows.items()):
            lines += [question.encode(), *map(_canonical, rows)]
        return hashlib.sha256(b"\n".join(lines)).hexdigest()


@contextmanager
def answering(engine: str, path: str) -> Iterator[None]:
    """Meanwhile an engine is asked, and what it fails with is said of the source.

    Raises:
        InputError: it fails.
    """
    try:
        yield
    # A slip of ours is not the engine's.
    except (HarborMetricsError, AttributeError, NameError, TypeError):
        raise
    except Exception as error:  # every engine has errors of its own
        raise InputError(
            f"{printable(path)}: {engine} could not answer: {first_line(error)}",
            "nothing was computed",
        ) from error


def first_line(error: Exception) -> str:
    """What an engine's error says, without the trace of its own code or of a file system's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    # The bridge to Java says first which of its calls it was.
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:
        return lines[1].removeprefix(": ")
    # A trace of Python's ends with what happened.
    return lines[-1 if any(line.startswith("Traceback") for line in lines) else 0]


def _canonical(row: Row) -> bytes:
    """A row as text; 1.0 as 1, because some engines keep integers with gaps as floats."""
    whole = (int(v) if isinstance(v, float) and v.is_integer() else v for v in row)
    return msgspec.json.encode(list(whole))


def _plain(value: Any) -> Any:
    """A value as rows have it: engines give kinds of their own, and NaN for what is missing."""
    if value is None or isinstance(value, str | int):
        return value
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, str | int):
        return value
    # Of the NA of pandas it is not known whether it is itself.
    if (value != value) is not False:
        return None
    if isinstance(value, float):
        # 0.0 and -0.0 are the same number.
        return value + 0.0
    if isinstance(value, Decimal):
        # No float has the digits of each.
        whole = value.to_integral_value()
        return int(whole) if whole == value else format(value.normalize(), "f")
    if isinstance(value, datetime) and value.tzinfo is not None:
        # Engines take the time zone of the machine.
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _collected(frame: Any) -> list[Row]:
    """The few rows of an answer, by the engine's own means: none then needs PyArrow."""
    native, kind = frame.to_native(), frame.implementation
    rows: list[Row]
    if kind.is_duckdb():
        rows = native.fetchall()
    elif kind.is_spark_like() and hasattr(native, "toDF"):
        moments = [field.dataType.typeName() == "timestamp" for field in native.schema.fields]
        rows = [
            # Spark gives moments of the machine's time zone, and does not say it.
            tuple(v.astimezone(UTC) if m and v else v for m, v in zip(moments, row, strict=True))
            for row in native.collect()
        ]
    elif kind.is_polars():
        rows = native.collect(engine="streaming").rows()
    else:
        rows = frame.collect().rows()
    return rows
