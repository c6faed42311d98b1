"""What metrics of k attempts share: a value for each k, the mean over tasks, too few attempts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from ..numbers.units import Range, Tasks, Units
from ..trials.column import Column
from .estimate import Estimate, Undefined, estimate
from .parameters import Highers, Ks

_Kind = TypeVar("_Kind")


def for_each_k(k: Ks, value: Callable[[int], Estimate | Undefined]) -> Highers:
    """The value of the only k, or by name those of several."""
    if isinstance(k, int):
        return value(k)
    return {str(size): value(size) for size in k}


def mean_of_tasks(
    rewards: Column,
    times: Counter[_Kind],
    values: Mapping[_Kind, Fraction],
    kinds: Callable[[], Iterable[_Kind]],
    bounds: Range = Range.SHARE,
) -> Estimate | Undefined:
    """The mean over tasks, from how many there are of each kind and the value of each kind.

    `kinds` finds the kind of each task, in order, for who asks for them one by one. `bounds` is
    the range of every value: chances and shares lie between 0 and 1.
    """
    scale = math.lcm(*{value.denominator for value in values.values()})
    wholes = {k: v.numerator * (scale // v.denominator) for k, v in values.items()}

    def tasks() -> Tasks:
        return Tasks(rewards.names, [wholes[kind] for kind in kinds()], None, scale)

    numerators = [wholes[kind] for kind in times]
    units = Units(numerators, None, scale, list(times.values()), bounds, tasks=tasks)
    return estimate(units, n=rewards.n_tasks, notes=unequal(rewards))


def too_few(rewards: Column, k: int, what: str | None = None) -> Undefined | None:
    """Why k attempts at each task cannot be looked at (by `what`); None where they can.

    Where a k was asked for, with the largest that can be.
    """
    short = shortage(rewards, k, what)
    if short is None:
        return None
    most = "" if what else f"; k={min(rewards.sizes_tally)} is the most that all tasks allow"
    return Undefined(f"{short}{most}")


def shortage(rewards: Column, k: int, what: str | None = None) -> str | None:
    """How many tasks have fewer attempts than k (or `what`) needs; None where none has."""
    shorter = rewards.shorter(k)
    if shorter is None:
        return None
    short, task, size = shorter
    return (
        f"{what or f'k={k}'} needs {k} attempts at each task, and {short} of {rewards.n_tasks} "
        f"have fewer: {task} has {size}"
    )


def unequal(rewards: Column) -> tuple[str, ...]:
    """A note where tasks have different numbers of attempts."""
    fewest, most = min(rewards.sizes_tally), max(rewards.sizes_tally)
    if fewest == most:
        return ()
    return (f"tasks have {fewest} to {most} attempts: the value is taken task by task",)
