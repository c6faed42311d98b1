"""How often each reward stands beside another reward, or a label, of its trial."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.stable.v2 as nw

from ..errors import MetricFailure
from ..numbers.exact import Number
from ..trials.labelled import as_number
from .asked import Row
from .relation import MOST_VALUES, Group, Relation

# (the other, the reward), None where it is missing -> how often.
Pairs = Counter[tuple[Number, Number | None]]


def count_pairs(relation: Relation, group: Group, key: str, name: str, *, skip: bool) -> Pairs:
    """The pairs of a group; with `skip` of the trials that have the reward.

    Raises:
        TooManyError: too many differ.
        MetricFailure: a trial has neither the other reward nor the label or both, or the label is
            not a number.
        InputError: the label is another one as it lies in a file.
    """
    layout = relation.layout
    reward, label = layout.rewards.get(name), layout.labels.get(name)
    value = nw.col(layout.rewards[key].column)
    both = {"other": reward and reward.column, "label": label}
    columns = {name: column for name, column in both.items() if column}

    def query() -> Any:
        frame = relation.frame.filter(~value.is_null()) if skip else relation.frame
        beside = [nw.col(column).alias(name) for name, column in columns.items()]
        frame = frame.select(*relation.columns, value.alias("value"), *beside)
        return relation.grouped(frame, ("value", *columns)).agg(nw.len().alias("n"))

    def parse(rows: list[Row]) -> dict[Group, list[Row]]:
        found: dict[Group, list[Row]] = {}
        for of, (own, *others, times) in relation.by_group(rows):
            said = dict(zip(columns, others, strict=True))
            found.setdefault(of, []).append((own, said.get("other"), said.get("label"), times))
        return found

    if label is not None:
        layout.check_label(name)
    question = ["pairs of", key, name, skip]
    rows = relation.once(question, query, parse, MOST_VALUES).get(group, [])
    whole = sum(times for *_, times in rows)
    pairs: Pairs = Counter()
    for own, other, of_label, times in rows:
        if other is None and of_label is None:
            raise MetricFailure(
                "missing-label",
                f"{times} of {whole} trials have neither a reward nor a label `{name}` "
                "(`missing`: `skip` leaves such trials out)",
            )
        if other is not None and of_label is not None:
            raise MetricFailure("missing-label", f"`{name}` is both a reward and a label of trials")
        number = as_number(of_label) if other is None else other
        if number is None:
            raise MetricFailure("missing-label", f"label `{name}` of {times} trials is no number")
        pairs[number, own] += times
    return pairs
