"""What a metric is, what it is passed, and where metrics are found."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from . import plugins, reducer, strangers
from .column import Column
from .estimate import Estimate, Strata, Undefined
from .exact import Number
from .parameters import HIGHER, LOWER, Attempts, Key
from .plugins import Loaded
from .reducer import BoundReducer, ReducerKwarg
from .signature import (
    SpecError,
    converted,
    first_parameter,
    kwargs_struct,
    public_functions,
    spec_name,
)
from .table import Missing, Table

HARBOR_TYPES = ("sum", "min", "max", "mean", "uv-script")
UV_SCRIPT = "uv-script"
DEFAULT_TYPE = "mean"

Value = Number | Estimate | Undefined
# What a metric reads: a column of rewards, one whose attempts it reduces itself, or all of a trial;
# `inner`: what the metric reads that it is given.
Takes = Literal["column", "attempts", "table", "inner"]


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of a `metrics` array: a metric's type, what to pass it, the digest of its script."""

    type: str = DEFAULT_TYPE
    kwargs: dict[str, Any] = {}
    sha256: str | None = None


class ScriptKwargs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The kwargs of `uv-script`; with a `git_url` the path is inside that repository."""

    script_path: Annotated[
        str, Meta(min_length=1, description="The script, relative to the registry file.")
    ]
    git_url: Annotated[str, Meta(description="A repository that holds the script.")] | None = None
    git_commit_id: Annotated[str, Meta(description="The full commit of the repository.")] | None = (
        None
    )


class CommonKwargs(msgspec.Struct, frozen=True, kw_only=True):
    """The kwargs that every metric over one reward key takes."""

    key: Key | None = None
    missing: (
        Annotated[
            Missing,
            Meta(
                description="A trial without the reward counts as 0 (`zero`, Harbor's rule), "
                "not at all (`skip`), or fails the metric (`error`)."
            ),
        ]
        | None
    ) = None
    reducer: ReducerKwarg | None = None


COMMON: dict[Takes, tuple[str, ...]] = {
    "column": ("key", "missing", "reducer"),
    "attempts": ("key", "missing"),
    "table": (),
    "inner": ("key", "missing", "reducer"),
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A metric and what it is passed: ready to be called with a Column or a Table."""

    metric: Metric
    common: CommonKwargs
    arguments: dict[str, Any]
    takes: Takes
    reducer: BoundReducer | None

    def __call__(self, view: Column | Table) -> Value | dict[str, Value]:
        """What the metric says of the rewards."""
        value: Value | dict[str, Value]
        if self.metric.is_ours:
            value = self.metric.function(view, **self.arguments)
        else:
            value = strangers.call(self.metric.origin, self.metric.function, view, self.arguments)
        return value

    @property
    def brought(self) -> tuple[Loaded, ...]:
        """The plugins that have a part in the value."""
        inner = [value for value in self.arguments.values() if isinstance(value, Bound)]
        reducer = self.reducer.plugin if self.reducer else None
        of_inner = [loaded for each in inner for loaded in each.brought]
        return tuple(filter(None, (self.metric.plugin, *of_inner, reducer)))

    def rows(self, view: Column | Table) -> int:
        """How many trials a value is over, or tasks where the metric reduces them itself."""
        return view.n_tasks if self.takes == "attempts" else len(view)

    def macro(self, groups: Strata) -> Value | dict[str, Value] | None:
        """What it says of the mean of the groups' means, None where it knows of no such thing."""
        if not self.metric.knows_strata:
            return None
        value: Value | dict[str, Value] = self.metric.function(groups, **self.arguments)
        return value


# A metric as a kwarg of another: its name or an entry in JSON, ready to be called in the function.
_InnerKwarg = Annotated[
    str | MetricSpec,
    Meta(
        description="The metric: its type, or an object with `type` and `kwargs`.",
        examples=["mean"],
    ),
]


@dataclass(frozen=True, slots=True)
class Metric:
    """A plain function over rewards, and the struct that its kwargs are checked against."""

    name: str
    function: Callable[..., Any]
    kwargs: type[msgspec.Struct]
    takes: Takes
    knows_strata: bool
    higher_is_better: bool | None = None
    plugin: Loaded | None = None

    @property
    def description(self) -> str:
        """What it says about itself."""
        return inspect.getdoc(self.function) or ""

    @property
    def is_ours(self) -> bool:
        """Whether the function belongs to this package, and not to a plugin or the user."""
        return self.function.__module__.startswith(f"{__package__}.metrics.")

    @property
    def origin(self) -> str:
        """Whose it is, for a sentence that complains."""
        return f"`{self.name}`" + (f" of {self.plugin.plugin}" if self.plugin else "")

    @property
    def common(self) -> tuple[str, ...]:
        """The names of the common kwargs that it takes."""
        return COMMON[self.takes]

    def bind(self, kwargs: Mapping[str, Any]) -> Bound:
        """The metric with its kwargs, checked and typed.

        Raises:
            SpecError: one is unknown, missing or of the wrong type.
        """
        own = converted(self.name, kwargs, self.kwargs, self.common)
        given = {k: v for k, v in kwargs.items() if k in self.common}
        arguments = msgspec.structs.asdict(own)
        takes = self.takes
        if takes == "inner":
            takes = "column"
            if arguments["metric"] is not None:
                inner, implied = _bound_inner(self.name, arguments["metric"])
                arguments["metric"] = inner
                takes = inner.takes
                given = {**implied, **given}
            for name in kwargs.keys() & set(COMMON["inner"]) - set(COMMON[takes]):
                raise SpecError(
                    "invalid-metric-kwargs",
                    f"`{self.name}` over this metric takes no `{name}`",
                    name,
                )
        common = converted(self.name, given, CommonKwargs)
        reduce = None if common.reducer is None else reducer.bind(common.reducer)
        return Bound(self, common, arguments, takes, reduce)


