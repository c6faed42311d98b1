"""What a value of a metric is called in a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.spec import UV_SCRIPT
from ..documents.wording import printable
from ..evaluation.naming import name, script_name
from ..evaluation.result import OF_REGISTRY
from .document import Row

# The arguments that stand in the name of a metric: `pass@2`.
_IN_NAMES = {"k"}
_GROUPED = "grouped"


def name_of(row: Row) -> str:
    """What a row is called: `pass@2`, `mean`, `mean: category`."""
    kwargs, value = row.kwargs, row.value
    if isinstance(kwargs.get("k"), list) and value is not None and value.isdecimal():
        return printable(name(row.metric, row.type, {**kwargs, "k": int(value)}))
    is_only = value == row.type and row.type != UV_SCRIPT and row.key is None
    if value is None or is_only:
        return label_of(row)
    return printable(f"{label_of(row)}: {value}")


def label_of(row: Row) -> str:
    """What the metric of a row is called."""
    if row.type == UV_SCRIPT:
        return printable(script_name(row.kwargs))
    return printable(name(row.metric, row.type, row.kwargs))


def names_of(row: Row) -> list[str]:
    """What a row is called, its own name before those that it has in common with others.

    Its value alone is none of them: it can be a label, or a reward, which trials bring.
    """
    names = [name_of(row), label_of(row)]
    if row.type != _GROUPED:
        names += [row.metric, row.type]
    return list(dict.fromkeys(names))


def inner_names_of(row: Row) -> list[str]:
    """What the metric is called that measures the groups of a row."""
    inner = row.kwargs.get("metric") if row.type == _GROUPED else None
    if isinstance(inner, dict) and isinstance(inner.get("type"), str):
        kwargs = inner.get("kwargs")
        type_ = inner["type"]
        return [name(type_, type_, kwargs if isinstance(kwargs, dict) else {}), type_]
    return [inner] if isinstance(inner, str) else []


def is_asked(row: Row) -> bool:
    """Whether no registry and no job names its metric, which may be a stranger's."""
    return row.origin not in OF_REGISTRY


def rows_called(metric: str, rows: Sequence[Row]) -> list[Row]:
    """The values of that name; of a metric's own name those that it gave.

    What the user asks for has the name before what a registry names.
    """
    return asked_called(metric, rows) or _named(metric, rows)


def asked_called(metric: str, rows: Sequence[Row]) -> list[Row]:
    """Those of them that the user asks for."""
    return _named(metric, list(filter(is_asked, rows)))


def _named(metric: str, rows: Sequence[Row]) -> list[Row]:
    """Those of some rows.

    Neither arguments that make another metric of it nor what a reward is called take its name.
    """
    exact = [row for row in rows if name_of(row) == metric]
    # What failed has no values, and may have had one of that name.
    failed = [
        row
        for row in rows
        if row.value is None and row not in exact and metric.startswith(f"{label_of(row)}: ")
    ]
    if any(row.value != row.type for row in exact):
        return exact + failed
    whole = [row for row in rows if label_of(row) == metric]
    return whole or [row for row in rows if _is_meant(metric, row)] or failed


def _is_meant(metric: str, row: Row) -> bool:
    """Whether a row is of the metric of that name, whatever its k, unless the name says one."""
    if metric not in (row.metric, row.type):
        return False
    # For weight: most gates name what a row is called.
    from ..catalogue.aliases import implied_kwargs

    said = implied_kwargs(metric)
    return all(
        kwarg in _IN_NAMES and said.get(kwarg, value) == value
        for kwarg, value in row.kwargs.items()
    )
