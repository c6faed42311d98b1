"""Everything an entry may name, by family: what `list` shows."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..contract.metric import Metric
from ..contract.spec import UV_SCRIPT, ScriptKwargs
from ..errors import MetricFailure
from . import aliases, plugins
from .families import families
from .names import find, find_metric, find_reducer
from .plugins import Kind


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
    for name in sorted(families("metrics")):
        metric = find_metric(name)
        kwargs = (*metric.kwargs.__struct_fields__, *metric.common)
        metrics.append(_entry("metric", name, metric.function, kwargs))
    reducers = []
    for name in sorted(families("reducers")):
        reducer = find_reducer(name)
        kwargs = reducer.kwargs.__struct_fields__
        reducers.append(_entry("reducer", name, reducer.function, kwargs))
    others = [
        Entry(
            kind,
            f"Names in {alias.system}" if alias.system else "Common names",
            alias.name,
            alias.difference,
            (),
            of,
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
        *_of_plugins("metrics"),
        *_of_plugins("reducers"),
    ]


def _of_plugins(kind: Kind) -> list[Entry]:
    """What plugins bring that works; what does not is among `problems`."""
    brought = []
    for name, (plugin, *_) in plugins.installed(kind).items():
        if name in families(kind) or name == UV_SCRIPT:
            continue
        try:
            described = find(kind, name)
        except MetricFailure:
            continue
        kwargs = described.kwargs.__struct_fields__
        if isinstance(described, Metric):
            kwargs = (*kwargs, *described.common)
        summary = described.description.partition("\n")[0]
        brought.append(Entry(kind.removesuffix("s"), f"Plugin {plugin}", name, summary, kwargs))
    return sorted(brought, key=_family)


def _family(entry: Entry) -> str:
    return entry.family


def _entry(kind: str, name: str, function: Callable[..., Any], kwargs: tuple[str, ...]) -> Entry:
    family = (inspect.getdoc(sys.modules[function.__module__]) or "").partition("\n")[0]
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return Entry(kind, family.rstrip("."), name, summary, kwargs)


def problems() -> list[str]:
    """What is wrong with the installed plugins, one sentence each; imports all of them."""
    sentences: list[str] = []
    for kind in aliases.OF_KIND:
        for name, brought in sorted(plugins.installed(kind).items()):
            owners = " and ".join(sorted(map(str, brought)))
            if name in families(kind) or name == UV_SCRIPT:
                sentences.append(
                    f"`{name}` of {owners} is a name of harbor-metrics' own, which counts"
                )
                continue
            meant = [alias.name for alias in aliases.find(name) if kind == f"{alias.kind}s"]
            if meant:
                counts = "the alias counts" if "/" in name else "the plugin counts"
                sentences.append(f"`{name}` of {owners} is also {' and '.join(meant)}: {counts}")
            try:
                plugin = find(kind, name).plugin
                sentences += plugin.notes if plugin else ()
            except MetricFailure as error:
                sentences.append(str(error))
    return sentences
