"""Totals, averages and spread of rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import gt, mul
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Estimate, Undefined, estimate, ratio_units, units
from ..contract.parameters import Attempts, Higher, Weight
from ..errors import MetricFailure
from ..numbers import exact
from ..numbers.exact import Number
from ..numbers.units import Range, Stratum
from ..trials.column import Column
from ..trials.labelled import as_number

BEYOND = "the value is beyond the largest binary64 number"
NO_VALUES = "no rewards are left to aggregate"
_End = Annotated[
    Annotated[str, Meta(min_length=1)] | float,
    Meta(
        description="A score of the task: a number, or the label or reward key that holds it.",
        examples=["human_score"],
    ),
]
_Clip = Annotated[bool, Meta(description="Below `low` is 0 and above `high` 1.")]
_SINGLE = "undefined for a single reward"


def sum(rewards: Column) -> Estimate | Undefined:
    """Sum of the rewards.

    Rounded once, so it does not depend on the order of the trials. An integer where all rewards
    are integers. Harbor's own answer depends on the order of the trials where integers other
    than 0 and floats mix in one key; here it never does.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    value = rewards.total
    if value is None:
        return Undefined(BEYOND)
    return Estimate(value=value, unrounded=lambda: exact.add_up(rewards.values))


def mean(rewards: Column) -> Estimate | Undefined:
    """Average of the rewards: their sum divided by how many there are.

    The sum is rounded once, so the mean does not depend on the order of the trials. A trial
    without the reward counts as 0 unless `missing` says otherwise. Harbor's own answer depends on
    the order of the trials where integers other than 0 and floats mix in one key; here it never
    does. Where no trial at all has a reward Harbor says 0.0, and here it is undefined. Tasks with
    more attempts weigh more; `mean-reward` weighs all tasks the same.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    value = _mean(rewards)
    if value is None:
        return Undefined(BEYOND)
    return Estimate(value=value, later=lambda: (Stratum(Fraction(1), units(rewards)),))


def _mean(rewards: Column) -> Number | None:
    """The sum divided by n, as Harbor divides; from exact arithmetic where the sum overflows."""
    amount = rewards.total
    try:
        if amount is not None:
            return amount / len(rewards)
    except OverflowError:
        pass
    return exact.rounded(units(rewards).mean)


def accuracy(rewards: Column) -> Higher:
    """Share of what could be had: the average of rewards between 0 and 1, rounded once.

    The exact sum divided by n, in one rounding. Inspect's `accuracy` and `mean` add one after the
    other or in pairs and differ in the last digits; Inspect leaves trials without a score out
    (`missing`: `skip`) and averages over tasks (`reducer`: `mean`), as `inspect/accuracy` does.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    return estimate(units(rewards))


def mean_reward(rewards: Attempts) -> Estimate | Undefined:
    """Average over tasks of the average over a task's attempts (macro), rounded once.

    Every task weighs the same, however many attempts it has; in `mean` attempts do. evsys's
    `mean_reward`, without its roundings.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    whole = units(rewards)
    # Of tasks of one size it is the mean of all attempts.
    alike = len(rewards.sizes_tally) == 1
    return estimate(whole if alike else whole.averaged, n=rewards.n_tasks)


def normalized_mean(rewards: Column, *, high: _End, low: _End = 0.0, clip: _Clip = False) -> Higher:
    """Average of rewards on each task's own scale: 0 at its `low` score, 1 at its `high` score.

    The mean of (reward - low) / (high - low), each rounded once and then their mean; `high` may lie
    below `low` where smaller scores are better. What MLE-bench, RE-Bench and HELM call normalized.
    Undefined where `low` and `high` are equal. Tasks with more attempts weigh more; with `reducer`
    `mean` all tasks weigh the same.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    lows, highs = _ends(rewards, low), _ends(rewards, high)
    shares: list[float] = []
    for row, (value, bottom, top) in enumerate(zip(rewards.values, lows, highs, strict=True)):
        if top == bottom:
            return Undefined(f"undefined ratio: low and high of {rewards.tasks[row]} are equal")
        share = (Fraction(value) - Fraction(bottom)) / (Fraction(top) - Fraction(bottom))
        rounded = exact.rounded(min(max(share, Fraction(0)), Fraction(1)) if clip else share)
        if rounded is None:
            return Undefined(BEYOND)
        shares.append(rounded)
    integers, scale = exact.scaled(shares)
    bounds = Range.SHARE if clip else Range.of(shares)
    return estimate(ratio_units(rewards, integers, None, scale, bounds=bounds), n=len(rewards))


