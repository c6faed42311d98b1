"""The difference of two medians or quantiles, which jump where a task is left out."""

from __future__ import annotations

from ..contract.estimate import Undefined
from ..contract.metric import Bound, Value
from ..evaluation.measurement import policy_of
from ..numbers.differences import Difference
from ..numbers.exact import Number
from ..trials.column import Column
from .finding import Asked, Finding, less
from .means import Answer
from .pairing import Pairs
from .resampled import bootstrap

ORDERED = {"median", "quantile"}


def drawn(
    asked: Asked, bound: Bound, pairs: Pairs, name: str, values: tuple[Number, Number]
) -> Finding:
    """By drawing the tasks again, which have a value on both sides."""
    keys = list(pairs.base.columns)
    key = bound.common.key or (keys[0] if len(keys) == 1 else name)
    columns: list[Column] | Undefined = Undefined("no interval: only of one reward")
    if key in keys and bound.metric.name in ORDERED:
        columns = _columns(asked, bound, pairs, key)

    def value(view: Column) -> Value:
        number = bound(view)
        assert not isinstance(number, dict)  # these have one value
        return number

    n = len(pairs.paired)
    if isinstance(columns, Undefined):
        answer = Answer("bootstrap", Difference(), n, reason=columns.reason)
    else:
        answer = bootstrap(columns[0], columns[1], value, asked.settings.level)
    return Finding(*values, less(values[1], values[0]), answer, n, None, [])


def _columns(asked: Asked, bound: Bound, pairs: Pairs, key: str) -> list[Column] | Undefined:
    """What the metric looks at on both sides; else why there is nothing to look at."""
    policy = policy_of(bound, asked.settings.missing) or "zero"
    columns = []
    for table in (pairs.base, pairs.candidate):
        column: Column | Undefined = table.column(key, policy)
        if bound.reducer is not None and isinstance(column, Column):
            column = bound.reducer(column, skip=policy == "skip")
        if isinstance(column, Undefined):
            return column
        columns.append(column)
    return columns