def _bound_inner(name: str, given: str | MetricSpec) -> tuple[Bound, dict[str, Any]]:
    """The metric, and the common kwargs that its name elsewhere implies for the one around it."""
    from .aliases import metric_of as alias_of

    spec = MetricSpec(type=given) if isinstance(given, str) else given
    alias = alias_of(spec.type, {})
    type_ = alias.type if alias else spec.type
    if type_ == UV_SCRIPT:
        raise SpecError("invalid-metric-kwargs", f"`{name}` does not run scripts", "metric")
    try:
        metric = lookup(type_)
        of_alias = alias.kwargs if alias else {}
        implied = {k: v for k, v in of_alias.items() if k in metric.common}
        rest = {k: v for k, v in of_alias.items() if k not in metric.common}
        spec = MetricSpec(type=type_, kwargs={**rest, **spec.kwargs})
        misplaced = sorted(spec.kwargs.keys() & set(metric.common))
        if misplaced:
            raise SpecError(
                "invalid-metric-kwargs",
                f"`{misplaced[0]}` belongs beside `metric`, to the kwargs of `{name}`",
            )
        return metric.bind(spec.kwargs), implied
    except SpecError as error:
        raise SpecError(
            "invalid-metric-kwargs", f"`metric` of `{name}`: {error}", "metric"
        ) from error


def metric_of(function: Callable[..., Any]) -> Metric:
    """Describe a function as a metric.

    Raises:
        TypeError: its first parameter is no rewards, or another one is not keyword-only.
    """
    first = first_parameter(function)
    takes = _takes(function, first)
    kwargs = kwargs_struct(function, {Bound: _InnerKwarg, Bound | None: _InnerKwarg | None})
    strata = isinstance(first, UnionType) and Strata in get_args(first)
    return Metric(spec_name(function), function, kwargs, takes, strata, _better(function))


def _better(function: Callable[..., Any]) -> bool | None:
    """Which of two values is the better one, where what the function returns says it."""
    said = getattr(get_type_hints(function, include_extras=True).get("return"), "__metadata__", ())
    return True if HIGHER in said else False if LOWER in said else None


def _takes(function: Callable[..., Any], first: Any) -> Takes:
    if first == Attempts:
        return "attempts"
    if first in (Column, Column | Strata):
        return "column"
    if first is Table:
        return "table"
    if first in (Column | Table, Column | Table | Strata):
        return "inner"
    raise TypeError(f"metric {spec_name(function)}: the first parameter must be a Column or Table")


@cache
def lookup(name: str) -> Metric:
    """The metric of that type.

    Raises:
        SpecError: there is none; the message names the nearest.
    """
    found = _builtin().get(name)
    if found is not None:
        return metric_of(found)
    loaded = plugins.load("metrics", name)
    if loaded is None:
        raise SpecError("unknown-metric-type", unknown_type(name))
    try:
        return replace(metric_of(loaded.function), name=name, plugin=loaded)
    except TypeError as error:
        raise plugins.broken(loaded.plugin, str(error)) from error


def reads_texts(spec: MetricSpec) -> bool:
    """Whether the metric, or the one that it is given, compares texts of trials."""
    from .aliases import metric_of as alias_of

    spec = alias_of(spec.type, spec.kwargs) or spec
    inner = spec.kwargs.get("metric")
    name = inner.get("type") if isinstance(inner, dict) else inner
    if isinstance(name, str) and reads_texts(MetricSpec(type=name)):
        return True
    found = _builtin().get(spec.type)
    return found is not None and "prediction" in inspect.signature(found).parameters


def near_type(name: str) -> str | None:
    """The known type that looks most like `name`."""
    from difflib import get_close_matches

    from .aliases import METRICS

    others = [alias.name for alias in METRICS]
    known = [*names(), *plugins.found("metrics")]
    plain = get_close_matches(name.lower().replace("_", "-"), known, n=1)
    elsewhere = get_close_matches(name, others, n=1)
    near = elsewhere or plain if "/" in name else plain or elsewhere
    return near[0] if near else None


def unknown_type(name: str) -> str:
    """The sentence that names an unknown type, the nearest known, and where all of them are."""
    from .aliases import ambiguous, reducer_of

    if ambiguous(name):
        return f"`{name}` can mean several metrics: write {' or '.join(ambiguous(name))}"
    if name in reducer.names() or reducer_of(name, {}) is not None:
        entry = f'{{"type": "accuracy", "kwargs": {{"reducer": "{name}"}}}}'
        return f"`{name}` is a reducer: write {entry}"
    near = near_type(name)
    hint = f"; did you mean `{near}`?" if near else ""
    return f"unknown metric type `{name}`{hint} (`harbor-metrics list` shows all)"


def names() -> list[str]:
    """Every metric type, sorted."""
    return sorted([*_builtin(), UV_SCRIPT])


@cache
def _builtin() -> dict[str, Callable[..., Any]]:
    from . import metrics

    return public_functions(metrics)
