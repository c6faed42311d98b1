"""Everything an entry may name, by family: what `list` shows."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from . import aliases, metric, plugins, reducer
from .metric import UV_SCRIPT, ScriptKwargs
from .signature import SpecError


class Entry(NamedTuple):
    """A metric, a reducer or an alias in a line; `of` is what an alias stands for."""

    kind: str
    family: str
    name: str
    summary: str
    kwargs: tuple[str, ...]
    of: dict[str, Any] | None = None


def entries() -> list[Entry]:
    """Metrics by family, then reducers by family, then the names of other systems."""
    script = Entry(
        "metric",
        "A script of the dataset's own",
        UV_SCRIPT,
        "What a script says, run by uv in an environment of its own.",
        ScriptKwargs.__struct_fields__,
    )
    metrics = []
    for name in metric.names():
        if name != UV_SCRIPT:
            found = metric.lookup(name)
            kwargs = (*found.kwargs.__struct_fields__, *found.common)
            metrics.append(_entry("metric", name, found.function, kwargs))
    reducers = []
    for name in reducer.names():
        reduce = reducer.lookup(name)
        kwargs = reduce.kwargs.__struct_fields__
        reducers.append(_entry("reducer", name, reduce.function, kwargs))
    others = [
        Entry(
            kind, f"Names in {alias.name.partition('/')[0]}", alias.name, alias.difference, (), of
        )
        for kind, known in (("metric", aliases.METRICS), ("reducer", aliases.REDUCERS))
        for alias in known
        for of in [{"type": alias.type, "kwargs": alias.kwargs}]
    ]
    return [
        *sorted(metrics, key=_family),
        script,
        *sorted(reducers, key=_family),
        *others,
        *_of_plugins("metric", metric.names()),
        *_of_plugins("reducer", reducer.names()),
    ]


def _of_plugins(kind: Literal["metric", "reducer"], ours: list[str]) -> list[Entry]:
    """What plugins bring that works; what does not is among `plugins.problems`."""
    found = []
    for name, (plugin, *_) in plugins.found("metrics" if kind == "metric" else "reducers").items():
        try:
            brought = metric.lookup(name) if kind == "metric" else reducer.lookup(name)
        except SpecError:
            continue
        if name in ours:
            continue
        kwargs = brought.kwargs.__struct_fields__
        if isinstance(brought, metric.Metric):
            kwargs = (*kwargs, *brought.common)
        summary = brought.description.partition("\n")[0]
        found.append(Entry(kind, f"Plugin {plugin}", name, summary, kwargs))
    return sorted(found, key=_family)


def _family(entry: Entry) -> str:
    return entry.family


def _entry(kind: str, name: str, function: Callable[..., Any], kwargs: tuple[str, ...]) -> Entry:
    family = (inspect.getdoc(sys.modules[function.__module__]) or "").partition("\n")[0]
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return Entry(kind, family.rstrip("."), name, summary, kwargs)
