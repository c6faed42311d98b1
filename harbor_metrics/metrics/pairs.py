"""Two rewards of each trial, or a loglikelihood."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from .. import exact
from ..column import Column
from ..estimate import Estimate, Undefined, estimate, ratio_units
from ..exact import Number
from ..parameters import Higher, Lower, Weight
from .moments import BEYOND, NO_VALUES

_Reference = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label with the true class, of which `key` is the guess.",
        examples=["f1/0"],
    ),
]
_Probabilities = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key with the probability that `key` is 1, or what the keys of all "
        "classes begin with: `p` for `p/0`, `p/1`, ….",
        examples=["p"],
    ),
]


def perplexity(rewards: Column) -> Lower:
    """Exponential of the negative mean loglikelihood.

    exp(-Σ ll / n) over rewards that are loglikelihoods. Undefined where it is beyond binary64, and
    lm-eval's `perplexity` raises. It has no closed-form error: see `bootstrap-stderr`.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    integers, scale = rewards.scaled
    return _exp(exact.ratio(-sum(integers), len(integers) * scale))


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
    if not rewards.values:
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


def f1(rewards: Column, *, reference: _Reference) -> Higher:
    """Harmonic mean of precision and recall of class 1, for guesses of 0 and 1.

    2·tp / (2·tp + fp + fn), rounded once, where `key` holds the guess. Undefined where 1 is
    neither guessed nor true, and scikit-learn (and lm-eval) says 0; and for other classes than two.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    pairs = Counter(zip(rewards.numbers(reference), rewards.values, strict=True))
    classes = {each for pair in pairs for each in pair}
    if not classes <= {0, 1}:
        listed = ", ".join(f"{each:g}" for each in sorted(classes)[:5])
        return Undefined(f"undefined: f1 is for the classes 0 and 1, and here are {listed}")
    wrong = pairs[0, 1] + pairs[1, 0]
    if not pairs[1, 1] and not wrong:
        return Undefined("undefined ratio: class 1 is neither guessed nor true", elsewhere=0.0)
    return 2 * pairs[1, 1] / (2 * pairs[1, 1] + wrong)


def matthews_corrcoef(rewards: Column, *, reference: _Reference) -> Higher:
    """Correlation of guessed and true classes, of any number of classes.

    (c·s - Σ p·t) / sqrt((s² - Σ p²)(s² - Σ t²)) for s trials, c right guesses, and p guesses and
    t truths of each class (Gorodkin 2004); `key` holds the guess. Undefined where all guesses or
    all truths are one class, and scikit-learn (and lm-eval) says 0.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    truths = rewards.numbers(reference)
    s = len(truths)
    right = sum(map(bool, map(_same, truths, rewards.values)))
    guessed, true = Counter(rewards.values), Counter(truths)
    top = right * s - sum(times * true[each] for each, times in guessed.items())
    spread = (s * s - _squares(guessed)) * (s * s - _squares(true))
    if not spread:
        return Undefined("undefined ratio: all guesses or all truths are one class", elsewhere=0.0)
    value = exact.root(top * top, spread)
    assert value is not None  # a correlation is at most 1
    return math.copysign(value, top)


def _same(a: Number, b: Number) -> bool:
    return a == b


def _squares(counts: Counter[Number]) -> int:
    return sum(times * times for times in counts.values())


def brier_score(rewards: Column, *, probabilities: _Probabilities) -> Lower:
    """Mean squared distance of forecast probabilities from what came true.

    Over trials the mean of Σ over classes (p - [true])², rounded once, where `key` holds the true
    class, counted from 0 (Brier 1950, as lm-eval has it); of one probability, that of class 1,
    (p - y)².
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    rows = _forecasts(rewards, probabilities)
    if isinstance(rows, Undefined):
        return rows
    integers, scale = exact.scaled([p for row in rows for p in row])
    losses: list[int] = []
    start = 0
    for true, row in zip(rewards.values, rows, strict=True):
        part = integers[start : start + len(row)]
        start += len(row)
        hits = [scale * true] if len(row) == 1 else [scale * (c == true) for c in range(len(row))]
        losses.append(sum((p - int(hit)) ** 2 for p, hit in zip(part, hits, strict=True)))
    return _mean(rewards, losses, scale * scale)


def _forecasts(rewards: Column, name: str) -> list[list[Number]] | Undefined:
    """The probabilities of each trial, checked."""
    rows: list[list[Number]] = []
    for true, trial in zip(rewards.values, rewards.trials, strict=True):
        known = trial.rewards or {}
        row = [known[name]] if name in known else []
        while name not in known and f"{name}/{len(row)}" in known:
            row.append(known[f"{name}/{len(row)}"])
        who = trial.trial or trial.task
        if not row:
            return Undefined(f"{who} has neither a reward `{name}` nor `{name}/0`")
        if name not in known and len(row) < 2:
            return Undefined(f"undefined: {who} has `{name}/0` alone, and so one class")
        if rows and len(rows[0]) != len(row):
            return Undefined(f"undefined: {who} has another number of classes than the first trial")
        if any(not 0 <= p <= 1 for p in row):
            return Undefined(f"undefined: {who} has a probability outside 0 to 1")
        if true not in range(max(2, len(row))):
            return Undefined(f"undefined: class {true:g} of {who} has no probability")
        rows.append(row)
    return rows


def _mean(rewards: Column, values: Sequence[int], scale: int) -> Estimate | Undefined:
    return estimate(ratio_units(rewards, values, None, scale), n=len(rewards))
