"""Whether judges agree: with people, and with each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from operator import mul
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.parameters import Higher
from ..errors import MetricFailure
from ..numbers import exact, ranks
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.labelled import as_number, label_text
from ..trials.table import Table
from ..trials.trial import Trial
from .moments import NO_VALUES

_Other = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label with what the other judge says, a person for example, "
        "where `key` is what the one judge says.",
        examples=["human"],
    ),
]
_Weights = Annotated[
    Literal["none", "linear", "quadratic"],
    Meta(
        description="Every disagreement counts the same (`none`), or by how many classes lie "
        "between (`linear`), or by the square of that (`quadratic`)."
    ),
]
_Method = Annotated[
    Literal["pearson", "spearman", "kendall"],
    Meta(description="Of the numbers themselves, of their ranks, or of pairs in order (tau-b)."),
]
_Raters = Annotated[
    Annotated[str, Meta(min_length=1)]
    | Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=2)],
    Meta(
        description="The reward keys or labels with what each rater says of a trial, or what the "
        "keys of all raters begin with: `judge` for `judge/0`, `judge/1`, ….",
        examples=[["judge_1", "judge_2"]],
    ),
]
_Level = Annotated[
    Literal["nominal", "ordinal", "interval", "ratio"],
    Meta(description="What ratings mean: classes, ranks, numbers, or numbers from a true zero on."),
]
_Rating = Number | str
# Bits of a quotient in a sum: what is cut off of thousands of them is below the last bit of 53.
_BITS = 160
# More pairs than these of ratings that differ take minutes.
_MOST_PAIRS = 10_000_000


def cohen_kappa(rewards: Column, *, reference: _Other, weights: _Weights = "none") -> Higher:
    """Whether a judge is as good as people: how far two raters agree beyond chance.

    (p_o - p_e) / (1 - p_e) for the share p_o of trials of which `key` and `reference` say the same
    and the share p_e that would by chance, from how often each says each class (Cohen 1960);
    `weights` make it 1 - Σ w·observed / Σ w·expected (Cohen 1968), over the classes that either
    says, in their order. Exact, rounded once. scikit-learn's `cohen_kappa_score`. Undefined where
    both only ever say one class. A judge is as good as people where it
    agrees with a person as far as two people do, so compute that as well. For more than two raters
    see `krippendorff-alpha`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    pairs = rewards.pairs(reference)
    first: Counter[Number] = Counter()
    second: Counter[Number] = Counter()
    for (other, value), times in pairs.items():
        first[value] += times
        second[other] += times
    classes = sorted(first.keys() | second.keys())
    place = {value: i for i, value in enumerate(classes)}

    def apart(a: Number, b: Number) -> int:
        steps: int = abs(place[a] - place[b])
        if weights == "none":
            return 1 if steps else 0
        return steps if weights == "linear" else steps * steps

    observed = sum(apart(a, b) * times for (b, a), times in pairs.items())
    often = [(first[value], second[value]) for value in classes]
    expected = _apart_by_chance(often, weights)
    if not expected:
        return Undefined("undefined ratio: both say one and the same class of every trial")
    return (expected - len(rewards) * observed) / expected


def _apart_by_chance(often: Sequence[tuple[int, int]], weights: _Weights) -> int:
    """The disagreement of every rating of one with every one of the other, by class in order.

    From sums over classes, and not over pairs of them, of which there can be very many.
    """
    if weights == "none":
        alike = sum(one * other for one, other in often)
        return sum(one for one, _ in often) * sum(other for _, other in often) - alike
    if weights == "linear":
        # Two are as far apart as there are steps between, each below one of them alone.
        below = [*accumulate(often, lambda a, b: (a[0] + b[0], a[1] + b[1]))]
        ones, others = below[-1]
        return sum(a * (others - b) + b * (ones - a) for a, b in below)
    (ones, by, squared), (others, of_other, other_squared) = (
        [sum(each[rater] * i**power for i, each in enumerate(often)) for power in range(3)]
        for rater in range(2)
    )
    apart: int = squared * others + ones * other_squared - 2 * by * of_other
    return apart


