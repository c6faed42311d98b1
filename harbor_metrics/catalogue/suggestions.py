"""What a name might mean that means nothing by itself: several aliases, or the nearest name."""

from __future__ import annotations

from ..contract.spec import UV_SCRIPT
from ..documents.wording import did_you_mean, nearest
from ..errors import MetricFailure
from . import aliases, plugins
from .aliases import Alias
from .families import families, metric_names, reducer_names
from .plugins import Kind

ALIASES: dict[Kind, tuple[Alias, ...]] = {
    "metrics": aliases.METRICS,
    "reducers": aliases.REDUCERS,
}


def only_meaning(kind: Kind, name: str) -> Alias | None:
    """The only alias that a name means, unless it is our own name or a plugin's."""
    if name in families(kind) or (kind == "metrics" and name == UV_SCRIPT):
        return None
    matches = aliases.meanings(name, ALIASES[kind])
    # A plugin's name comes before an alias that is written without its system.
    if len(matches) != 1 or ("/" not in name and name in plugins.installed(kind)):
        return None
    return matches[0]


def ambiguous(name: str) -> list[str]:
    """The full names where a name without a system means several metrics; else none."""
    matches = aliases.meanings(name, aliases.METRICS)
    full_names = [alias.name for alias in matches]
    twin = name.replace("_", "-")
    if (
        "/" not in name
        and twin != name
        and twin in families("metrics")
        and any(alias.kwargs for alias in matches)
    ):
        full_names.append(twin)
    return full_names if len(full_names) > 1 else []


def near_type(name: str) -> str | None:
    """The known type that looks most like `name`, our own first unless `name` says a system."""
    types = nearest(name, [*metric_names(), *plugins.installed("metrics")])
    elsewhere = nearest(name, [alias.name for alias in aliases.METRICS])
    near = elsewhere or types if "/" in name else types or elsewhere
    return near[0] if near else None


def unknown(kind: Kind, name: str) -> MetricFailure:
    """The failure of a name that no metric or reducer has, with the nearest that one has."""
    if kind == "metrics":
        return MetricFailure("unknown-metric-type", unknown_type(name))
    known = [*reducer_names(), *plugins.installed("reducers")]
    return MetricFailure(
        "invalid-metric-kwargs",
        f"unknown reducer `{name}`{did_you_mean(nearest(name, known))} "
        f"(one of: {', '.join(known)})",
        "reducer",
    )


def unknown_type(name: str) -> str:
    """The sentence that names an unknown type, the nearest known, and where all of them are."""
    if ambiguous(name):
        return f"`{name}` can mean several metrics: write {' or '.join(ambiguous(name))}"
    if name in families("reducers") or only_meaning("reducers", name) is not None:
        entry = f'{{"type": "accuracy", "kwargs": {{"reducer": "{name}"}}}}'
        return f"`{name}` is a reducer: write {entry}"
    near = near_type(name)
    hint = did_you_mean([near] if near else [])
    return f"unknown metric type `{name}`{hint} (`harbor-metrics list` shows all)"
