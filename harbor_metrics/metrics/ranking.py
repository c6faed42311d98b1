"""Whether higher scores go to what is right."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.parameters import Higher
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import NO_VALUES

_Reference = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label that is 1 where a trial is right, else 0; `key` holds "
        "the score.",
        examples=["correct"],
    ),
]
# Bits of a quotient in a sum: what is cut off of thousands of them is below the last bit of 53.
_BITS = 160
# Score -> how many of the trials with it are 0, and how many are 1.
_Steps = list[tuple[Number, tuple[int, int]]]


def auroc(rewards: Column, *, reference: _Reference) -> Higher:
    """Chance that a right trial has a higher score than a wrong one; 0.5 is guessing (ROC AUC).

    P(score of a 1 > score of a 0) + P(they are equal) / 2 over all pairs (Fawcett 2006; the
    statistic of Mann and Whitney over the number of pairs), exactly, rounded once. Of a model's
    confidence: whether it knows what it knows, however honest the numbers themselves are (see
    `calibration-error`). scikit-learn's `roc_auc_score`. Undefined where all trials are of a class.
    """
    steps = _steps(rewards, reference)
    if isinstance(steps, Undefined):
        return steps
    wins = below = ones = 0
    for _, (zeros_here, ones_here) in steps:
        wins += ones_here * (2 * below + zeros_here)
        below += zeros_here
        ones += ones_here
    if not below or not ones:
        return Undefined(f"undefined: every `{reference}` is {1 if ones else 0}")
    return wins / (2 * below * ones)


def average_precision(rewards: Column, *, reference: _Reference) -> Higher:
    """Share that is right among the highest scores, averaged over how many are taken (PR AUC).

    Σ (R_i - R_(i-1)) · P_i, where from the highest score down R_i of all right trials and P_i of
    those taken are right; equal scores are taken together. Not interpolated, as scikit-learn's
    `average_precision_score`, which says 0 where no trial is right, and here it is undefined.
    """
    steps = _steps(rewards, reference)
    if isinstance(steps, Undefined):
        return steps
    area = taken = right = 0
    for _, (zeros_here, ones_here) in reversed(steps):
        taken += zeros_here + ones_here
        right += ones_here
        area += (ones_here * right << _BITS) // taken
    if not right:
        return Undefined(f"undefined ratio: every `{reference}` is 0", elsewhere=0.0)
    return area / (right << _BITS)


def _steps(rewards: Column, reference: str) -> _Steps | Undefined:
    """From the lowest score up, how many trials have it, of either class."""
    if not len(rewards):
        return Undefined(NO_VALUES)
    pairs = Counter(zip(rewards.values, rewards.numbers(reference), strict=True))
    others = sorted({true for _, true in pairs} - {0, 1})
    if others:
        return Undefined(
            f"undefined: a `{reference}` is 0 or 1, and here is {label_text(others[0])}"
        )
    scores = sorted({score for score, _ in pairs})
    return [(score, (pairs[score, 0], pairs[score, 1])) for score in scores]
