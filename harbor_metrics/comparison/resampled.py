"""How sure a difference of any two values is: by leaving tasks out, or by drawing them again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from ..contract.estimate import Estimate, Undefined
from ..contract.metric import Value
from ..numbers import exact
from ..numbers.differences import Difference, Influences, fieller, student
from ..numbers.exact import Number
from ..trials.column import Column
from .means import ONE_TASK, Answer
from .pairing import Pairs

# So many groups of tasks are left out, one at a time; more would not make the error better known.
GROUPS = 200
_RESAMPLES, _SWAPS = 2_000, 9_999
# Rewards that may be looked at in all resamples and swaps together: half a minute.
_MOST_WORK = 60_000_000
_FEWEST = 200

# What gives the values of a metric, by name, on either side.
Values = Callable[[Pairs], tuple[dict[str, Value], dict[str, Value]]]


def left_out(pairs: Pairs, values: Values, groups: int = GROUPS) -> list[Ends]:
    """The values on both sides without each group of tasks; tasks are dealt in turn."""
    n = min(groups, len(pairs.paired))
    return [
        values(pairs.at([task for i, task in enumerate(pairs.paired) if i % n != group]))
        for group in range(n)
    ]


Ends = tuple[dict[str, Value], dict[str, Value]]


def jackknife(
    name: str,
    whole: tuple[Value, Value],
    ends: Sequence[Ends],
    n: int,
    level: float,
    *,
    amount: bool,
    total: bool = False,
) -> Answer:
    """Student's t on the values of one name without each group (Efron and Stein 1981).

    `whole` are the values with all tasks; of amounts the ratio is given as well. A total without
    some tasks is taken for as many as there are.
    """
    if n < 2:
        return Answer("jackknife", Difference(), n, reason=ONE_TASK)
    # Exactly: a task moves a large total by less than the floats near it lie apart.
    sides: list[list[Fraction]] = [[], []]
    for group, pair in enumerate(ends):
        left = n - len(range(group, n, len(ends)))
        for side, values in zip(sides, pair, strict=True):
            value = values.get(name)
            number = number_of(value)
            if isinstance(number, str):
                reason = f"no interval: without some tasks the value is {number}"
                return Answer("jackknife", Difference(), n, reason=reason)
            side.append(exact_of(value) * n / left if total else exact_of(value))
    influences = _influences(*sides)
    base, candidate = map(exact_of, whole)
    if not influences.variance:
        found = Difference(p=1.0 if base == candidate else None)
        return Answer("jackknife", found, n, reason="no interval: no task moves it")
    answer = Answer("jackknife", Difference(), n)
    answer.found = student(float(candidate - base), influences.variance, len(ends) - 1, level)
    if amount:
        answer.relative = fieller(base, candidate - base, influences, level)
    return answer


def _influences(base: list[Fraction], candidate: list[Fraction]) -> Influences:
    """What each group moves: what is missing without it, less the mean of that, (G - 1) / G."""
    scale = math.lcm(*(value.denominator for value in (*base, *candidate)))
    integers = [int(value * scale) for value in (*base, *candidate)]
    groups = len(base)

    def moves(side: Sequence[int]) -> list[int]:
        total = sum(side)
        return [(groups - 1) * (total - groups * value) for value in side]

    return Influences(moves(integers[:groups]), moves(integers[groups:]), scale * groups * groups)


def number_of(value: Value | None) -> Number | str:
    """The number, or why there is none."""
    if value is None:
        return "not there"
    if isinstance(value, Undefined):
        return value.reason
    return value.value if isinstance(value, Estimate) else value


def exact_of(value: Value | None) -> Fraction:
    """The number that a value has, as it was before it was rounded where that is known."""
    assert value is not None  # `number_of` says so
    assert not isinstance(value, Undefined)
    return value.exact if isinstance(value, Estimate) else Fraction(value)


def bootstrap(
    base: Column, candidate: Column, value: Callable[[Column], Value], level: float
) -> Answer:
    """Percentiles over resampled tasks, and the p of exchanging the sides within tasks.

    For what jumps where a task is left out, such as a median. Both columns have the same tasks.
    """
    names = base.names
    n = len(names)
    if n < 2:
        return Answer("bootstrap", Difference(), n, reason=ONE_TASK)
    ours, theirs = (list(side.by_task.values()) for side in (base, candidate))
    looks = max(1, len(base) + len(candidate))
    draws = max(_FEWEST, min(_RESAMPLES, _MOST_WORK // 6 // looks))
    swaps = max(_FEWEST, min(_SWAPS, _MOST_WORK * 5 // 6 // looks)) | 1
    seen = _difference(ours, theirs, value)
    if seen is None:
        return Answer("bootstrap", Difference(), n, reason="no interval: the value is undefined")
    # For weight: most metrics are means.
    from random import Random

    rng = Random(0)  # noqa: S311  # statistics, not secrets
    drawn: list[float] = []
    for _ in range(draws):
        rows = rng.choices(range(n), k=n)
        again = _difference([ours[i] for i in rows], [theirs[i] for i in rows], value)
        if again is not None:
            drawn.append(again)
    drawn.sort()
    tail = (1 - level) / 2
    low, high = (exact.rounded(exact.quantile(drawn, q)) for q in (tail, 1 - tail))
    as_far = 0
    for _ in range(swaps):
        turned = rng.getrandbits(n)
        pairs = [
            (b, a) if turned >> i & 1 else (a, b)
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True))
        ]
        other = _difference([a for a, _ in pairs], [b for _, b in pairs], value)
        as_far += other is not None and abs(other) >= abs(seen)
    return Answer("bootstrap", Difference(None, low, high, (1 + as_far) / (1 + swaps)), n)


def _difference(
    base: Sequence[Sequence[Number]],
    candidate: Sequence[Sequence[Number]],
    value: Callable[[Column], Value],
) -> float | None:
    numbers = []
    for side in (base, candidate):
        rows = [reward for task in side for reward in task]
        tasks = [f"{i:09}" for i, task in enumerate(side) for _ in task]
        numbers.append(number_of(value(Column(rows, tasks))))
    before, after = numbers
    return None if isinstance(before, str) or isinstance(after, str) else float(after - before)
