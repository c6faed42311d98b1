"""Metrics by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..contract.estimate import Estimate, Strata, Undefined, macro
from ..contract.metric import Bound, Value
from ..errors import MetricFailure
from ..trials.column import Column
from ..trials.table import Table
from .moments import NO_VALUES

ALL = "all"
_Name = Annotated[str, Meta(min_length=1)]
_By = Annotated[
    _Name | Annotated[list[_Name], Meta(min_length=1)],
    Meta(
        description="A label, or several of which each combination is a group.",
        examples=["category"],
    ),
]
_All = Annotated[
    Literal["samples", "groups", "pooled"] | bool,
    Meta(
        description="The value called `all`: over all trials (`samples`, true), over the groups' "
        "values, each of equal weight (`groups`) or by its size (`pooled`), or none (false)."
    ),
]
_Template = Annotated[
    str,
    Meta(
        pattern=r"\{group_name\}",
        max_length=200,
        description="What a value is called; `{group_name}` is the group's label, of several "
        "joined with `/`.",
    ),
]


def grouped(
    rewards: Column | Table,
    *,
    metric: Bound,
    by: _By,
    all: _All = "samples",  # noqa: A002  # Inspect's word, which registries write
    name_template: _Template = "{group_name}",
) -> dict[str, Value]:
    """A metric for each group of trials that share a label, and over all.

    Groups in the order of their names; a label that is no string is named as JSON writes it. The
    macro mean (`all`: `groups`) is the mean of the groups' values, and its standard error and
    interval, also those of the metrics `stderr` and `ci`, are those of that mean: sqrt(Σ stderr²)
    over the number of groups. Inspect's `grouped` averages the groups' standard errors there.
    lm-eval's groups are `pooled` (weighted by size, with the pooled standard deviation over the
    root of all), or `groups`. A trial without the label fails the metric.
    """
    groups = rewards.split([by] if isinstance(by, str) else by)
    values: dict[str, Value] = {}
    for key, group in groups.items():
        name = name_template.replace("{group_name}", "/".join(key))
        _add(values, name, metric(group), metric.rows(group), _over(group))
    if all in ("samples", True):
        whole = metric(rewards) if len(rewards) else Undefined(NO_VALUES)
        _add(values, ALL, whole, metric.rows(rewards), _over(rewards))
    elif all in ("groups", "pooled"):
        mean = _macro(metric, list(groups.items()), pooled=all == "pooled")
        _add(values, ALL, mean, metric.rows(rewards), _over(rewards))
    return values


def _over(group: Column | Table) -> tuple[int, int]:
    """How many trials and tasks a group has."""
    attempts = group.attempts if isinstance(group, Column) else None
    return len(group if attempts is None else attempts), group.n_tasks


def _add(
    values: dict[str, Value],
    name: str,
    outcome: Value | dict[str, Value],
    n: int,
    over: tuple[int, int],
) -> None:
    """Put what was found of n rows, of so many trials and tasks, beside the others.

    Raises:
        MetricFailure: something else has the name.
    """
    for full, value in _named(name, outcome):
        if full in values:
            raise MetricFailure("duplicate-output", f"two values are called `{full}`")
        value = _with_n(value, n)
        if isinstance(value, Estimate) and value.over is None:
            value = msgspec.structs.replace(value, over=over)
        values[full] = value


def _named(name: str, value: Value | dict[str, Value]) -> list[tuple[str, Value]]:
    if isinstance(value, dict):
        return [(f"{name}/{inner}", output) for inner, output in value.items()]
    return [(name, value)]


def _with_n(value: Value, n: int) -> Value:
    if isinstance(value, Undefined):
        return value if value.n is not None else Undefined(value.reason, n)
    if not isinstance(value, Estimate):
        return Estimate(value=value, n=n)
    return value if value.n is not None else msgspec.structs.replace(value, n=n)


def _macro(
    metric: Bound, groups: Sequence[tuple[tuple[str, ...], Column | Table]], *, pooled: bool
) -> Value | dict[str, Value]:
    if not groups:
        return Undefined(NO_VALUES)
    columns = tuple(group for _, group in groups if isinstance(group, Column))
    if columns and (mean := metric.macro(Strata(columns, pooled))) is not None:
        return mean
    by_group: list[dict[str, Value]] = []
    for _, group in groups:
        outputs = _named("", metric(group))
        rows = metric.rows(group)
        by_group.append({name.removeprefix("/"): _with_n(value, rows) for name, value in outputs})
    sizes = [metric.rows(group) for _, group in groups] if pooled else None
    names = ["/".join(key) for key, _ in groups]
    outputs_of_any = dict.fromkeys(name for values in by_group for name in values)
    means = {
        output: _mean_of(output, dict(zip(names, by_group, strict=True)), sizes)
        for output in outputs_of_any
    }
    return means[""] if list(means) == [""] else means


def _mean_of(
    output: str, groups: dict[str, dict[str, Value]], sizes: Sequence[int] | None
) -> Value:
    """The mean over groups of one output, undefined where one of them has none."""
    means: list[Estimate] = []
    for name, values in groups.items():
        value = values.get(output, Undefined(f"there is no `{output}`"))
        if isinstance(value, Undefined):
            return Undefined(f"group {name}: {value.reason}")
        assert isinstance(value, Estimate)  # _with_n made it one
        means.append(value)
    return macro(means, sizes)
