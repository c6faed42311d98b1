"""Which metric or reducer a name means: our own, another system's, a plugin's; and its kwargs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from ..contract.described import Described
from ..contract.metric import Bound, Metric, metric_of
from ..contract.reducer import BoundReducer, Reducer, reducer_of
from ..contract.signature import converted, public_functions
from ..contract.spec import (
    COMMON,
    DEFAULT_TYPE,
    UV_SCRIPT,
    MetricSpec,
    ReducerSpec,
    ScriptKwargs,
)
from ..errors import MetricFailure
from . import plugins
from .families import families
from .plugins import Kind
from .suggestions import ambiguous, only_meaning, unknown

_DESCRIBE: dict[Kind, Callable[[Callable[..., Any]], Described]] = {
    "metrics": metric_of,
    "reducers": reducer_of,
}


def find_metric(name: str) -> Metric:
    """The metric of that type, our own or a plugin's.

    Raises:
        MetricFailure: there is none, and the message names the nearest; or a plugin is broken.
    """
    metric = find("metrics", name)
    assert isinstance(metric, Metric)
    return metric


def find_reducer(name: str) -> Reducer:
    """The reducer of that name, our own or a plugin's.

    Raises:
        MetricFailure: there is none, and the message names the nearest; or a plugin is broken.
    """
    reducer = find("reducers", name)
    assert isinstance(reducer, Reducer)
    return reducer


@cache
def find(kind: Kind, name: str) -> Described:
    """The metric or reducer of that name, our own or a plugin's; each is described once.

    Raises:
        MetricFailure: there is none, and the message names the nearest; or a plugin is broken.
    """
    family = families(kind).get(name)
    if family is not None:
        return _DESCRIBE[kind](public_functions(import_module(family))[name])
    loaded = plugins.load(kind, name)
    if loaded is None:
        raise unknown(kind, name)
    try:
        return msgspec.structs.replace(_DESCRIBE[kind](loaded.function), name=name, plugin=loaded)
    except TypeError as error:
        raise plugins.broken(loaded.plugin, str(error)) from error


def resolve(spec: MetricSpec) -> MetricSpec:
    """The entry with the metric's own type, and the kwargs that a name elsewhere stands for."""
    return meaning(spec.type, spec.kwargs) or spec


def meaning(name: str, kwargs: Mapping[str, Any]) -> MetricSpec | None:
    """What a name of another system means with these kwargs on top; None for other names."""
    alias = only_meaning("metrics", name)
    if alias is None or ambiguous(name):
        return None
    implied = alias.kwargs
    if alias.type == "grouped" and "metric" in kwargs:
        implied = _fitting(implied, kwargs["metric"])
    return MetricSpec(type=alias.type, kwargs={**implied, **kwargs})


def resolve_reducer(spec: ReducerSpec) -> ReducerSpec:
    """The reducer by its own name, with the kwargs that a name elsewhere stands for."""
    alias = only_meaning("reducers", spec.type)
    if alias is None:
        return spec
    return ReducerSpec(type=alias.type, kwargs={**alias.kwargs, **spec.kwargs})


def _fitting(implied: dict[str, Any], inner: Any) -> dict[str, Any]:
    """Those of the implied kwargs that mean something for the metric inside."""
    name = inner.get("type", DEFAULT_TYPE) if isinstance(inner, dict) else inner
    if not isinstance(name, str):
        return implied
    spec = resolve(MetricSpec(type=name))
    if spec.type not in families("metrics"):
        return implied
    takes = COMMON[find_metric(spec.type).takes]
    return {k: v for k, v in implied.items() if k in takes or k not in COMMON["inner"]}


def bind(spec: MetricSpec) -> Bound:
    """The metric of an entry that says its own type (see `resolve`), ready to be called.

    Raises:
        MetricFailure: there is no such metric, or it does not take these kwargs.
    """
    return bind_metric(find_metric(spec.type), spec.kwargs)