def _ends(rewards: Column, end: str | float) -> Sequence[Number]:
    if not isinstance(end, str):
        return [end] * len(rewards)
    if rewards.attempts is None:
        return rewards.numbers(end)
    numbers = [as_number(label) for label in rewards.label(end)]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        raise MetricFailure("missing-label", f"a label `{end}` is no number")
    return known


def weighted_mean(rewards: Column, *, weight: Weight) -> Estimate | Undefined:
    """Average of the rewards, each weighted by another reward key or a label of its trial.

    Σ weight·reward / Σ weight, rounded once. Over a `key` that is a share, such as passed / total,
    weighted by `total`, it is the micro average; over counts use `micro-average`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    top, weights = rewards.scaled, exact.scaled(rewards.numbers(weight))
    numerators = list(map(mul, top.integers, weights.integers))
    return _ratio(rewards, numerators, weights.integers, top.scale, weight)


def micro_average(rewards: Column, *, weight: Weight) -> Estimate | Undefined:
    """Ratio of sums: the rewards of `key` over those of another key or label.

    Σ reward / Σ weight, rounded once: with `key` `passed` and `weight` `total` the share of all
    tests that passed, where `mean` of the shares would weigh every trial the same.
    """
    if not len(rewards):
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
    if any(weight < 0 for weight in denominators):
        return Undefined(f"undefined: a `{weight}` is negative")
    if not any(denominators):
        return Undefined(f"undefined ratio: `{weight}` adds up to 0")
    # A row that adds to neither sum says nothing, and is not a unit either.
    kept = [i for i, pair in enumerate(zip(numerators, denominators, strict=True)) if any(pair)]
    if len(kept) < len(denominators):
        rewards = rewards.picked(kept, [rewards.tasks[i] for i in kept])
        numerators = [numerators[i] for i in kept]
        denominators = [denominators[i] for i in kept]
    bounds = _range(numerators, denominators, scale)
    if len(set(denominators)) == 1:
        # Of equal weights it is the mean.
        scale *= denominators[0]
        return estimate(
            ratio_units(rewards, numerators, None, scale, bounds=bounds), n=len(rewards)
        )
    # A weight is not a number of rewards of 0 and 1.
    bounds = max(bounds, Range.SHARE)
    return estimate(
        ratio_units(rewards, numerators, denominators, scale, bounds=bounds), n=len(rewards)
    )


def _range(numerators: Sequence[int], denominators: Sequence[int], scale: int) -> Range:
    """What every single ratio can be."""
    if min(numerators) < 0:
        return Range.ANY
    ones = [scale * d for d in denominators]
    if any(map(gt, numerators, ones)):
        return Range.POSITIVE
    binary = all(n in (0, one) for n, one in zip(numerators, ones, strict=True))
    return Range.BINARY if binary else Range.SHARE


def var(rewards: Column) -> Number | Undefined:
    """Sample variance: squared distances from the mean over n - 1, rounded once.

    Undefined for one reward, where Inspect says 0.
    """
    if len(rewards) < 2:
        return Undefined(_SINGLE if len(rewards) else NO_VALUES)
    value = exact.rounded(_variance(rewards))
    return Undefined(BEYOND) if value is None else value


def std(rewards: Column) -> Number | Undefined:
    """Sample standard deviation: the root of `var`, rounded once.

    Undefined for one reward, where Inspect says 0.
    """
    if len(rewards) < 2:
        return Undefined(_SINGLE if len(rewards) else NO_VALUES)
    variance = _variance(rewards)
    value = exact.root(variance.numerator, variance.denominator)
    return Undefined(BEYOND) if value is None else value


def _variance(rewards: Column) -> Fraction:
    """The squared standard error of independent rewards is their variance over n."""
    return units(rewards, cluster=None).variance * len(rewards)
