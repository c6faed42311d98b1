"""Loglikelihoods of texts: how surprised a model is."""

from __future__ import annotations

import math

from ..contract.estimate import Undefined, units
from ..contract.parameters import Lower, Weight
from ..numbers import exact
from ..trials.column import Column
from .moments import BEYOND, NO_VALUES


def perplexity(rewards: Column) -> Lower:
    """Exponential of the negative mean loglikelihood.

    exp(-Σ ll / n) over rewards that are loglikelihoods. Undefined where it is beyond binary64, and
    lm-eval's `perplexity` raises. It has no closed-form error: see `bootstrap-stderr`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
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
