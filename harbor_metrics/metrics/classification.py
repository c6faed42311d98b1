"""Guessed classes against the true ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.estimate import Estimate, Undefined, estimate, ratio_units
from ..contract.parameters import Higher, Highers
from ..numbers import exact
from ..numbers.exact import Number
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import NO_VALUES

_Reference = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label with the true class, of which `key` is the guess.",
        examples=["f1/0"],
    ),
]
_Average = Annotated[
    Literal["binary", "macro", "micro", "weighted", "none"],
    Meta(
        description="Of class 1 (`binary`), the mean of all classes (`macro`), their mean weighted "
        "by how often each is true (`weighted`), of the trials of all classes together (`micro`), "
        "or a value for each class (`none`)."
    ),
]
_Part = Literal["f1", "precision", "recall"]
# How often a class is guessed rightly, guessed, and true.
_Times = tuple[int, int, int]
_Value = Number | Estimate | Undefined


def f1(rewards: Column, *, reference: _Reference, average: _Average = "binary") -> Highers:
    """Harmonic mean of precision and recall: of class 1, or over all classes with `average`.

    2·tp / (2·tp + fp + fn) of a class, exactly, rounded once at the end; `key` holds the guess.
    `binary` is for guesses of 0 and 1, and undefined where 1 is neither guessed nor true, where
    scikit-learn (and lm-eval) says 0. `macro` is over the classes that are guessed or true;
    `micro` is the share of right guesses. scikit-learn's `f1_score` of the same `average`.
    """
    return _averaged(rewards, reference, average, "f1")


def precision(rewards: Column, *, reference: _Reference, average: _Average = "binary") -> Highers:
    """How many of those guessed to be a class are of it: of class 1, or with `average`.

    tp / (tp + fp) of a class, exactly, rounded once at the end; `key` holds the guess. A class
    that is never guessed has none, and counts as 0 in an average, as in scikit-learn's
    `precision_score`, which says 0 of the class itself as well. `micro` is the share of right
    guesses.
    """
    return _averaged(rewards, reference, average, "precision")


def recall(rewards: Column, *, reference: _Reference, average: _Average = "binary") -> Highers:
    """How many of those that are of a class are guessed: of class 1, or with `average`.

    tp / (tp + fn) of a class, exactly, rounded once at the end; `key` holds the guess. Also called
    sensitivity and true positive rate. A class that is never true has none, and counts as 0 in an
    average, as in scikit-learn's `recall_score`; `balanced-accuracy` leaves it out. `micro` and
    `weighted` are the share of right guesses.
    """
    return _averaged(rewards, reference, average, "recall")


def balanced_accuracy(rewards: Column, *, reference: _Reference) -> Higher:
    """Share of right guesses where every true class weighs the same, however rare it is.

    The mean of the classes' recalls tp / (tp + fn), rounded once, over the classes that are true
    of a trial; `key` holds the guess. scikit-learn's `balanced_accuracy_score`. Guessing one class
    only gives 1 over the number of classes.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    counts = _counts(rewards.pairs(reference))
    recalls = [_ratio(times, "recall") for times in counts.values() if times[2]]
    return _mean(recalls, [1] * len(recalls))


def matthews_corrcoef(rewards: Column, *, reference: _Reference) -> Higher:
    """Correlation of guessed and true classes, of any number of classes.

    (c·s - Σ p·t) / sqrt((s² - Σ p²)(s² - Σ t²)) for s trials, c right guesses, and p guesses and
    t truths of each class (Gorodkin 2004); `key` holds the guess. Undefined where all guesses or
    all truths are one class, and scikit-learn (and lm-eval) says 0.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    counts = _counts(rewards.pairs(reference)).values()
    s = len(rewards)
    right = sum(hits for hits, _, _ in counts)
    top = right * s - sum(guessed * true for _, guessed, true in counts)
    spread = s * s - sum(guessed * guessed for _, guessed, _ in counts)
    spread *= s * s - sum(true * true for _, _, true in counts)
    if not spread:
        return Undefined("undefined ratio: all guesses or all truths are one class", elsewhere=0.0)
    value = exact.root(top * top, spread)
    assert value is not None  # a correlation is at most 1
    return value if top >= 0 else -value


def _same(a: Number, b: Number) -> bool:
    return a == b


def _averaged(
    rewards: Column, reference: str, average: _Average, part: _Part
) -> _Value | dict[str, _Value]:
    if not len(rewards):
        return Undefined(NO_VALUES)
    if average == "micro":
        truths = rewards.numbers(reference)
        right = list(map(int, map(_same, truths, rewards.values)))
        return estimate(ratio_units(rewards, right, None, 1, bounds=Range.BINARY))
    counts = _counts(rewards.pairs(reference))
    if average == "binary":
        if counts.keys() <= {0, 1}:
            return _of_class(rewards, reference, 1, counts.get(1, (0, 0, 0)), part)
        listed = ", ".join(label_text(value) for value in sorted(counts)[:5])
        return Undefined(
            f"undefined: {part} is for the classes 0 and 1, and here are {listed} "
            "(`average` takes others)"
        )
    if average == "none":
        return {
            label_text(value): _of_class(rewards, reference, value, counts[value], part)
            for value in sorted(counts)
        }
    weights = [true if average == "weighted" else 1 for _, _, true in counts.values()]
    return _mean([_ratio(times, part) for times in counts.values()], weights)


def _counts(pairs: Counter[tuple[Number, Number]]) -> dict[Number, _Times]:
    """Of each class that is guessed or true, how often it is guessed rightly, guessed, and true."""
    guessed: Counter[Number] = Counter()
    true: Counter[Number] = Counter()
    for (truth, guess), times in pairs.items():
        guessed[guess] += times
        true[truth] += times
    return {value: (pairs[value, value], guessed[value], true[value]) for value in guessed | true}


def _ratio(times: _Times, part: _Part) -> tuple[int, int]:
    hits, guessed, true = times
    if part == "f1":
        return 2 * hits, guessed + true
    return hits, guessed if part == "precision" else true


def _of_class(rewards: Column, reference: str, value: Number, times: _Times, part: _Part) -> _Value:
    top, bottom = _ratio(times, part)
    if not bottom:
        why = {"f1": "neither guessed nor true", "precision": "never guessed"}
        return Undefined(
            f"undefined ratio: class {label_text(value)} is {why.get(part, 'never true')}",
            elsewhere=0.0,
        )
    if part == "f1":
        return top / bottom
    # The share of right guesses among some trials is a mean, and so has an error bar.
    truths = rewards.numbers(reference)
    among = rewards.values if part == "precision" else truths
    rows = [row for row, other in enumerate(among) if other == value]
    right = [int(rewards.values[row] == truths[row]) for row in rows]
    column = rewards.picked(rows, [rewards.tasks[row] for row in rows])
    return estimate(ratio_units(column, right, None, 1, bounds=Range.BINARY), n=len(rows))


def _mean(ratios: Sequence[tuple[int, int]], weights: Sequence[int]) -> _Value:
    """The mean of ratios, of which one over 0 counts as 0."""
    total = Fraction(0)
    for (top, bottom), weight in zip(ratios, weights, strict=True):
        total += Fraction(weight * top, bottom) if bottom else 0
    return float(total / sum(weights))
