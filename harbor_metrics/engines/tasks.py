"""What the attempts of tasks gave: how many pass, how often each reward stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from ..numbers.exact import Number
from .asked import Row, TooManyError
from .relation import MOST_VALUES, Group, Relation, as_int64, flag

# More different rewards than these are not counted task by task; nor are more kinds of tasks.
MOST_REWARDS = 64
MOST_KINDS = 1 << 16
# A few rows tell early that there are too many.
_SAMPLE = 10_000
# (attempts, how many have the reward, how many pass) -> how many tasks, and the first by name.
Passes = dict[tuple[int, int, int], tuple[int, str]]
# (attempts, how often each reward stands) -> how many tasks, and the first by name.
Kinds = dict[tuple[int, tuple[int, ...]], tuple[int, str]]


def count_passes(relation: Relation, key: str, threshold: float) -> dict[Group, Passes]:
    """How many tasks have so many attempts, rewards, and rewards that reach the threshold."""
    numbers, task = relation.layout.rewards[key], relation.layout.task
    value = nw.col(numbers.column)

    def query() -> Any:
        frame = relation.frame.select(
            *relation.columns, task, numbers.column, flag(value >= threshold, "c")
        )
        by_task = relation.grouped(frame, (task,)).agg(
            nw.len().alias("n"), value.count().alias("g"), nw.col("c").sum()
        )
        by_task = as_int64(by_task, (*relation.columns, task), ("n", "g", "c"))
        return relation.grouped(by_task, ("n", "g", "c")).agg(
            nw.len().alias("tasks"), nw.col(task).min().alias("first")
        )

    def parse(rows: list[Row]) -> dict[Group, Passes]:
        found: dict[Group, Passes] = {}
        for group, (n, g, c, tasks, first) in relation.by_group(rows):
            found.setdefault(group, {})[int(n), int(g), int(c)] = int(tasks), first
        sizes = [
            ((g, (int(n), int(given)), int(tasks)))
            for g, (n, given, _, tasks, _) in relation.by_group(rows)
        ]
        relation.keep_sizes(key, sizes)
        return found

    return relation.once(["passes", key, float(threshold)], query, parse)


def count_kinds(relation: Relation, key: str, values: Sequence[Number]) -> dict[Group, Kinds]:
    """How many tasks have so many attempts, and each of these rewards so often.

    Raises:
        TooManyError: too many tasks differ.
    """
    numbers, task = relation.layout.rewards[key], relation.layout.task
    names = [f"t{i}" for i in range(len(values))]

    def query() -> Any:
        value = nw.col(numbers.column)
        each = (flag(value == v, name) for v, name in zip(values, names, strict=True))
        frame = relation.frame.select(*relation.columns, task, *each)
        by_task = relation.grouped(frame, (task,)).agg(
            nw.len().alias("n"), *(nw.col(name).sum() for name in names)
        )
        by_task = as_int64(by_task, (*relation.columns, task), ("n", *names))
        return relation.grouped(by_task, ("n", *names)).agg(
            nw.len().alias("tasks"), nw.col(task).min().alias("first")
        )

    def parse(rows: list[Row]) -> dict[Group, Kinds]:
        found: dict[Group, Kinds] = {}
        for group, (n, *times, tasks, first) in relation.by_group(rows):
            found.setdefault(group, {})[int(n), tuple(map(int, times))] = int(tasks), first
        return found

    return relation.once(["kinds", key], query, parse, MOST_KINDS)


def count_rewards(relation: Relation, key: str) -> dict[Group, Counter[Number]]:
    """How often each reward stands.

    Raises:
        TooManyError: too many differ.
    """
    column = relation.layout.rewards[key].column
    frame = relation.frame.filter(~nw.col(column).is_null())
    if _differ_soon(relation, key):
        raise TooManyError(f"more than {MOST_VALUES:,}")
    return relation.once(
        ["tally", key],
        lambda: relation.grouped(frame, (column,)).agg(nw.len().alias("n")),
        relation.counted,
        MOST_VALUES,
    )


def _differ_soon(relation: Relation, key: str) -> bool:
    """Whether most of the first rewards differ, and there are many times more of them."""
    column = relation.layout.rewards[key].column
    if relation.asked.dry or relation.asked.trials <= 4 * MOST_VALUES:
        return False
    sample = relation.frame.select(column).head(_SAMPLE).group_by(column).agg(nw.len().alias("n"))
    return len(relation.asked.unrecorded(lambda: sample)) > _SAMPLE // 2