def correlation(rewards: Column, *, reference: _Other, method: _Method = "pearson") -> Higher:
    """Whether two scores of a trial rise together, such as a judge's and a person's, from -1 to 1.

    `pearson`: Σ (x - x̄)(y - ȳ) / sqrt(Σ (x - x̄)² · Σ (y - ȳ)²). `spearman`: that of ranks, which
    equal numbers share. `kendall`: tau-b, (pairs in the same order - pairs in the opposite one) /
    sqrt(pairs not tied in x · pairs not tied in y). Of exact sums, rounded once; scipy's
    `pearsonr`, `spearmanr` and `kendalltau`. Undefined where one of the two is constant. Scores
    that rise together may differ by much: agreement is what `cohen-kappa` and
    `krippendorff-alpha` measure.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    others = rewards.numbers(reference)
    if len(rewards) < 2:
        return Undefined("undefined for a single trial")
    for numbers, name in ((rewards.values, "the reward"), (others, f"`{reference}`")):
        if len(set(numbers)) == 1:
            return Undefined(f"undefined: {name} is the same in all trials")
    if method == "kendall":
        return _over_root(*ranks.order(rewards.values, others))
    if method == "spearman":
        return _pearson(ranks.doubled(rewards.values), ranks.doubled(others))
    return _pearson(rewards.scaled.integers, exact.scaled(others).integers)


def _pearson(first: Sequence[int], second: Sequence[int]) -> float:
    n = len(first)
    top = n * sum(map(mul, first, second)) - sum(first) * sum(second)
    return _over_root(top, _spread(first), _spread(second))


def _spread(values: Sequence[int]) -> int:
    whole = sum(values)
    squares: int = sum(map(mul, values, values))
    return len(values) * squares - whole * whole


def _over_root(top: int, first: int, second: int) -> float:
    value = exact.root(top * top, first * second)
    assert value is not None  # a correlation is at most 1
    return value if top >= 0 else -value


def krippendorff_alpha(trials: Table, *, raters: _Raters, level: _Level = "nominal") -> Higher:
    """Whether raters agree on the same trials beyond chance, however many they are.

    1 - D_o / D_e, the observed disagreement of two ratings of a trial over that of any two ratings
    (Krippendorff 2011), rounded once: 1 is agreement, 0 chance. Two ratings of classes disagree or
    not; those of an `interval` by (a - b)², of a `ratio` by ((a - b) / (a + b))², `ordinal` ones by
    the square of how many ratings lie between. A trial with one rating says nothing, and one
    without is no mistake. Inspect's `krippendorff_alpha`, which says 1 where all ratings are
    equal, and here it is undefined. Two raters without gaps: `cohen-kappa` is near it.
    """
    units = [ratings for trial in trials if len(ratings := _ratings(trial, raters)) > 1]
    if not units:
        return Undefined(f"undefined: no trial has two ratings of {_named(raters)}")
    if not isinstance(raters, str):
        _check_rate(trials, raters)
    together = Counter(rating for ratings in units for rating in ratings)
    if len(together) == 1:
        return Undefined(f"undefined ratio: every rating is {next(iter(together))}")
    points = _points(together, level)
    if isinstance(points, Undefined):
        return points
    differ = [len(together), *(len(set(ratings)) for ratings in units)]
    if level == "ratio" and sum(n * (n - 1) // 2 for n in differ) > _MOST_PAIRS:
        return Undefined(
            "undefined: more ratings differ than are compared with each other at level `ratio`"
        )
    within = Fraction(0)
    for ratings in units:
        apart = _disagreement(Counter(points[rating] for rating in ratings), level)
        within += Fraction(apart, len(ratings) - 1)
    observed = within * (together.total() - 1)
    expected = _disagreement(Counter({points[r]: n for r, n in together.items()}), level)
    return float((expected - observed) / expected)


def _check_rate(trials: Table, raters: Sequence[str]) -> None:
    """Refuse a rater who rates nothing, whose labels have perhaps not been given."""
    silent = {*raters}
    for trial in trials:
        silent -= (trial.rewards or {}).keys() | trial.labels.keys()
        if not silent:
            return
    names = ", ".join(f"`{name}`" for name in raters if name in silent)
    raise MetricFailure(
        "missing-label", f"no trial has a reward or a label {names}, which is a rater"
    )


def _ratings(trial: Trial, raters: str | Sequence[str]) -> list[_Rating]:
    """What the raters say of a trial, without those who say nothing."""
    known = trial.rewards or {}
    if isinstance(raters, str):
        part = re.compile(re.escape(raters) + r"/[0-9]+")
        return [value for key, value in known.items() if part.fullmatch(key)]
    said = [known.get(name, trial.labels.get(name)) for name in raters]
    texts_too = [(label, as_number(label)) for label in said if label is not None]
    return [label_text(label) if number is None else number for label, number in texts_too]


def _named(raters: str | Sequence[str]) -> str:
    names = [f"{raters}/0", f"{raters}/1"] if isinstance(raters, str) else raters
    return ", ".join(f"`{name}`" for name in names)


def _points(together: Counter[_Rating], level: _Level) -> dict[_Rating, int] | Undefined:
    """Where each rating stands on a line on which squared distances are disagreements."""
    if level == "nominal":
        return {rating: i for i, rating in enumerate(together)}
    texts = [rating for rating in together if isinstance(rating, str)]
    if texts:
        return Undefined(f"undefined: ratings of level `{level}` are numbers, and not `{texts[0]}`")
    values = sorted(rating for rating in together if not isinstance(rating, str))
    if level == "ratio" and values[0] < 0:
        least = label_text(values[0])
        return Undefined(f"undefined: ratings of level `ratio` are not below 0 as {least} is")
    if level != "ordinal":
        return dict(zip(values, exact.scaled(values).integers, strict=True))
    middles: dict[_Rating, int] = {}
    below = 0
    for value in values:
        middles[value] = 2 * below + together[value]
        below += together[value]
    return middles


def _disagreement(times: Counter[int], level: _Level) -> int:
    """Over all ordered pairs of ratings at these points; on one scale for a level."""
    n = times.total()
    if level == "nominal":
        return n * n - sum(count * count for count in times.values())
    if level == "ratio":
        return 2 * sum(
            of_a * of_b * (((a - b) ** 2 << _BITS) // (a + b) ** 2)
            for (a, of_a), (b, of_b) in combinations(times.items(), 2)
        )
    sums = sum(count * point for point, count in times.items())
    return 2 * (n * sum(count * point**2 for point, count in times.items()) - sums * sums)
