"""Columns that folders of Parquet are named for, `NAME=VALUE`, as Spark writes them.

Engines have ways of their own to read them, and take `1.10` for 1.1, or a folder above for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..documents.wording import printable
from ..errors import InputError
from ..numbers.written import number
from ..readers.columns import USAGE, folded, meanings
from .united import FILE, Alike, quoted

_FOLDER = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_NULL = "__HIVE_DEFAULT_PARTITION__"
_TEXT = "VARCHAR"
# Integers of 64 bits; beside numbers with a fraction those that each float is.
_MOST, _EXACT = 2**63 - 1, 2**53
# No table of anybody's.
_TABLE = "folders of harbor-metrics"

Value = str | int | float | None


class Below(NamedTuple):
    """A file, and the folder that the user has named, or that the fixed part of a pattern is."""

    file: str
    base: str


class Partitions(NamedTuple):
    """The columns with the types of DuckDB, and of each file the values."""

    types: dict[str, str]
    values: dict[str, dict[str, Value]]


def partitions(files: Iterable[Below]) -> Partitions:
    """What the folders below those that are named say of each file.

    Raises:
        InputError: files lie below folders of other names.
    """
    found: dict[str, dict[str, str | None]] = {}
    first: tuple[str, list[str]] | None = None
    for file, base in files:
        said = _said(os.path.relpath(os.path.dirname(file) or os.curdir, base))
        names = [name for name, _ in said]
        first = first or (file, names)
        if names != first[1] or len(set(map(folded, names))) < len(names):
            raise InputError(
                f"the folders of {printable(first[0])} and of {printable(file)} are named for "
                "other columns, or for one twice",
                "compute them apart, or move them into folders of the same names",
            )
        found[file] = dict(said)
    kinds = {
        name: _kind([said[name] for said in found.values()]) if _is_amount(name) else (_TEXT, str)
        for name in (first or ("", []))[1]
    }
    types = {name: type_ for name, (type_, _) in kinds.items()}
    values = {
        file: {name: None if text is None else kinds[name][1](text) for name, text in said.items()}
        for file, said in found.items()
    }
    return Partitions(types, values)


def not_in_files(
    types: Mapping[str, str], united: Sequence[str], alike: Callable[[], Sequence[Alike]]
) -> dict[str, str]:
    """Those of the columns that the files do not have themselves; what these say counts.

    `united` are the columns of all files.

    Raises:
        InputError: some files have them, or files have some of them.
    """
    both = [name for name in types if folded(name) in set(map(folded, united))]
    if not both:
        return dict(types)
    for kind in alike():
        own = set(map(folded, kind.columns))
        lacking = [name for name in types if folded(name) not in own]
        if lacking:
            raise InputError(
                f"{printable(kind.files[0])} lies in a folder that is named for "
                f"`{printable(lacking[0])}` and has no such column, where `{printable(both[0])}` "
                "is in a file and in the name of its folder",
                "write what the folders say to all files, or to none",
            )
    return {}


def _said(path: str) -> list[tuple[str, str | None]]:
    """The columns and values that the folders of a path say, the outermost first."""
    parts = (_FOLDER.fullmatch(part) for part in path.split("/"))
    return [
        (unquote(part[1]), None if part[2] == _NULL else unquote(part[2]))
        for part in parts
        if part is not None
    ]


def _is_amount(name: str) -> bool:
    """Whether a column of that name holds numbers; a label that is the text of one is one, too."""
    (field,) = meanings([name], {}) or [""]
    return field in USAGE or field.partition(".")[0] == "reward"


def _kind(texts: Sequence[str | None]) -> tuple[str, Callable[[str], Value]]:
    """The type of a column: numbers where each text is how its number is written, as in a CSV."""
    numbers = {text: number(text) for text in texts if text is not None}
    if any(str(value) != text for text, value in numbers.items()):
        return _TEXT, str
    values = [value for value in numbers.values() if value is not None]
    if all(isinstance(value, int) for value in values):
        return ("BIGINT", int) if all(abs(v) <= _MOST for v in values) else (_TEXT, str)
    is_exact = all(abs(value) <= _EXACT for value in values if isinstance(value, int))
    return ("DOUBLE", float) if is_exact else (_TEXT, str)


def query(patterns: Sequence[str], columns: Sequence[str] = ()) -> str:
    """What DuckDB reads the files by, united by the names of their columns.

    With `columns` of a table that `put` has made.
    """
    files = ", ".join("'" + pattern.replace("'", "''") + "'" for pattern in patterns)
    options = "union_by_name = true, hive_partitioning = false"
    if not columns:
        return f"select * from read_parquet([{files}], {options})"  # noqa: S608
    more = ", ".join(f"said.{quoted(name)}" for name in columns)
    return (
        f"select own.* exclude ({quoted(FILE)}), {more} "  # noqa: S608
        f"from read_parquet([{files}], {options}, filename = '{FILE}') own "
        f"join {quoted(_TABLE)} said on own.{quoted(FILE)} = said.{quoted(FILE)}"
    )


def put(connection: Any, types: Mapping[str, str], rows: Mapping[str, Mapping[str, Value]]) -> None:
    """Make a table of what is said of each file, by the name that DuckDB has for it."""
    columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in types.items())
    connection.execute(f"create temp table {quoted(_TABLE)} ({quoted(FILE)} varchar, {columns})")
    marks = ", ".join("?" for _ in range(len(types) + 1))
    connection.executemany(
        f"insert into {quoted(_TABLE)} values ({marks})",  # noqa: S608
        [[file, *(said[name] for name in types)] for file, said in rows.items()],
    )