def as_called(bound: Bound, name: str) -> Bound:
    """The metric by the name that it was asked for, which can say otherwise which value is better:
    what lm-eval calls a mean is one of errors, too.
    """
    if name == bound.metric.name:
        return bound
    # For weight: most metrics are called by their own name.
    from .aliases import said_direction

    said = said_direction(name, bound.common.key)
    if isinstance(said, msgspec.UnsetType):
        return bound
    metric = msgspec.structs.replace(bound.metric, higher_is_better=said)
    return msgspec.structs.replace(bound, metric=metric)


def bind_metric(metric: Metric, kwargs: Mapping[str, Any]) -> Bound:
    """A metric with its kwargs, those that name another metric or a reducer resolved.

    Raises:
        MetricFailure: it does not take these kwargs.
    """
    inner = reducer = None
    given = _struct(kwargs.get("metric"), MetricSpec) if metric.takes == "inner" else None
    if given is not None:
        inner, implied = _bind_inner(metric.name, given)
        kwargs = {**implied, **kwargs}
    reduction = _struct(kwargs.get("reducer"), ReducerSpec) if "reducer" in metric.common else None
    if reduction is not None:
        reducer = bind_reducer(reduction)
    return metric.bind(kwargs, inner, reducer)


def _struct(value: Any, struct: type[MetricSpec] | type[ReducerSpec]) -> Any:
    """A kwarg that names a metric or reducer, as an entry; None where its type does not fit."""
    try:
        return struct(type=value) if isinstance(value, str) else msgspec.convert(value, struct)
    except msgspec.ValidationError:
        return None  # whoever binds the kwargs says why


def bind_reducer(spec: ReducerSpec) -> BoundReducer:
    """The reducer that a name means, with its kwargs, ready to be called.

    Raises:
        MetricFailure: there is no such reducer, or it does not take these kwargs.
    """
    spec = resolve_reducer(spec)
    return find_reducer(spec.type).bind(spec.kwargs)


def _bind_inner(outer: str, spec: MetricSpec) -> tuple[Bound, dict[str, Any]]:
    """The metric inside another, and the common kwargs that its name implies for the outer one."""
    alias = meaning(spec.type, {})
    type_ = alias.type if alias else spec.type
    if type_ == UV_SCRIPT:
        raise MetricFailure("invalid-metric-kwargs", f"`{outer}` does not run scripts", "metric")
    try:
        metric = find_metric(type_)
        of_alias = alias.kwargs if alias else {}
        implied = {k: v for k, v in of_alias.items() if k in metric.common}
        rest = {k: v for k, v in of_alias.items() if k not in metric.common}
        kwargs = {**rest, **spec.kwargs}
        misplaced = sorted(kwargs.keys() & set(metric.common))
        if misplaced:
            raise MetricFailure(
                "invalid-metric-kwargs",
                f"`{misplaced[0]}` belongs beside `metric`, to the kwargs of `{outer}`",
            )
        return as_called(bind(MetricSpec(type=type_, kwargs=kwargs)), spec.type), implied
    except MetricFailure as error:
        raise MetricFailure(
            "invalid-metric-kwargs", f"`metric` of `{outer}`: {error}", "metric"
        ) from error


def known(name: str) -> bool:
    """Whether a metric has that name, its own or another system's."""
    return (
        name in families("metrics")
        or name == UV_SCRIPT
        or meaning(name, {}) is not None
        or name in plugins.installed("metrics")
    )


def check(name: str, kwargs: Mapping[str, Any]) -> None:
    """Whether a metric takes these kwargs.

    Raises:
        MetricFailure: there is no such metric, or it does not.
    """
    spec = resolve(MetricSpec(type=name, kwargs=dict(kwargs)))
    if spec.type == UV_SCRIPT:
        converted(name, spec.kwargs, ScriptKwargs)
    else:
        bind(spec)


def kwargs_of(name: str) -> tuple[str, ...]:
    """The names of the kwargs that a metric takes.

    Raises:
        MetricFailure: there is no such metric.
    """
    type_ = resolve(MetricSpec(type=name)).type
    if type_ == UV_SCRIPT:
        return ScriptKwargs.__struct_fields__
    metric = find_metric(type_)
    return (*metric.kwargs.__struct_fields__, *metric.common)
