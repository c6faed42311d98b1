"""Every way to change one thing of what a job's result.json reports."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
_LISTS = ("reward_stats", "exception_stats")


def forgeries(result: Document) -> Iterator[tuple[str, Document]]:
    """What was done, and the document with it: one number, key, list or plan is another."""
    for path in _paths(result):
        where = ".".join(map(str, path))
        value = _at(result, path)
        if isinstance(value, int | float):
            for by in (1, -1) if isinstance(value, int) else (1e-6, 0.25):
                yield f"{where} {by:+}", _edited(result, path, value + by)
            for other in (None, str(value), "0.99"):
                yield f"{where} is {other!r}", _edited(result, path, other)
        elif value and isinstance(value, list) and any(name in path for name in _LISTS):
            yield f"{where} has one less", _edited(result, path, value[1:])
            yield f"{where} has another", _edited(result, path, [*value[1:], "task__x"])
            if len(value) > 1:
                yield f"{where} has one twice", _edited(result, path, [*value[1:], value[-1]])
            yield f"{where} is empty", _edited(result, path, [])
        if value not in (None, {}, []) and isinstance(path[-1], str):
            without = copy.deepcopy(result)
            del _at(without, path[:-1])[path[-1]]
            yield f"without {where}", without
            renamed = copy.deepcopy(without)
            _at(renamed, path[:-1])[f"x{path[-1]}"] = value
            yield f"{where} renamed", renamed
        elif value not in ({}, []) and path[-1:] == (0,) and "metrics" in path:
            yield f"without {where}", _edited(result, path[:-1], _at(result, path[:-1])[1:])


def inflations(result: Document, by: int) -> Iterator[tuple[str, Document]]:
    """The plan `by` trials greater, with what else must be so, and each mean a little greater."""
    fields: list[tuple[str, ...]] = []
    for name in (
        ("n_total_trials",), ("stats", "n_completed_trials"), ("stats", "n_pending_trials"),
    ):  # fmt: skip
        fields.append(name)
        made = copy.deepcopy(result)
        for path in fields:
            inner = _at(made, path[:-1])
            inner[path[-1]] = inner.get(path[-1], 0) + by
        for group in made["stats"]["evals"].values():
            for metric in group["metrics"]:
                metric.update({name: v + 0.01 for name, v in metric.items() if name == "mean"})
        yield f"{' and '.join('.'.join(path) for path in fields)} +{by}, means greater", made


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each place below `stats`, and `n_total_trials`."""
    if not path:
        yield ("n_total_trials",)
        yield ("stats",)
        yield from _paths(value["stats"], ("stats",))
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in items:
        yield (*path, name)
        if isinstance(inner, dict) or (isinstance(inner, list) and name == "metrics"):
            yield from _paths(inner, (*path, name))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _edited(result: Document, path: tuple[Any, ...], value: Any) -> Document:
    made = copy.deepcopy(result)
    _at(made, path[:-1])[path[-1]] = value
    return made
