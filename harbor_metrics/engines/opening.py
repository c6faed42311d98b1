"""The engine that is to be asked, with the Parquet or the data frame that lies on it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..documents.unchanged import Unchanged
from ..errors import UsageError
from .extras import require
from .files import found
from .opened import Opened
from .opening_duckdb import open_duckdb
from .opening_spark import CONNECT, open_spark

ENGINES = "duckdb, spark or sc://HOST:PORT"


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
    if engine not in (None, "duckdb", "spark") and not str(engine).startswith(CONNECT):
        raise UsageError(f"there is no engine `{engine}`", f"one of {ENGINES}")
    if engine is not None and engine.startswith(CONNECT):
        # They lie where its server is.
        once = list(dict.fromkeys(paths))
        return open_spark(once, (), ", ".join(once), engine)
    files, led, diagnostics, below = found(paths)
    shown = ", ".join(led)
    unchanged = Unchanged([file for file in files if "://" not in file])
    if engine == "spark":
        opened = open_spark(files, below, shown, engine)
    else:
        opened = open_duckdb(files, below, shown)
    return opened._replace(diagnostics=[*diagnostics, *opened.diagnostics], unchanged=unchanged)
