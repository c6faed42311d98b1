"""Columns that folders of Parquet are named for, `NAME=VALUE`, as Spark writes them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from ..documents.wording import in_command, printable
from ..errors import InputError
from ..readers.columns import folded
from .united import Alike, quoted

_FOLDER = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_NULL = "__HIVE_DEFAULT_PARTITION__"
# Others lose a sign where they become a number: `01`, and integers beyond 64 bits.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class Below(NamedTuple):
    """A file, and the folder that the user has named, or that the fixed part of a pattern is."""

    file: str
    base: str


def partitions(files: Sequence[Below]) -> dict[str, str]:
    """The columns that the folders below what is named are named for, and the types of DuckDB.

    Raises:
        InputError: files lie below folders of other names.
    """
    values: dict[str, list[str]] = {}
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
        for name, value in said:
            values.setdefault(name, []).append(value)
    return {name: _type(own) for name, own in values.items()}


def not_in_files(
    columns: Mapping[str, str], united: Sequence[str], alike: Callable[[], Sequence[Alike]]
) -> dict[str, str]:
    """Those of the columns that the files do not have themselves; what these say counts.

    `united` are the columns of all files.

    Raises:
        InputError: some files have them, or files have some of them.
    """
    both = [name for name in columns if folded(name) in set(map(folded, united))]
    if not both:
        return dict(columns)
    for kind in alike():
        own = set(map(folded, kind.columns))
        lacking = [name for name in columns if folded(name) not in own]
        if lacking:
            raise InputError(
                f"{printable(kind.files[0])} lies in a folder that is named for "
                f"`{printable(lacking[0])}` and has no such column, where `{printable(both[0])}` "
                "is in a file and in the name of its folder",
                "write what the folders say to all files, or to none",
            )
    return {}


def check_above(files: Sequence[Below]) -> None:
    """Refuse what lies in folders that are named for columns: DuckDB would take these, too.

    Raises:
        InputError: so it is.
    """
    for file, base in files:
        said = _said(file.removesuffix(os.path.relpath(file, base)))
        if said:
            raise InputError(
                f"{printable(base)} lies in a folder that is named for a column, as are folders "
                f"below it: `{printable(said[0][0])}`",
                f"cd {in_command(base)}, and name it from there",
            )


def _said(path: str) -> list[tuple[str, str]]:
    """The columns and values that the folders of a path say, the outermost first."""
    parts = (_FOLDER.fullmatch(part) for part in path.split("/"))
    return [(part[1], part[2]) for part in parts if part is not None]


def _type(values: Sequence[str]) -> str:
    said = [unquote(value) for value in values if value != _NULL]
    if all(map(_INTEGER.fullmatch, said)):
        return "BIGINT"
    return "DOUBLE" if all(map(_NUMBER.fullmatch, said)) else "VARCHAR"


def query(patterns: Sequence[str], columns: Mapping[str, str]) -> str:
    """What DuckDB reads the files by, united by the names of their columns."""
    files = ", ".join("'" + pattern.replace("'", "''") + "'" for pattern in patterns)
    options = "union_by_name = true, hive_partitioning = false"
    if columns:
        types = ", ".join(f"{quoted(name)}: {type_}" for name, type_ in columns.items())
        options = "union_by_name = true, hive_partitioning = true, hive_types_autocast = false"
        options += f", hive_types = {{{types}}}"
    return f"select * from read_parquet([{files}], {options})"  # noqa: S608
