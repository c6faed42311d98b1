"""Parquet as one relation of DuckDB."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from glob import has_magic
from typing import Any

from ..documents.diagnostics import Diagnostic
from ..documents.paths import is_address
from ..documents.wording import printable
from ..errors import InputError
from .asked import answering
from .extras import literal, require
from .files import on_storage, on_storage_below
from .footers import check_lengths, check_nulls, check_sizes
from .opened import Opened, unreadable, without_protocol
from .partitions import Below, Partitions, Value, not_in_files, partitions, put, query
from .storage import filesystem
from .texts import Texts
from .united import kinds_of, united_by_duckdb

_MEGABYTES = 400
# What computes with the least and largest values, or the numbers of nulls, that are in a footer;
# or tells the reader of Parquet what is looked for, which leaves out parts that say they have none.
_BELIEVING = {
    "compressed_materialization",
    "filter_pushdown",
    "join_filter_pushdown",
    "late_materialization",
    "partial_aggregate_pushdown",
    "row_group_pruner",
    "scalar_fn_pushdown",
    "statistics_propagation",
    "top_n",
    "type_pushdown",
}


def open_duckdb(paths: Sequence[str], below: Sequence[Below], shown: str) -> Opened:
    """These files, which are shown as `shown`, with the columns of the folders above them.

    Raises:
        InputError: DuckDB is not installed, or cannot read them.
    """
    duckdb = require("duckdb", "engine")
    require("narwhals", "engine")
    connection = duckdb.connect()
    # Trials have no order here, and keeping that of the files takes memory.
    connection.execute("set preserve_insertion_order = false")
    # What a file asks for it would fetch, and run.
    connection.execute("set autoinstall_known_extensions = false")
    _trust_no_statistics(connection)
    # What does not fit into memory goes there, and not into the current folder.
    folder = tempfile.mkdtemp(prefix="harbor-metrics-")
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
    connection.execute("set temp_directory = ?", [folder])
    protocols = {path.partition("://")[0] for path in paths if is_address(path)}
    storage = {f"{protocol}://": filesystem(protocol) for protocol in protocols}
    for place in {id(place): place for place in storage.values()}.values():
        connection.register_filesystem(place)
    local = [path for path in paths if "://" not in path]
    patterns = list(map(_for_duckdb, local))
    here = tuple(patterns)
    diagnostics: list[Diagnostic] = []
    try:
        for protocol, place in storage.items():
            there = [path for path in paths if path.startswith(protocol)]
            files, repeated = on_storage(there, protocol, place)
            patterns += files
            diagnostics += repeated
            below = [*below, *on_storage_below(there, protocol, place)]
        check_lengths(local)
        native = _relation(connection, patterns, partitions(below), local)
    except InputError:
        raise
    except Exception as error:
        raise unreadable(shown, error) from error
    with answering("duckdb", shown):
        check_sizes(connection, here)
        check_nulls(connection, here)
    frugal = partial(_frugal, connection)
    texts = Texts(connection, here, frugal)
    united = united_by_duckdb(connection, patterns, local, native, texts, shown)
    return Opened(native, shown, "duckdb", duckdb.__version__, frugal, diagnostics, united)


def _trust_no_statistics(connection: Any) -> None:
    """Leave out of a query's plan whatever takes a file's own word on the values that are in it."""
    known = {name for (name,) in connection.execute("from duckdb_optimizers()").fetchall()}
    connection.execute("set disabled_optimizers = ?", [",".join(sorted(known & _BELIEVING))])


def _relation(
    connection: Any, patterns: Sequence[str], said: Partitions, local: Sequence[str]
) -> Any:
    """The files of patterns with the columns of their folders; `local` ones stand first."""
    native = connection.sql(query(patterns))
    types = said.types and not_in_files(
        said.types, native.columns, lambda: kinds_of(connection, patterns)
    )
    if types:
        put(connection, types, _by_name(connection, patterns, said, local))
        native = connection.sql(query(patterns, list(types)))
    return native


def _by_name(
    connection: Any, patterns: Sequence[str], said: Partitions, local: Sequence[str]
) -> dict[str, Mapping[str, Value]]:
    """What is said of each file, by the name that DuckDB has for it."""
    found: dict[str, Mapping[str, Value]] = {}
    for i, pattern in enumerate(patterns):
        for (name,) in connection.execute("select file from glob(?)", [pattern]).fetchall():
            file = local[i] if i < len(local) else name
            if file not in said.values or name in found:
                raise InputError(
                    f"{printable(name)} lies in a folder that is named for a column, and DuckDB "
                    "does not say which file it is",
                    "copy the files to this machine",
                )
            found[name] = said.values[file]
    return found


def _for_duckdb(path: str) -> str:
    """What makes DuckDB read a path that is there.

    Raises:
        InputError: DuckDB cannot be told this path apart from a pattern.
    """
    if not os.path.lexists(path):
        return path
    path = without_protocol(path)
    if path.startswith("~"):
        path = os.path.abspath(path)  # for DuckDB the home, or what lies beside it
    if not has_magic(path):
        return path
    if "\\" in path:
        raise InputError(
            f"{printable(path)} cannot be read: beside * ? [ DuckDB "
            "takes a backslash for part of a pattern, and would look elsewhere",
            "rename it, or name a link to it",
        )
    return literal(path)


@contextmanager
def _frugal(connection: Any) -> Iterator[None]:
    """Meanwhile DuckDB writes to temporary files what takes more memory than a little a thread."""
    (threads,) = connection.execute("select current_setting('threads')").fetchone()
    connection.execute(f"set memory_limit = '{_MEGABYTES * threads}MB'")
    try:
        yield
    finally:
        connection.execute("reset memory_limit")
