"""What a value of a metric is called in a comparison."""

from __future__ import annotations

from ..contract.spec import UV_SCRIPT
from ..documents.wording import printable
from ..evaluation.naming import name, script_name
from .document import Row


def name_of(row: Row) -> str:
    """What a row is called: `pass@2`, `mean`, `mean: category`."""
    kwargs, value = dict(row.kwargs), row.value
    if row.type == UV_SCRIPT:
        label = script_name(kwargs)
        return printable(label if value is None else f"{label}: {value}")
    if isinstance(kwargs.get("k"), list) and value is not None and value.isdecimal():
        kwargs["k"], value = int(value), None
    label = name(row.metric, row.type, kwargs)
    return printable(label if value in (None, row.type) else f"{label}: {value}")
