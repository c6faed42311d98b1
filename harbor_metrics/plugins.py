"""Metrics and reducers that other installed packages bring, by entry points; loaded when named."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import strangers
from .estimate import Undefined
from .parameters import Attempts
from .signature import SpecError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = Literal["metrics", "reducers"]
# Classes with `name` and `compute(task_rewards)`, as they are registered for evsys.
_EVSYS = "evsys_sdk.metrics"
# Seconds from which on an import is worth a word.
_SLOW = 1.0


class Plugin(NamedTuple):
    """An entry point: the name it gives, and whose it is."""

    name: str
    distribution: str
    version: str
    entry: EntryPoint

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


class Loaded(NamedTuple):
    """What a plugin brings, and how many seconds it took to import."""

    plugin: Plugin
    function: Callable[..., Any]
    seconds: float

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of it."""
        if self.seconds < _SLOW:
            return ()
        return (f"plugin {self.plugin} took {self.seconds:.1f} s to import",)


@cache
def found(kind: Kind) -> dict[str, tuple[Plugin, ...]]:
    """Every plugin by name; several where they clash. Imports none of them."""
    plugins: dict[str, tuple[Plugin, ...]] = {}
    for entry in _entries(f"harbor_metrics.{kind}"):
        plugins[entry.name] = (*plugins.get(entry.name, ()), entry)
    if kind == "metrics":
        for entry in _entries(_EVSYS):
            others = plugins.get(entry.name, ())
            # The same package may bring it to both systems.
            if entry.distribution not in [other.distribution for other in others]:
                plugins[entry.name] = (*others, entry)
    return plugins


def _entries(group: str) -> list[Plugin]:
    from importlib.metadata import entry_points

    return [
        Plugin(entry.name, entry.dist.name, entry.dist.version, entry)
        for entry in sorted(entry_points(group=group), key=lambda e: (e.name, e.value))
        if entry.dist is not None
    ]


@cache
def load(kind: Kind, name: str) -> Loaded | None:
    """The function that a plugin brings under that name, None where none does.

    Raises:
        SpecError: several bring one, or the one that does cannot be imported.
    """
    plugins = found(kind).get(name, ())
    if not plugins:
        return None
    if len(plugins) > 1:
        owners = " and ".join(sorted(map(str, plugins)))
        raise SpecError(
            "clashing-plugins", f"`{name}` is brought by {owners}; uninstall all but one"
        )
    (plugin,) = plugins
    started = time.perf_counter()
    try:
        with strangers.quiet():
            brought = plugin.entry.load()
    # Whatever a stranger's code raises must break nothing but itself.
    except (Exception, SystemExit) as error:
        raise SpecError(
            "broken-plugin",
            f"`{name}` of {plugin} cannot be imported: {strangers.said(error)}",
        ) from error
    seconds = time.perf_counter() - started
    if plugin.entry.group == _EVSYS:
        return Loaded(plugin, _of_evsys(plugin, brought), seconds)
    if not callable(brought) or isinstance(brought, type):
        raise broken(plugin, f"{plugin.entry.value} is no function")
    return Loaded(plugin, brought, seconds)


def broken(plugin: Plugin, why: str) -> SpecError:
    """The error that names the plugin."""
    return SpecError(
        "broken-plugin", f"`{plugin.name}` of {plugin} is not what it should be: {why}"
    )


def _of_evsys(plugin: Plugin, brought: Any) -> Callable[..., Any]:
    """A function that computes what the class does; a module's only such class counts, too."""
    if not isinstance(brought, type):
        classes = [c for c in vars(brought).values() if _is_metric(c)]
        if len(classes) != 1:
            raise broken(plugin, f"{plugin.entry.value} has {len(classes)} metric classes")
        (brought,) = classes
    if not _is_metric(brought):
        raise broken(plugin, "a class with `name` and `compute` is needed")

    def compute(rewards: Attempts) -> Any:
        if not rewards.values:
            return Undefined("no rewards are left to aggregate")
        tasks = [list(map(float, task)) for task in rewards.by_task.values()]
        return brought().compute(tasks)

    compute.__name__ = plugin.name
    compute.__doc__ = brought.__doc__ or f"The metric `{brought.name}` of {plugin.distribution}."
    return compute


def _is_metric(value: Any) -> bool:
    return isinstance(value, type) and hasattr(value, "compute") and hasattr(value, "name")


def problems() -> list[str]:
    """What is wrong with the installed plugins, one sentence each; imports all of them."""
    from . import aliases, metric, reducer

    said: list[str] = []
    for kind, builtin in (("metrics", metric.names()), ("reducers", reducer.names())):
        for name, plugins in sorted(found(kind).items()):
            if name in builtin:
                owners = " and ".join(sorted(map(str, plugins)))
                said.append(f"`{name}` of {owners} is a name of harbor-metrics' own, which counts")
                continue
            if meant := [alias.name for alias in aliases.find(name) if kind == f"{alias.kind}s"]:
                owners = " and ".join(sorted(map(str, plugins)))
                counts = "the alias counts" if "/" in name else "the plugin counts"
                said.append(f"`{name}` of {owners} is also {' and '.join(meant)}: {counts}")
            try:
                look_up = metric.lookup if kind == "metrics" else reducer.lookup
                look_up(name)
                loaded = load(kind, name)
                said += loaded.notes if loaded else ()
            except SpecError as error:
                said.append(str(error))
    return said
