"""Loglikelihoods of texts: how surprised a model is."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined, estimate, ratio_units, units
from ..contract.parameters import Higher, Lower, Weight
from ..numbers import exact
from ..trials.column import Column
from .moments import BEYOND, NO_VALUES

_Per = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(
        description="The reward key or label that each loglikelihood is divided by, such as its "
        "number of tokens.",
    ),
]
_Likelihoods = Annotated[
    str,
    Meta(
        min_length=1,
        description="What the reward keys of all answers begin with: `ll` for `ll/0`, `ll/1`, ….",
        examples=["ll"],
    ),
]


def likelihood(rewards: Column, *, likelihoods: _Likelihoods) -> Higher:
    """Average loglikelihood of the right answer, among those of all answers.

    Over trials the mean of the loglikelihood at the place that `key` holds, counted from 0, rounded
    once. lm-eval 0.5's `likelihood`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    values = []
    for place, trial in zip(rewards.values, rewards.of_trials("likelihood"), strict=True):
        value = (trial.rewards or {}).get(f"{likelihoods}/{place}")
        if value is None:
            who = trial.trial or trial.task
            return Undefined(f"{who} has no reward `{likelihoods}/{place}`")
        values.append(value)
    integers, scale = exact.scaled(values)
    return estimate(ratio_units(rewards, integers, None, scale), n=len(rewards))


def perplexity(rewards: Column, *, per: _Per = None) -> Lower:
    """Exponential of the negative mean loglikelihood.

    exp(-Σ ll / n) over rewards that are loglikelihoods, with `per` each of them a unit of its own
    text. Undefined where it is beyond binary64, and lm-eval's `perplexity` raises. It has no
    closed-form error: see `bootstrap-stderr`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    if per is not None:
        sizes = rewards.numbers(per)
        if min(sizes) <= 0:
            return Undefined(f"undefined ratio: a `{per}` is {min(sizes)}")
        try:
            shares = [value / size for value, size in zip(rewards.values, sizes, strict=True)]
            return _exp(-math.fsum(shares) / len(shares))
        except OverflowError:
            return Undefined(BEYOND)
    return _exp(exact.rounded(-units(rewards).mean))


def weighted_perplexity(rewards: Column, *, weight: Weight) -> Lower:
    """Perplexity of a unit, such as a word or byte: loglikelihoods over how many units they cover.

    exp(-Σ ll / Σ n), where `key` holds the loglikelihood and `weight` the number of words or bytes.
    lm-eval's `weighted_perplexity`, of word_perplexity and byte_perplexity.
    """
    mean = _per_unit(rewards, weight)
    return mean if isinstance(mean, Undefined) else _exp(-mean)


def bits_per_byte(rewards: Column, *, weight: Weight) -> Lower:
    """Bits that a byte takes: loglikelihoods over bytes, to the base of 2.

    -(Σ ll / Σ bytes) / ln 2, where `key` holds the loglikelihood and `weight` the number of bytes.
    """
    mean = _per_unit(rewards, weight)
    return mean if isinstance(mean, Undefined) else -mean / math.log(2)


def _per_unit(rewards: Column, weight: str) -> float | Undefined:
    if not len(rewards):
        return Undefined(NO_VALUES)
    top, bottom = rewards.scaled, exact.scaled(rewards.numbers(weight))
    if sum(bottom.integers) <= 0:
        return Undefined(f"undefined ratio: `{weight}` adds up to {sum(bottom.integers)}")
    mean = exact.ratio(sum(top.integers) * bottom.scale, sum(bottom.integers) * top.scale)
    return Undefined(BEYOND) if mean is None else mean


def _exp(power: float | None) -> float | Undefined:
    if power is None:
        return Undefined(BEYOND)
    try:
        return math.exp(power)
    except OverflowError:
        return Undefined(f"beyond the largest binary64 number: the exponential of {power:.6g}")
