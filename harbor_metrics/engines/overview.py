"""What is asked first: how many trials each group has, and what its rewards lie between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from ..documents.wording import printable
from ..errors import InputError
from ..numbers.exact import Number
from .asked import Row
from .layout import Numbers
from .relation import MOST_VALUES, Group, Relation, flag


class Extremes(NamedTuple):
    """What a group's rewards lie between: the ends, and the smallest magnitude that is not 0.

    How many are given; of these how many are not 0 or 1, and how many are NaN or infinite.
    """

    given: int
    least: Number | None
    most: Number | None
    smallest: Number | None
    odd: int
    bad: int

    @property
    def magnitude(self) -> Number:
        """The largest magnitude."""
        return max(abs(self.least or 0), abs(self.most or 0))


class Overview(NamedTuple):
    """Of a group: trials, those without a task, with an error, with rewards; with each reward."""

    trials: int
    nameless: int
    errored: int
    scored: int
    given: dict[str, int]
    extremes: dict[str, Extremes]


def alike(path: str, label: str) -> InputError:
    """That two groups would have one name."""
    return InputError(
        f"{path} has labels that differ and are both {printable(label)} here",
        "write them as texts",
    )


def overview(relation: Relation) -> dict[Group, Overview]:
    """How many trials each group has, and what the rewards that are wanted lie between."""
    layout, keys = relation.layout, relation.wanted
    parts = tuple(relation.by), relation.made
    # Every metric of every key asks, and the question alone is as long as there are keys.
    known: dict[Group, Overview] | None = relation.asked.overviews.get(parts)
    if known is not None:
        return known

    def query() -> Any:
        missing = [nw.col(c.column).is_null() for c in layout.rewards.values()]
        # No column has any reward where all that were to hold them are empty.
        all_null = nw.all_horizontal(nw.lit(value=True), *missing, ignore_nulls=False)
        conditions = {"nameless": nw.col(layout.task).is_null(), "scored": ~all_null}
        frame = relation.frame.with_columns(
            *(flag(condition, name) for name, condition in conditions.items())
        )
        if layout.error is None:
            frame = frame.with_columns(flag(nw.lit(value=False), "errored"))
        else:
            frame = frame.with_columns(flag(~nw.col(layout.error).is_null(), "errored"))
        sums = [nw.col(name).sum() for name in ("nameless", "errored", "scored")]
        counts = [
            nw.col(c.column).count().alias(f"n{i}") for i, c in enumerate(layout.rewards.values())
        ]
        ends = [relation.layout.rewards[key] for key in keys]
        frame = frame.with_columns(
            nw.lit(0).alias("nothing"), *(e for i, c in enumerate(ends) for e in beside(c, i))
        )
        extremes = [e for i, c in enumerate(ends) for e in aggregates(c, i)]
        return relation.grouped(frame, ()).agg(nw.len().alias("n"), *sums, *counts, *extremes)

    def parse(rows: list[Row]) -> dict[Group, Overview]:
        found = {}
        for group, (n, nameless, errored, scored, *rest) in relation.by_group(rows):
            if group in found:
                raise alike(relation.asked.path, str(group[-1]))
            counts = dict(zip(layout.rewards, map(int, rest), strict=False))
            rest = rest[len(counts) :]
            found[group] = Overview(
                n, int(nameless or 0), int(errored or 0), int(scored or 0), counts,
                {k: read(counts[k], rest[5 * i : 5 * i + 5]) for i, k in enumerate(keys)},
            )  # fmt: skip
        return {group: said for group, said in found.items() if said.trials}

    found = relation.once(["overview", *keys], query, parse)
    relation.asked.overviews[parts] = found
    return found


def extremes_of(relation: Relation, key: str) -> dict[Group, Extremes]:
    """What a key's rewards lie between."""
    if key in relation.wanted:
        return {group: said.extremes[key] for group, said in overview(relation).items()}
    numbers = relation.layout.rewards[key]

    def query() -> Any:
        frame = relation.frame.with_columns(*beside(numbers, 0))
        count = nw.col(numbers.column).count().alias("given")
        return relation.grouped(frame, ()).agg(count, *aggregates(numbers, 0))

    def parse(rows: list[Row]) -> dict[Group, Extremes]:
        return {g: read(int(given), rest) for g, (given, *rest) in relation.by_group(rows)}

    return relation.once(["extremes", key], query, parse)


