"""The engine that is to be asked, with the Parquet or the data frame that lies on it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from glob import has_magic
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from ..documents.diagnostics import Diagnostic
from ..documents.paths import is_address
from ..documents.unchanged import Unchanged
from ..documents.wording import printable
from ..errors import InputError, UsageError
from .asked import answering, first_line
from .extras import literal, require
from .files import found, on_storage, on_storage_below
from .footers import check_nulls, check_sizes
from .partitions import Below, Partitions, Value, not_in_files, partitions, put, query
from .storage import filesystem
from .texts import Texts
from .united import FILE, Alike, United, kinds_of, united_by_duckdb
from .user_types import check_footers, refusing, without_metadata

_CONNECT = "sc://"
_CONNECT_PORT = 15002
# A server that answers does so in much less.
_SECONDS = 10
_MEGABYTES = 400
# What Spark calls a type of DuckDB.
_SPARK = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double"}
ENGINES = "duckdb, spark or sc://HOST:PORT"


class Opened(NamedTuple):
    """A frame that an engine holds, what it is called, and the engine with its version.

    While `frugal` is entered, the engine takes little memory and more time. `united` are the files
    that it is of, where they could differ, and `unchanged` those that lie on this machine.
    """

    native: Any
    path: str
    engine: str
    version: str
    frugal: Callable[[], AbstractContextManager[None]] = nullcontext
    diagnostics: Sequence[Diagnostic] = ()
    united: United = United()
    unchanged: Unchanged = Unchanged()


def open_frame(frame: Any) -> Opened:
    """A frame of any kind that narwhals takes.

    Raises:
        InputError: narwhals is not installed.
        UsageError: it is not a frame.
    """
    nw = require("narwhals.stable.v2", "engine")
    try:
        lazy = nw.from_native(frame).lazy()
    except TypeError as error:
        raise UsageError(
            f"a source is a path or a data frame, and not {type(frame).__name__}",
            "frames of pandas, Polars, PyArrow, DuckDB, Spark and what else narwhals takes",
        ) from error
    name = lazy.implementation.name.lower()
    module = import_module(type(frame).__module__.partition(".")[0])
    version = getattr(module, "__version__", "")
    kind = type(frame).__name__
    return Opened(frame, f"<{name} {kind}>", name, str(version))


def open_paths(paths: Sequence[str], engine: str | None) -> Opened:
    """Parquet as one relation of DuckDB, or of Spark where that is asked for.

    Raises:
        UsageError: there is no such engine.
        InputError: it is not installed, or it cannot read the files.
    """
    if engine not in (None, "duckdb", "spark") and not str(engine).startswith(_CONNECT):
        raise UsageError(f"there is no engine `{engine}`", f"one of {ENGINES}")
    if engine is not None and engine.startswith(_CONNECT):
        # They lie where its server is.
        once = list(dict.fromkeys(paths))
        return _spark(once, (), ", ".join(once), engine)
    files, led, diagnostics, below = found(paths)
    shown = ", ".join(led)
    unchanged = Unchanged([file for file in files if "://" not in file])
    if engine == "spark":
        opened = _spark(files, below, shown, engine)
    else:
        opened = _duckdb(files, below, shown)
    return opened._replace(diagnostics=[*diagnostics, *opened.diagnostics], unchanged=unchanged)


def _duckdb(paths: Sequence[str], below: Sequence[Below], shown: str) -> Opened:
    duckdb = require("duckdb", "engine")
    require("narwhals", "engine")
    connection = duckdb.connect()
    # Trials have no order here, and keeping that of the files takes memory.
    connection.execute("set preserve_insertion_order = false")
    # They trust a file's own word on its least and largest values, and take others for those.
    connection.execute(
        "set disabled_optimizers = 'statistics_propagation,compressed_materialization'"
    )
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
        native = _relation(connection, patterns, partitions(below), local)
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(shown, error) from error
    with answering("duckdb", shown):
        check_sizes(connection, here)
        check_nulls(connection, here)
    frugal = partial(_frugal, connection)
    texts = Texts(connection, here, frugal)
    united = united_by_duckdb(connection, patterns, native, texts, shown)
    return Opened(native, shown, "duckdb", duckdb.__version__, frugal, diagnostics, united)


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
    path = _without_protocol(path)
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


def _for_spark(path: str, engine: str) -> str:
    """What makes Spark read a path that is there; else a pattern."""
    if engine != "spark" or is_address(path) or not os.path.lexists(path):
        return path
    return _as_it_is(_without_protocol(path))


def _as_it_is(path: str) -> str:
    """The pattern of Spark that fits this path alone."""
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)


def _without_protocol(path: str) -> str:
    """The path so that what stands before a colon is not taken for a protocol."""
    return os.path.abspath(path) if ":" in path else path


@contextmanager
def _frugal(connection: Any) -> Iterator[None]:
    """Meanwhile DuckDB writes to temporary files what takes more memory than a little a thread."""
    (threads,) = connection.execute("select current_setting('threads')").fetchone()
    connection.execute(f"set memory_limit = '{_MEGABYTES * threads}MB'")
    try:
        yield
    finally:
        connection.execute("reset memory_limit")


def _check_server(engine: str) -> None:
    """Refuse an address where nobody listens: the client of Spark itself tries for minutes.

    Raises:
        InputError: so it is.
    """
    address = urlsplit(engine)
    try:
        place = address.hostname or "", address.port or _CONNECT_PORT
        socket.create_connection(place, _SECONDS).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"no server of Spark Connect answers at {printable(engine)}: {first_line(error)}",
            "see that it runs, and that its port can be reached from here: sc://HOST:PORT",
        ) from error


def _spark(paths: Sequence[str], below: Sequence[Below], shown: str, engine: str) -> Opened:
    if engine.startswith(_CONNECT):
        _check_server(engine)
    pyspark = require("pyspark", "spark")
    require("narwhals", "spark")
    sql = require("pyspark.sql", "spark")
    if engine == "spark":
        check_footers([path for path in paths if "://" not in path])
    try:
        builder = sql.SparkSession.builder
        is_users = engine != "spark" or sql.SparkSession.getActiveSession() is not None
        session = (builder.remote(engine) if engine != "spark" else builder).getOrCreate()
        session = session.newSession() if engine == "spark" else session
        if not is_users:
            # What it logs holds what is in files, and goes past our own output.
            session.sparkContext.setLogLevel("OFF")
        there = [_for_spark(path, engine) for path in paths]
        merged = session.read.option("mergeSchema", "true").parquet(*there)
        with refusing(shown):
            schema = merged.schema  # Connect looks at the files only now
        # Read by names and types alone: what else a footer says of a column changes others' values.
        plain = session.read.schema(without_metadata(schema)).parquet(*there)
        names = schema.names
        if engine == "spark":
            _check_read(plain, [path for path in paths if "://" not in path])
        united = United(partial(_spark_files, session, plain))
        native = _with_folders(sql, session, plain, names, partitions(below))
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(shown, error) from error
    version = str(session.version or pyspark.__version__)
    return Opened(native, shown, "spark", version, united=united)


def _with_folders(
    sql: Any, session: Any, native: Any, names: Sequence[str], said: Partitions
) -> Any:
    """The frame with the columns that folders are named for."""
    types = said.types and not_in_files(said.types, names, lambda: _spark_files(session, native))
    if not types:
        return native
    by_path = {os.path.abspath(file): values for file, values in said.values.items()}
    rows = [
        (address, *(by_path[_path_of(address)][name] for name in types))
        for address in native.inputFiles()
    ]
    kinds = ", ".join(f"`{name.replace('`', '``')}` {_SPARK[kind]}" for name, kind in types.items())
    table = session.createDataFrame(rows, f"`{FILE}` string, {kinds}")
    named = native.withColumn(FILE, sql.functions.input_file_name())
    return named.join(sql.functions.broadcast(table), FILE).drop(FILE)


def _path_of(address: str) -> str:
    return unquote(urlsplit(address).path)


def _check_read(native: Any, files: Sequence[str]) -> None:
    """Refuse a file that Spark leaves out without a word.

    Raises:
        InputError: there is one.
    """
    read = set(map(_path_of, native.inputFiles()))
    left = [file for file in files if os.path.abspath(file) not in read]
    if left:
        raise InputError(
            f"Spark does not read {printable(left[0])}: to it names that begin with `_` or `.` "
            "are of files that are not there",
            "rename it, or take --engine duckdb",
        )


def _spark_files(session: Any, native: Any) -> list[Alike]:
    """Each file with its columns: of several Spark tells no more than what they have together.

    Raises:
        InputError: Spark cannot read one of them.
    """
    found = []
    for address in native.inputFiles():
        file = unquote(address)
        try:
            with refusing(file):
                columns = session.read.parquet(_as_it_is(file)).columns
        except InputError:
            raise
        except Exception as error:
            raise _unreadable(file, error) from error
        found.append(Alike([file.removeprefix("file://")], columns))
    return found


def _unreadable(shown: str, error: Exception) -> InputError:
    text = first_line(error)
    if "redential" in text or "Forbidden" in text or "403" in text or "AccessDenied" in text:
        return InputError(
            f"{printable(shown)} cannot be read: {text}",
            "give credentials as the storage's own tools take them (AWS_PROFILE, "
            "AWS_ACCESS_KEY_ID, a role of the machine)",
        )
    if "conversion error" in text or "Invalid unicode" in text or isinstance(error, UnicodeError):
        return InputError(
            f"{printable(shown)} cannot be read: the name of one of its columns is not UTF-8",
            "write the file anew, with other names",
        )
    return InputError(f"{printable(shown)} cannot be read: {text}")
