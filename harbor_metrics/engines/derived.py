"""Relations made of others: the trials that have something, one row a task with its least or most.

Whatever is asked of a relation can be asked of these, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import narwhals.stable.v2 as nw

from .layout import Layout, Numbers
from .relation import Relation


def having(relation: Relation, names: Sequence[str]) -> Relation:
    """The trials that have all of these as a reward, as `NAME/0`, or as a label."""
    layout, frame = relation.layout, relation.frame
    for name in names:
        keys = [key for key in (name, f"{name}/0") if key in layout.rewards]
        columns = [layout.rewards[key].column for key in keys]
        columns += [layout.labels[name]] if name in layout.labels else []
        if not columns:
            # No trial has it; engines filter by no condition that is of no column.
            frame = frame.head(0)
            continue
        absent = (nw.col(column).is_null() for column in columns)
        frame = frame.filter(~nw.all_horizontal(nw.lit(value=True), *absent, ignore_nulls=False))
    return replace(relation, frame=frame, made=(*relation.made, "having", *names))


def of_tasks(relation: Relation, key: str, end: str, *, skip: bool) -> Relation:
    """A row a task, whose reward is the `min` or `max` of its attempts; without one it counts 0."""
    numbers, task = relation.layout.rewards[key], relation.layout.task
    value = nw.col(numbers.column)
    frame = relation.frame.select(*relation.columns, task, numbers.column)
    if skip:
        frame = frame.filter(~value.is_null())
    else:
        frame = frame.with_columns(value.fill_null(0 if numbers.whole else 0.0))
    reward = value.min() if end == "min" else value.max()
    return replace(
        relation,
        frame=relation.grouped(frame, (task,)).agg(reward.alias("reward")),
        layout=Layout(
            rewards={key: Numbers("reward", numbers.whole)},
            labels={},
            usage={},
            groups=relation.layout.groups,
            task=task,
            error=None,
            trial=(),
            id=None,
        ),
        wanted=(),
        made=(*relation.made, end, key, "skip" if skip else "zero"),
    )
