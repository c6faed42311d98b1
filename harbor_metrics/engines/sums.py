"""The exact sums of rewards and of what was used, from digits that engines add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from ..errors import MetricFailure
from ..numbers import exact
from ..numbers.exact import Number
from . import limbs
from .asked import Row
from .layout import Numbers
from .overview import aggregates, beside, read
from .relation import MOST_VALUES, MOST_WHOLE, Group, Relation, as_int64, flag


class Sums(NamedTuple):
    """Over units: how many, and their integer sums, those squared, and cubed."""

    units: int
    first: int
    second: int
    third: int


# (attempts of a unit, how many of them have the reward) -> the sums over such units.
BySize = dict[tuple[int, int], Sums]
# (attempts, how many have the reward, the integer sum) -> how many tasks.
Pairs = dict[tuple[int, int, int], int]


def sums_by_size(
    relation: Relation, key: str, power: int, highest: int, unit: str
) -> dict[Group, BySize]:
    """The sums of each size of unit, times 2^(FRACTION + power), and those squared and cubed.

    `unit`: `task`, `trial` or `label.NAME`. Powers above `highest` are 0.
    """

    def query() -> Any:
        frame, keep, digits = _digits(relation, relation.layout.rewards[key], power, unit)
        carried, digits = limbs.carried(digits, "a")
        frame = frame.select(*keep, *carried)
        carried, digits = limbs.carried(digits, "b")
        frame = frame.select(*keep, *carried)
        wanted = digits
        if highest > 1:
            places, squares = limbs.product(digits, digits, "s")
            frame = frame.select(*keep, *wanted, *places)
            split, halves = limbs.halves(squares)
            smaller, third = limbs.carried(squares, "d") if highest > 2 else ([], [])
            frame = frame.select(*keep, *wanted, *split, *smaller)
            wanted = [*wanted, *halves]
        if highest > 2:
            smaller, third = limbs.carried(third, "e")
            frame = frame.select(*keep, *wanted, *smaller)
            places, cubes = limbs.product(third, digits, "t")
            frame = frame.select(*keep, *wanted, *places)
            split, halves = limbs.halves(cubes)
            frame = frame.select(*keep, *wanted, *split)
            wanted = [*wanted, *halves]
        return relation.grouped(frame, ("n", "g")).agg(
            nw.len().alias("units"), *(nw.col(name).sum() for name in wanted)
        )

    def parse(rows: list[Row]) -> dict[Group, BySize]:
        found: dict[Group, BySize] = {}
        for group, (n, g, units, *sums) in relation.by_group(rows):
            size = int(n), int(g)
            found.setdefault(group, {})[size] = _unbiased(
                size[0], int(units), [int(each) for each in sums], highest
            )
        if unit == "task":
            sizes = [
                (g, (int(n), int(given)), int(u))
                for g, (n, given, u, *_) in relation.by_group(rows)
            ]
            relation.keep_sizes(key, sizes)
        return found

    return relation.once(["sums", key, highest, unit], query, parse)


def sums_with_times(relation: Relation, key: str, power: int) -> dict[Group, Pairs]:
    """How many tasks have so many attempts, rewards, and such a sum, as an integer.

    Raises:
        TooManyError: too many tasks differ.
    """

    def query() -> Any:
        frame, keep, digits = _digits(relation, relation.layout.rewards[key], power, "task")
        carried, parts = limbs.carried(digits, "a")
        frame = frame.select(*keep, *carried)
        return relation.grouped(frame, ("n", "g", *parts)).agg(nw.len().alias("tasks"))

    def parse(rows: list[Row]) -> dict[Group, Pairs]:
        found: dict[Group, Pairs] = {}
        for group, (n, g, *parts, tasks) in relation.by_group(rows):
            total = limbs.joined([int(part) for part in parts]) - int(n) * limbs.BIAS
            pairs = found.setdefault(group, {})
            pair = int(n), int(g), total
            pairs[pair] = pairs.get(pair, 0) + int(tasks)
        return found

    return relation.once(["pairs", key], query, parse, MOST_VALUES)


def used(relation: Relation, name: str) -> dict[Group, Number]:
    """The total of a column of usage, of each group that has some; infinite beyond binary64.

    Raises:
        MetricFailure: an engine cannot add it up exactly.
    """
    numbers = relation.layout.usage.get(name)
    if numbers is None:
        return {}
    extremes = relation.once(
        ["usage", name],
        lambda: relation.grouped(relation.frame.with_columns(*beside(numbers, 0)), ()).agg(
            nw.col(numbers.column).count().alias("given"), *aggregates(numbers, 0)
        ),
        lambda rows: {g: read(int(n), rest) for g, (n, *rest) in relation.by_group(rows)},
    )
    given = [said for said in extremes.values() if said.given]
    smallest = min((said.smallest for said in given if said.smallest is not None), default=0)
    most = max((said.magnitude for said in given), default=0)
    power = None if any(said.bad for said in given) else limbs.grid(smallest, most)
    if numbers.whole and most > MOST_WHOLE:
        raise MetricFailure(
            "beyond-engine",
            f"amounts `{name}` have the integer {most}, and an engine adds integers exactly up to "
            "2^53; compute from the trials themselves",
        )
    if power is None:
        raise MetricFailure(
            "beyond-engine",
            f"amounts `{name}` are no numbers, or have magnitudes more than 2^{limbs.SPREAD} "
            "apart, which an engine cannot add exactly; compute from the trials themselves",
        )
    shift = limbs.FRACTION + power

    def total(sums: Sequence[int], n: int) -> Number:
        whole = limbs.joined(sums) - n * limbs.BIAS
        if numbers.whole:
            return whole >> shift if shift >= 0 else whole << -shift
        amount = exact.ratio(whole << max(0, -shift), 1 << max(0, shift))
        return math.inf if amount is None else amount

    def query() -> Any:
        names = [f"q{i}" for i in range(limbs.DIGITS)]
        value = nw.col(numbers.column).cast(nw.Float64)
        frame = relation.frame.filter(~nw.col(numbers.column).is_null())
        frame = frame.select(*relation.columns, value.alias("v"))
        frame = frame.select(*relation.columns, *limbs.digits(nw.col("v"), power, names))
        sums = (nw.col(each).sum() for each in names)
        return relation.grouped(frame, ()).agg(nw.len().alias("n"), *sums)

    return relation.once(
        ["used", name],
        query,
        lambda rows: {
            g: total([int(s) for s in sums], int(n))
            for g, (n, *sums) in relation.by_group(rows)
            if n
        },
    )


def _digits(
    relation: Relation, numbers: Numbers, power: int, unit: str
) -> tuple[Any, list[str], list[str]]:
    """Each unit's sum as digits, with `n`, its attempts, and `g`, those that have the reward.

    The frame, the columns that are no digits, and those that are.
    """
    names = [f"q{i}" for i in range(limbs.DIGITS)]
    value = nw.col(numbers.column).cast(nw.Float64)
    units: tuple[str, ...] = (relation.layout.task,)
    if unit != "task":
        units = () if unit == "trial" else (relation.layout.labels[unit.removeprefix("label.")],)
    frame = relation.frame.select(
        *relation.columns, *units, flag(~nw.col(numbers.column).is_null(), "g"),
        value.fill_null(0.0).alias("v"),
    )  # fmt: skip
    frame = frame.select(*relation.columns, *units, "g", *limbs.digits(nw.col("v"), power, names))
    if not units:
        frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias("n"))
    else:
        frame = relation.grouped(frame, units).agg(
            nw.len().alias("n"), *(nw.col(name).sum() for name in ("g", *names))
        )
        frame = as_int64(frame, relation.columns, ("n", "g", *names))
    return frame, [*relation.columns, "n", "g"], names


def _unbiased(n: int, units: int, sums: Sequence[int], highest: int) -> Sums:
    """The sums of x from those of x + b, where b is what was added to a unit of n attempts."""
    b = n * limbs.BIAS
    # Carried twice, a number has two digits more.
    size = limbs.DIGITS + 2
    first = limbs.joined(sums[:size])
    plain = first - units * b
    if highest == 1:
        return Sums(units, plain, 0, 0)
    places = 2 * size - 1
    second, rest = _both(sums[size:], places)
    square = second - 2 * b * plain - units * b * b
    if highest == 2:
        return Sums(units, plain, square, 0)
    # The squares, carried twice, times the numbers.
    third, _ = _both(rest, places + 2 + size - 1)
    return Sums(units, plain, square, third - 3 * b * square - 3 * b * b * plain - units * b**3)


def _both(sums: Sequence[int], places: int) -> tuple[int, Sequence[int]]:
    """The number of low and high halves of so many places, and what stands behind them."""
    lows, highs, rest = sums[:places], sums[places : 2 * places], sums[2 * places :]
    return (limbs.joined(highs) << limbs.BITS) + limbs.joined(lows), rest
