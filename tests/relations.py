"""Trials as frames of every engine."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from harbor_metrics.engines.parquet import parquet
from harbor_metrics.engines.sources import read
from harbor_metrics.trials.source import Source
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

ENGINES = ("duckdb", "pandas", "polars", "pyarrow")


def frame(trials: Sequence[Trial], engine: str = "duckdb", connection: Any = None) -> Any:
    """A frame of that engine with these trials."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(parquet(trials)))
    if engine == "duckdb":
        import duckdb

        return (connection or duckdb.connect()).from_arrow(table)
    if engine == "polars":
        import polars as pl

        return pl.from_arrow(table).lazy()
    return table.to_pandas() if engine == "pandas" else table


def source_of(native: Any, **options: Any) -> Source:
    """A frame as a source."""
    (source,) = read([native], columns={}, **options)
    return source


def table_of(native: Any) -> Table:
    """The only group of the trials of a frame."""
    counted = source_of(native).counted
    assert counted is not None
    (table,) = counted.groups.values()
    return table