def errors(relation: Relation) -> dict[Group, Counter[str]]:
    """How often each error stands."""
    column = relation.layout.error
    if column is None:
        return {}
    frame = relation.frame.filter(~nw.col(column).is_null())
    return relation.once(
        ["errors"],
        lambda: relation.grouped(frame, (column,)).agg(nw.len().alias("n")),
        relation.counted,
        MOST_VALUES,
    )


def repeated(relation: Relation) -> int:
    """How many trials stand there more than once."""
    layout = relation.layout
    again = 0
    if layout.id is not None:
        named = relation.frame.filter(~nw.col(layout.id).is_null())
        # Whatever the dataset: rows without one can be put under that of others.
        by = [column for name, column in layout.groups.items() if name != "dataset"]
        again += _repeated(relation, "id", named, (*by, layout.id))
    if layout.trial:
        named = relation.frame.filter(~nw.col(layout.trial[-1]).is_null())
        if layout.id is not None:
            named = named.filter(nw.col(layout.id).is_null())
        again += _repeated(relation, "trial", named, layout.trial)
    return again


def _repeated(relation: Relation, what: str, frame: Any, columns: Sequence[str]) -> int:
    def again(frame: Any, columns: Sequence[str]) -> Any:
        times = frame.select(*columns).group_by(*columns).agg(nw.len().alias("n"))
        return times.filter(nw.col("n") > 1).select((nw.col("n") - 1).sum().alias("n"))

    def query() -> Any:
        if frame.implementation.is_duckdb():
            # A tenth of the memory and half of the time; two trials rarely share a number.
            hashed = frame.to_native().project(f"hash({', '.join(columns)}) as h")
            numbers = nw.from_native(hashed).lazy()
            if not relation.asked.unrecorded(lambda: again(numbers, ["h"]))[0][0]:
                return frame.head(0).select(nw.len().alias("n"))
        return again(frame, columns)

    return relation.asked.once(["repeated", what], query, lambda rows: int(rows[0][0] or 0))


def sizes(relation: Relation) -> dict[Group, Counter[int]]:
    """Number of attempts -> how many tasks have as many."""

    def query() -> Any:
        by_task = relation.grouped(relation.frame, (relation.layout.task,)).agg(nw.len().alias("d"))
        return relation.grouped(by_task, ("d",)).agg(nw.len().alias("tasks"))

    return relation.once(["sizes"], query, relation.counted)


def beside(numbers: Numbers, place: int) -> list[Any]:
    """What extremes are taken of beside the rewards themselves."""
    value = nw.col(numbers.column)
    other = ~value.is_null() & (value != 0) & (value != 1)
    bad = nw.lit(value=False) if numbers.whole else ~value.is_null() & ~value.is_finite()
    return [
        nw.when(value != 0).then(value.abs()).alias(f"m{place}"),
        flag(other, f"o{place}"),
        flag(bad, f"b{place}"),
    ]


def aggregates(numbers: Numbers, place: int) -> list[Any]:
    """The extremes but for how many are given, of a frame with what stands beside them."""
    value = nw.col(numbers.column)
    ends = [value.min().alias(f"low{place}"), value.max().alias(f"high{place}")]
    sums = [nw.col(f"{letter}{place}").sum() for letter in "ob"]
    return [*ends, nw.col(f"m{place}").min(), *sums]


def read(given: int, row: Sequence[Any]) -> Extremes:
    """The extremes from a row of their aggregates."""
    least, most, smallest, odd, bad = row
    return Extremes(given, least, most, smallest, int(odd or 0), int(bad or 0))
