"""What the schema of registries says: jsonschema-rs finds where, and there it is explained."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..documents import schemas
from ..documents.document import Finding
from ..documents.mismatch import Noun, findings
from .rules import LOADING, label

_UNLOADABLE = (LOADING,)


def of_registry(value: list[Any]) -> Iterator[Finding]:
    """Every mistake in the datasets, tasks and metrics of a registry."""
    errors = _validator().iter_errors(value)
    units = dict.fromkeys(_unit(tuple(error.instance_path)) for error in errors)
    for at in units:
        entry: Any = value
        for step in at:
            entry = entry[step]
        noun: Noun = "dataset" if len(at) == 1 else "task" if at[1] == "tasks" else "metric"
        if noun == "dataset" and isinstance(entry, dict):
            entry = {k: v if not isinstance(v, list) else [] for k, v in entry.items()}
        subject = _subject(value, at)
        yield from findings(entry, noun, at=at, subject=subject, notes=_UNLOADABLE)


@cache
def _validator() -> Any:
    # For weight: help texts need none of it.
    import jsonschema_rs

    return jsonschema_rs.validator_for(schemas.bundled("registry"))


def _unit(at: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The task, metric or dataset that an error is in."""
    return at[:3] if len(at) >= 3 and isinstance(at[2], int) else at[:1]


def _subject(value: list[Any], at: tuple[Any, ...]) -> str:
    dataset = value[at[0]]
    name = label(dataset) if isinstance(dataset, dict) else f"the entry at index {at[0]}"
    return name if len(at) == 1 else f"{name}, {at[1]}[{at[2]}]"
