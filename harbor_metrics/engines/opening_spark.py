"""Parquet as one relation of Spark: of one here, or of a server of Spark Connect."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from ..documents.paths import is_address
from ..documents.wording import printable
from ..errors import InputError
from .asked import first_line
from .extras import require
from .opened import Opened, unreadable, without_protocol
from .partitions import Below, Partitions, not_in_files, partitions
from .united import FILE, Alike, United, kinds_checked
from .user_types import check_footers, refusing, without_metadata

# How the address of a server of Spark Connect begins.
CONNECT = "sc://"
_CONNECT_PORT = 15002
# A server that answers does so in much less.
_SECONDS = 10
# What makes the reader of Parquet leave out parts that say they have none of what is looked for.
_BELIEVING = ("filterPushdown", "aggregatePushdown")
# What Spark calls a type of DuckDB.
_TYPES = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double"}


def open_spark(paths: Sequence[str], below: Sequence[Below], shown: str, engine: str) -> Opened:
    """These paths, which are shown as `shown`; to a server they are its own.

    Raises:
        InputError: Spark is not installed, does not answer, or cannot read them.
    """
    if engine.startswith(CONNECT):
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
        for setting in _BELIEVING:
            session.conf.set(f"spark.sql.parquet.{setting}", "false")
        there = [_for_spark(path, engine) for path in paths]
        merged = session.read.option("mergeSchema", "true").parquet(*there)
        with refusing(shown):
            schema = merged.schema  # Connect looks at the files only now
        # Read by names and types alone: what else a footer says of a column changes others' values.
        plain = session.read.schema(without_metadata(schema)).parquet(*there)
        names = schema.names
        if engine == "spark":
            _check_read(plain, [path for path in paths if "://" not in path])
        local = [] if engine != "spark" else [path for path in paths if "://" not in path]
        files = partial(_spark_files, session, plain)
        united = United(files, check_kind=kinds_checked(local, files))
        native = _with_folders(sql, session, plain, names, partitions(below))
    except InputError:
        raise
    except Exception as error:
        raise unreadable(shown, error) from error
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
    kinds = ", ".join(f"`{name.replace('`', '``')}` {_TYPES[kind]}" for name, kind in types.items())
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
            raise unreadable(file, error) from error
        found.append(Alike([file.removeprefix("file://")], columns))
    return found


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


def _for_spark(path: str, engine: str) -> str:
    """What makes Spark read a path that is there; else a pattern."""
    if engine != "spark" or is_address(path) or not os.path.lexists(path):
        return path
    return _as_it_is(without_protocol(path))


def _as_it_is(path: str) -> str:
    """The pattern of Spark that fits this path alone."""
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)
