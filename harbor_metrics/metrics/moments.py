"""Totals, averages and spread of rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from .. import exact
from ..column import Column
from ..estimate import Estimate, Stratum, Undefined, Units, estimate, ratio_units, units
from ..exact import Number
from ..parameters import Attempts, Higher, Weight

BEYOND = "the value is beyond the largest binary64 number"
NO_VALUES = "no rewards are left to aggregate"
_SINGLE = "undefined for a single reward"


def sum(rewards: Column) -> Number | Undefined:
    """Sum of the rewards.

    Rounded once, so it does not depend on the order of the trials. An integer where all rewards
    are integers. Harbor's own answer depends on the order of the trials where integers other
    than 0 and floats mix in one key; here it never does.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    value = exact.total(rewards.values)
    return Undefined(BEYOND) if value is None else value


def mean(rewards: Column) -> Estimate | Undefined:
    """Average of the rewards: their sum divided by how many there are.

    The sum is rounded once, so the mean does not depend on the order of the trials. A trial
    without the reward counts as 0 unless `missing` says otherwise. Harbor's own answer depends on
    the order of the trials where integers other than 0 and floats mix in one key; here it never
    does. Where no trial at all has a reward Harbor says 0.0, and here it is undefined. Tasks with
    more attempts weigh more; `mean-reward` weighs all tasks the same.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    value = exact.mean(rewards.values)
    if value is None:
        return Undefined(BEYOND)
    return Estimate(value=value, later=lambda: (Stratum(Fraction(1), units(rewards)),))


def accuracy(rewards: Column) -> Higher:
    """Share of what could be had: the average of rewards between 0 and 1, rounded once.

    The exact sum divided by n, in one rounding. Inspect's `accuracy` and `mean` add one after the
    other or in pairs and differ in the last digits; Inspect leaves trials without a score out
    (`missing`: `skip`) and averages over tasks (`reducer`: `mean`), as `inspect/accuracy` does.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    return estimate(units(rewards))


def mean_reward(rewards: Attempts) -> Estimate | Undefined:
    """Average over tasks of the average over a task's attempts (macro), rounded once.

    Every task weighs the same, however many attempts it has; in `mean` attempts do. evsys's
    `mean_reward`, without its roundings.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    whole = units(rewards)
    return estimate(whole if whole.single else _averaged(whole), n=rewards.n_tasks)


def _averaged(tasks: Units) -> Units:
    """Every task with a numerator that is its mean, over a common denominator."""
    sizes = tasks.denominators or ()
    common = math.lcm(*set(sizes))
    numerators = [n * (common // d) for n, d in zip(tasks.numerators, sizes, strict=True)]
    return Units(numerators, None, tasks.scale * common, tasks.times)


def weighted_mean(rewards: Column, *, weight: Weight) -> Estimate | Undefined:
    """Average of the rewards, each weighted by another reward key or a label of its trial.

    Σ weight·reward / Σ weight, rounded once. Over a `key` that is a share, such as passed / total,
    weighted by `total`, it is the micro average; over counts use `micro-average`.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    top, weights = rewards.scaled, exact.scaled(rewards.numbers(weight))
    numerators = list(map(mul, top.integers, weights.integers))
    return _ratio(rewards, numerators, weights.integers, top.scale, weight)


def micro_average(rewards: Column, *, weight: Weight) -> Estimate | Undefined:
    """Ratio of sums: the rewards of `key` over those of another key or label.

    Σ reward / Σ weight, rounded once: with `key` `passed` and `weight` `total` the share of all
    tests that passed, where `mean` of the shares would weigh every trial the same.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    top, bottom = rewards.scaled, exact.scaled(rewards.numbers(weight))
    scale = math.lcm(top.scale, bottom.scale)
    numerators = [n * (scale // top.scale) for n in top.integers]
    denominators = [d * (scale // bottom.scale) for d in bottom.integers]
    return _ratio(rewards, numerators, denominators, 1, weight)


def _ratio(
    rewards: Column,
    numerators: Sequence[int],
    denominators: Sequence[int],
    scale: int,
    weight: str,
) -> Estimate | Undefined:
    if any(each < 0 for each in denominators):
        return Undefined(f"undefined: a `{weight}` is negative")
    if not any(denominators):
        return Undefined(f"undefined ratio: `{weight}` adds up to 0")
    # What has no weight says nothing, and is no unit either.
    kept = [i for i, each in enumerate(denominators) if each]
    if len(kept) < len(denominators):
        rewards = rewards.picked(kept, [rewards.tasks[i] for i in kept])
        numerators = [numerators[i] for i in kept]
        denominators = [denominators[i] for i in kept]
    units_ = ratio_units(rewards, numerators, denominators, scale)
    return estimate(units_.reduced(), n=len(rewards))


def var(rewards: Column) -> Number | Undefined:
    """Sample variance: squared distances from the mean over n - 1, rounded once.

    Undefined for one reward, where Inspect says 0.
    """
    if len(rewards) < 2:
        return Undefined(NO_VALUES if not rewards.values else _SINGLE)
    value = exact.rounded(_variance(rewards))
    return Undefined(BEYOND) if value is None else value


def std(rewards: Column) -> Number | Undefined:
    """Sample standard deviation: the root of `var`, rounded once.

    Undefined for one reward, where Inspect says 0.
    """
    if len(rewards) < 2:
        return Undefined(NO_VALUES if not rewards.values else _SINGLE)
    variance = _variance(rewards)
    value = exact.root(variance.numerator, variance.denominator)
    return Undefined(BEYOND) if value is None else value


def _variance(rewards: Column) -> Fraction:
    """The squared standard error of independent rewards is their variance over n."""
    return units(rewards, cluster=None).variance * len(rewards)
