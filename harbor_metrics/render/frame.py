"""Results as columns: Parquet, and a stream of Arrow that data frames are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from ..documents.wording import encodable, printable
from ..engines.extras import require
from ..engines.parquet import written
from ..errors import OutputError
from ..evaluation.result import Result
from .csv import HEADINGS, rows

_FLOATS = ("value", "stderr", "low", "high", "level", "n_effective")
_WHOLE = ("n", "trials", "tasks", "passed")


def parquet(result: Result) -> bytes:
    """The rows of the CSV as a Parquet file.

    Raises:
        InputError: DuckDB is not installed.
        OutputError: a value is an integer that is no binary64 number.
    """
    types = {name: _kind(name, "DOUBLE", "BIGINT", "VARCHAR") for name in HEADINGS}
    return written([dict(zip(HEADINGS, cells, strict=True)) for cells in _cells(result)], types)


def arrow_stream(result: Result, requested: Any = None) -> Any:
    """The rows of the CSV as a capsule of the Arrow C stream interface.

    Raises:
        InputError: nanoarrow is not installed.
        OutputError: a value is an integer that is no binary64 number.
    """
    na = require("nanoarrow", "frames")
    columns = list(zip(*_cells(result), strict=True)) or [()] * len(HEADINGS)
    types = [_kind(name, na.float64(), na.int64(), na.string()) for name in HEADINGS]
    struct = na.struct(dict(zip(HEADINGS, types, strict=True)))
    children = [na.c_array(list(c), t) for c, t in zip(columns, types, strict=True)]
    n = len(columns[0])
    array = na.c_array_from_buffers(struct, n, [None], children=children)
    return na.c_array_stream(array).__arrow_c_stream__(requested)


def _kind(name: str, number: Any, whole: Any, text: Any) -> Any:
    return number if name in _FLOATS else whole if name in _WHOLE else text


def _cells(result: Result) -> list[list[object]]:
    metric = HEADINGS.index("metric")
    return [
        [_cell(name, cell, cells[metric]) for name, cell in zip(HEADINGS, cells, strict=True)]
        for cells in rows(result)
    ]


def _cell(name: str, cell: object, metric: object) -> object:
    if cell is None or isinstance(cell, msgspec.UnsetType):
        return None
    if name in _FLOATS:
        assert isinstance(cell, int | float)
        number = float(cell)
        if number != cell:
            raise OutputError(
                f"`{name}` of {printable(str(metric))} is {cell}, which no column of "
                "floating-point numbers holds exactly",
                "write CSV or JSON instead: -o result.csv",
            )
        return number
    if isinstance(cell, dict):
        cell = msgspec.json.encode(encodable(cell)).decode()
    return cell if name in _WHOLE else str(encodable(cell))
