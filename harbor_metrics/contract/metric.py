"""What a metric is: a plain function over rewards, and what it is passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta

from ..errors import MetricFailure
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.labelled import TASK
from ..trials.table import Table
from .described import Described
from .estimate import Estimate, Strata, Undefined
from .parameters import HIGHER, LOWER, Attempts
from .reducer import BoundReducer
from .signature import converted, first_parameter, kwargs_struct, spec_name
from .spec import COMMON, CommonKwargs, MetricSpec, Takes
from .strangers import Loaded

Value = Number | Estimate | Undefined
# The kwargs of our metrics that name a label, or a reward in whose place a label may stand.
_NAMES_OF_LABELS = frozenset(
    [
        "by",
        "cluster",
        "weight",
        "reference",
        "prediction",
        "raters",
        "probabilities",
        "label",
        "likelihoods",
        "per",
        "confidence",
        "low",
        "high",
        "minutes",
    ]
)


def _names_a_label(kwarg: str, value: object) -> bool:
    if kwarg not in _NAMES_OF_LABELS or value in (None, "", ()):
        return False
    # What is grouped or clustered by tasks needs no label of that name.
    return value != TASK or kwarg not in ("by", "cluster")


class Bound(msgspec.Struct, frozen=True):
    """A metric and what it is passed: ready to be called with a Column or a Table."""

    metric: Metric
    common: CommonKwargs
    arguments: dict[str, Any]
    takes: Takes
    reducer: BoundReducer | None

    def __call__(self, view: Column | Table) -> Value | dict[str, Value]:
        """What the metric says of the rewards."""
        value: Value | dict[str, Value] = self.metric.call(view, self.arguments)
        return value

    @property
    def inner(self) -> list[Bound]:
        """The metrics that it is given."""
        return [value for value in self.arguments.values() if isinstance(value, Bound)]

    @property
    def measures(self) -> Bound:
        """What its values are values of: of groups the metric that they are given.

        The error of a metric is no value of it.
        """
        return self.inner[0] if self.metric.name == "grouped" and self.inner else self

    @property
    def is_ours(self) -> bool:
        """Whether no part of it is a plugin or a function of a user's."""
        reducer = self.reducer.reducer if self.reducer else self.metric
        own = self.metric.is_ours and reducer.is_ours
        return own and all(bound.is_ours for bound in self.inner)

    @property
    def plugins(self) -> tuple[Loaded, ...]:
        """The plugins that have a part in the value."""
        of_inner = [loaded for bound in self.inner for loaded in bound.plugins]
        of_reducer = self.reducer.reducer.plugin if self.reducer else None
        return tuple(filter(None, (self.metric.plugin, *of_inner, of_reducer)))

    @property
    def reads_texts(self) -> bool:
        """Whether the metric, or the one that it is given, may compare texts of trials."""
        own = "prediction" in self.arguments or not self.is_ours
        return own or any(bound.reads_texts for bound in self.inner)

    @property
    def reads_labels(self) -> bool:
        """Whether the metric, or the one that it is given, may ask for labels of trials."""
        if not self.is_ours or (self.reducer is not None and self.reducer.reads_labels):
            return True
        return any(map(_names_a_label, self.arguments, self.arguments.values())) or any(
            bound.reads_labels for bound in self.inner
        )

    @property
    def resamples(self) -> bool:
        """Whether it, or the one that it is given, computes another one many times over."""
        own = "samples" in self.arguments and self.metric.takes == "inner"
        return own or any(bound.resamples for bound in self.inner)

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


class Metric(Described, frozen=True, kw_only=True):
    """A plain function over rewards, what it reads, and which of two values is the better one."""

    takes: Takes
    knows_strata: bool
    higher_is_better: bool | None = None

    @property
    def common(self) -> tuple[str, ...]:
        """The names of the common kwargs that it takes."""
        return COMMON[self.takes]

    def bind(
        self,
        kwargs: Mapping[str, Any],
        inner: Bound | None = None,
        reducer: BoundReducer | None = None,
    ) -> Bound:
        """The metric with its kwargs, checked and typed.

        The kwargs `metric` and `reducer` are names; `inner` and `reducer` are what they mean.

        Raises:
            MetricFailure: a kwarg is unknown, missing or of the wrong type.
        """
        own = converted(self.name, kwargs, self.kwargs, self.common)
        arguments = msgspec.structs.asdict(own)
        takes = self.takes
        if takes == "inner":
            if inner is not None and inner.resamples and "samples" in arguments:
                raise MetricFailure(
                    "invalid-metric-kwargs",
                    f"`{self.name}` takes no metric that draws samples itself: a thousand times a "
                    "thousand are never at an end",
                    "metric",
                )
            arguments["metric"] = inner
            takes = inner.takes if inner is not None else "column"
            for name in kwargs.keys() & set(COMMON["inner"]) - set(COMMON[takes]):
                raise MetricFailure(
                    "invalid-metric-kwargs",
                    f"`{self.name}` over this metric takes no `{name}`",
                    name,
                )
        given = {name: value for name, value in kwargs.items() if name in self.common}
        common = converted(self.name, given, CommonKwargs)
        return Bound(self, common, arguments, takes, reducer)


def metric_of(function: Callable[..., Any]) -> Metric:
    """Describe a function as a metric.

    Raises:
        TypeError: its first parameter is not rewards, or another one is not keyword-only.
    """
    first = first_parameter(function)
    return Metric(
        name=spec_name(function),
        function=function,
        kwargs=kwargs_struct(function, {Bound: _InnerKwarg, Bound | None: _InnerKwarg | None}),
        takes=_takes(function, first),
        knows_strata=isinstance(first, UnionType) and Strata in get_args(first),
        higher_is_better=_better(function),
    )


def _better(function: Callable[..., Any]) -> bool | None:
    """Which of two values is the better one, where the annotation of the return value says it."""
    returned = get_type_hints(function, include_extras=True).get("return")
    marks = getattr(returned, "__metadata__", ())
    return True if HIGHER in marks else False if LOWER in marks else None


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
