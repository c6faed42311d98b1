"""What a value of a metric is called in a comparison."""

from __future__ import annotations

from ..contract.spec import UV_SCRIPT
from ..documents.wording import printable
from ..evaluation.naming import name, script_name
from .document import Row


def name_of(row: Row) -> str:
    """What a row is called: `pass@2`, `mean`, `mean: category`."""
    kwargs, value = row.kwargs, row.value
    if isinstance(kwargs.get("k"), list) and value is not None and value.isdecimal():
        return printable(name(row.metric, row.type, {**kwargs, "k": int(value)}))
    if value is None or (value == row.type and row.type != UV_SCRIPT):
        return label_of(row)
    return printable(f"{label_of(row)}: {value}")


def label_of(row: Row) -> str:
    """What the metric of a row is called."""
    if row.type == UV_SCRIPT:
        return printable(script_name(row.kwargs))
    return printable(name(row.metric, row.type, row.kwargs))
