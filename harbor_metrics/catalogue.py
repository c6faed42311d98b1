"""What an entry of a registry may say: metrics by their own names and by those of other systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import aliases, plugins
from .metric import UV_SCRIPT, MetricSpec, ScriptKwargs, lookup, names
from .signature import converted


def known(name: str) -> bool:
    """Whether a metric has that name, its own or an alias."""
    return (
        name in names()
        or aliases.metric_of(name, {}) is not None
        or name in plugins.found("metrics")
    )


def resolved(spec: MetricSpec) -> MetricSpec:
    """The same with the metric's own name, and the kwargs that an alias stands for."""
    return aliases.metric_of(spec.type, spec.kwargs) or spec


def check(name: str, kwargs: Mapping[str, Any]) -> None:
    """Whether a metric takes these kwargs.

    Raises:
        SpecError: there is no such metric, or it does not.
    """
    spec = resolved(MetricSpec(type=name, kwargs=dict(kwargs)))
    if spec.type == UV_SCRIPT:
        converted(name, spec.kwargs, ScriptKwargs)
    else:
        lookup(spec.type).bind(spec.kwargs)


def kwargs_of(name: str) -> tuple[str, ...]:
    """The names of the kwargs that a metric takes.

    Raises:
        SpecError: there is no such metric.
    """
    type_ = resolved(MetricSpec(type=name)).type
    if type_ == UV_SCRIPT:
        return ScriptKwargs.__struct_fields__
    metric = lookup(type_)
    return (*metric.kwargs.__struct_fields__, *metric.common)
