"""Metrics and reducers that other installed packages bring, by entry points; loaded when named."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from ..contract import strangers
from ..contract.estimate import Undefined
from ..contract.parameters import Attempts
from ..contract.strangers import Loaded, Plugin
from ..errors import MetricFailure

Kind = Literal["metrics", "reducers"]
# Classes with `name` and `compute(task_rewards)`, as they are registered for evsys.
_EVSYS = "evsys_sdk.metrics"
# Those whose code was run, in order.
_imported: list[Plugin] = []


@cache
def installed(kind: Kind) -> dict[str, tuple[Plugin, ...]]:
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
    # For weight: only a name that is not ours asks for plugins.
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
        MetricFailure: several bring one, or the one that does cannot be imported.
    """
    plugins = installed(kind).get(name, ())
    if not plugins:
        return None
    if len(plugins) > 1:
        owners = " and ".join(sorted(map(str, plugins)))
        raise MetricFailure(
            "clashing-plugins", f"`{name}` is brought by {owners}; uninstall all but one"
        )
    (plugin,) = plugins
    started = time.perf_counter()
    try:
        with strangers.quiet():
            brought = plugin.entry.load()
    # Whatever a stranger's code raises must break nothing but itself.
    except (Exception, SystemExit) as error:
        raise MetricFailure(
            "broken-plugin",
            f"`{name}` of {plugin} cannot be imported: {strangers.summary(error)}",
        ) from error
    finally:
        _imported.append(plugin)
    seconds = time.perf_counter() - started
    # For weight: few metrics are a plugin's.
    from . import aliases

    hidden = tuple(alias.name for alias in aliases.meanings(name, aliases.OF_KIND[kind]))
    if plugin.entry.group == _EVSYS:
        return Loaded(plugin, _of_evsys(plugin, brought), seconds, hidden)
    if not callable(brought) or isinstance(brought, type):
        raise broken(plugin, f"{plugin.entry.value} is no function")
    return Loaded(plugin, brought, seconds, hidden)


def imported() -> str:
    """A line for each plugin whose code was run by importing it, for commands that run nothing."""
    return "".join(f"note: plugin {plugin} was imported\n" for plugin in dict.fromkeys(_imported))


def broken(plugin: Plugin, why: str) -> MetricFailure:
    """The error that names the plugin."""
    return MetricFailure(
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
