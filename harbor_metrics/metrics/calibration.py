"""Whether confidence is honest: forecasts against what came true."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.estimate import Undefined, estimate, ratio_units
from ..contract.parameters import Lower
from ..numbers import exact
from ..numbers.exact import Number
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import NO_VALUES

_Confidence = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label with the probability, as forecast, that `key` is 1.",
        examples=["confidence"],
    ),
]
_Bins = Annotated[
    int, Meta(ge=1, le=1_000_000, description="Into how many bins confidences are put.")
]
_Norm = Annotated[
    Literal[1, 2, "max"],
    Meta(
        description="Gaps of the bins as their mean (1), the root of their mean square (2), each "
        "weighted by its trials, or the widest of them (`max`)."
    ),
]
_Equal = Annotated[
    Literal["width", "mass"],
    Meta(description="Bins as wide as each other, or with as many trials as each other."),
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


def calibration_error(
    rewards: Column,
    *,
    confidence: _Confidence,
    bins: _Bins = 10,
    norm: _Norm = 1,
    equal: _Equal = "width",
) -> Lower:
    """Whether confidence is honest: its distance from the share that is right (ECE).

    Σ over bins n_b/n · |mean reward - mean confidence| of the trials whose confidences are near
    each other (Guo et al. 2017), rounded once; `norm` 2 is the root of the mean square, `max` the
    widest gap (MCE). A bin of equal width is (low, high], with 0 in the first one, and ends of bins
    are rounded as confidences are: 0.3 is in the third of ten. Of equal `mass` the first bins take
    one trial more where n does not divide, and equal confidences share the lower bin, as in HELM's
    uncertainty-calibration, whose `get_ece` and `get_ece_em` with `debias` false these are. A bin
    without trials counts for nothing. Few trials in a bin make the value too large.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    confidences = rewards.numbers(confidence)
    if any(not 0 <= value <= 1 for value in confidences):
        return Undefined(f"undefined: a `{confidence}` is outside 0 to 1")
    if any(not 0 <= value <= 1 for value in rewards.values):
        return Undefined("undefined: a reward is outside 0 to 1")
    (right, scale), (sure, of_sure) = rewards.scaled, exact.scaled(confidences)
    # Of each bin, how many trials, and their rewards less their confidences.
    sizes: dict[int, int] = {}
    gaps: dict[int, int] = {}
    places = _by_width(confidences, bins) if equal == "width" else _by_mass(confidences, bins)
    for place, reward, probability in zip(places, right, sure, strict=True):
        sizes[place] = sizes.get(place, 0) + 1
        gaps[place] = gaps.get(place, 0) + reward * of_sure - probability * scale
    whole = len(rewards) * scale * of_sure
    if norm == 1:
        return sum(map(abs, gaps.values())) / whole
    if norm == "max":
        widest = max(Fraction(abs(gap), sizes[place]) for place, gap in gaps.items())
        return float(widest / (scale * of_sure))
    squares = sum((Fraction(gap * gap, sizes[place]) for place, gap in gaps.items()), Fraction(0))
    squares *= Fraction(len(rewards), whole * whole)
    value = exact.root(squares.numerator, squares.denominator)
    assert value is not None  # no gap is above 1
    return value


def _by_width(confidences: Sequence[Number], bins: int) -> list[int]:
    """The number of the bin (low, high] of each."""
    ends = range(1, bins)
    places = {
        value: bisect_left(ends, value, key=lambda end: end / bins) for value in set(confidences)
    }
    return [places[value] for value in confidences]


def _by_mass(confidences: Sequence[Number], bins: int) -> list[int]:
    """The number of the bin of each, where the bins have as many as each other."""
    ordered = sorted(confidences)
    bins = min(bins, len(ordered))
    size, more = divmod(len(ordered), bins)
    last = [ordered[(i + 1) * size + min(i + 1, more) - 1] for i in range(bins - 1)]
    return [bisect_left(last, value) for value in confidences]


def brier_score(rewards: Column, *, probabilities: _Probabilities) -> Lower:
    """Mean squared distance of forecast probabilities from what came true.

    Over trials the mean of Σ over classes (p - [true])², rounded once, where `key` holds the true
    class, counted from 0 (Brier 1950, as lm-eval has it); of one probability, that of class 1,
    (p - y)².
    """
    if not len(rewards):
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
    # Of one probability at most 1; of several classes at most 2.
    bounds = Range.SHARE if len(rows[0]) == 1 else Range.POSITIVE
    units = ratio_units(rewards, losses, None, scale * scale, bounds=bounds)
    return estimate(units, n=len(rewards))


def _forecasts(rewards: Column, name: str) -> list[list[Number]] | Undefined:
    """The probabilities of each trial, checked."""
    rows: list[list[Number]] = []
    for true, trial in zip(rewards.values, rewards.of_trials("brier-score"), strict=True):
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
            return Undefined(f"undefined: class {label_text(true)} of {who} has no probability")
        rows.append(row)
    return rows
