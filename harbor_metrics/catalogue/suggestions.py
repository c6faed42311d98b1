"""What a name might mean that means nothing by itself: several aliases, or the nearest name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..contract.spec import UV_SCRIPT
from ..documents.wording import did_you_mean, nearest
from ..errors import MetricFailure
from . import plugins
from .families import families, metric_names, reducer_names
from .plugins import Kind

if TYPE_CHECKING:
    from .aliases import Alias

# What people call a metric of ours that has another name, and no other spelling of it.
_IN_OTHER_WORDS = {
    "average": "mean",
    "avg-reward": "mean-reward",
    "score": "mean",
    "reward": "mean",
    "stdev": "std",
    "stddev": "std",
    "std-dev": "std",
    "standard-deviation": "std",
    "sem": "stderr",
    "standard-error": "stderr",
    "variance": "var",
    "percentile": "quantile",
    "resolved": "pass-rate",
    "resolve-rate": "pass-rate",
    "resolution-rate": "pass-rate",
    "solved": "pass-rate",
    "success": "pass-rate",
    "success-rate": "pass-rate",
    "cost": "cost-per-task",
    "price": "cost-per-task",
    "tokens": "tokens-per-task",
    "time": "seconds-per-task",
    "duration": "seconds-per-task",
    "latency": "seconds-per-task",
    "confidence-interval": "ci",
}
_PERCENTILE = r"p([0-9]{1,2})(?:\.([0-9]+))?"


def only_meaning(kind: Kind, name: str) -> Alias | None:
    """The only alias that a name means, unless it is our own name or a plugin's."""
    if name in families(kind) or (kind == "metrics" and name == UV_SCRIPT):
        return None
    # For weight: our own names come first.
    from . import aliases

    matches = aliases.meanings(name, aliases.OF_KIND[kind])
    # A plugin's name comes before an alias that is written without its system.
    if len(matches) != 1 or ("/" not in name and name in plugins.installed(kind)):
        return None
    return matches[0]


def ambiguous(name: str) -> list[str]:
    """The full names where a name without a system means several metrics; else none."""
    # For weight: as above.
    from . import aliases

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


def in_our_words(name: str) -> str | None:
    """The metric of ours that people call so; None where it is no such word."""
    if re.fullmatch(_PERCENTILE, name.lower()):
        return "quantile"
    return _IN_OTHER_WORDS.get(name.lower().replace("_", "-"))


def near_type(name: str) -> str | None:
    """The known type that looks most like `name`, our own first unless `name` says a system."""
    if (meant := in_our_words(name)) is not None:
        return meant
    # For weight: as above.
    from . import aliases

    types = nearest(name, [*metric_names(), *plugins.installed("metrics")])
    elsewhere = nearest(name, [alias.name for alias in aliases.METRICS])
    near = elsewhere or types if "/" in name else types or elsewhere
    k = re.search("[0-9]+", name)
    return near[0].replace("{k}", k[0] if k else "5") if near else None


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


def function_of_file(name: str) -> str | None:
    """What to say of FILE.py:FUNCTION in a registry, None of any other name."""
    if re.fullmatch(r".+\.py(:.*)?", name, re.DOTALL) is None:
        return None
    return (
        f"`{name}` is a function of a file, which runs with `compute --metric` alone and cannot "
        "stand in a registry"
    )


def unknown_type(name: str) -> str:
    """The sentence that names an unknown type, the nearest known, and where all of them are."""
    if ambiguous(name):
        return f"`{name}` can mean several metrics: write {' or '.join(ambiguous(name))}"
    if name in families("reducers") or only_meaning("reducers", name) is not None:
        entry = f'{{"type": "accuracy", "kwargs": {{"reducer": "{name}"}}}}'
        return f"`{name}` is a reducer: write {entry}"
    own = function_of_file(name)
    if own is not None:
        return f"{own} (`harbor-metrics explain own-metric` shows what can)"
    near = near_type(name)
    hint = did_you_mean([f"{near}{_kwargs_meant(name)}"] if near else [])
    return f"unknown metric type `{name}`{hint} (`harbor-metrics list` shows all)"


def _kwargs_meant(name: str) -> str:
    """The kwargs that such a name says, as `--metric` takes them: of `p95` the quantile."""
    match = re.fullmatch(_PERCENTILE, name.lower())
    if match is None:
        return ""
    return f" q=0.{match[1].zfill(2)}{match[2] or ''}"
