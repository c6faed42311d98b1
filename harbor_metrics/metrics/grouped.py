"""Metrics by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from ..column import Column
from ..estimate import Estimate, Strata, Undefined, macro
from ..metric import Bound, Value
from ..table import Table
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
        for full, value in _named(name, metric(group)):
            if full in values:
                values[full] = Undefined(f"two values are called `{full}`")
                continue
            values[full] = _with_n(value, len(group))
    if all in ("samples", True):
        last = metric(rewards) if len(rewards) else Undefined(NO_VALUES)
    elif all in ("groups", "pooled"):
        last = _macro(metric, list(groups.items()), pooled=all == "pooled")
    else:
        return values
    for full, value in _named(ALL, last):
        if full in values:
            return {
                **values,
                full: Undefined(f"a group and the value over all are called `{full}`"),
            }
        values[full] = _with_n(value, len(rewards))
    return values


def _named(name: str, value: Value | dict[str, Value]) -> list[tuple[str, Value]]:
    if isinstance(value, dict):
        return [(f"{name}/{inner}", each) for inner, each in value.items()]
    return [(name, value)]


def _with_n(value: Value, n: int) -> Value:
    if isinstance(value, Undefined):
        return value
    if not isinstance(value, Estimate):
        return Estimate(value=value, n=n)
    return (
        value
        if value.n is not None
        else Estimate(value=value.value, strata=value.strata, n=n, notes=value.notes)
    )


def _macro(
    metric: Bound, groups: Sequence[tuple[tuple[str, ...], Column | Table]], *, pooled: bool
) -> Value | dict[str, Value]:
    if not groups:
        return Undefined(NO_VALUES)
    columns = tuple(group for _, group in groups if isinstance(group, Column))
    if columns and (said := metric.macro(Strata(columns, pooled))) is not None:
        return said
    found: dict[str, list[Estimate]] = {}
    for key, group in groups:
        for name, value in _named("", metric(group)):
            if isinstance(value, Undefined):
                return Undefined(f"group {'/'.join(key)}: {value.reason}")
            one = value if isinstance(value, Estimate) else Estimate(value=value)
            found.setdefault(name.removeprefix("/"), []).append(one)
    sizes = [len(group) for _, group in groups] if pooled else None
    if list(found) == [""]:
        return macro(found[""], sizes)
    return {name: macro(means, sizes) for name, means in found.items()}
