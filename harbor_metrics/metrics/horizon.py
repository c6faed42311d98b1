"""How long a task may be for an agent to do it."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Estimate, Undefined
from ..contract.parameters import Attempts, Highers, Threshold
from ..numbers import logistic
from ..numbers.exact import Number
from ..numbers.logistic import NoCurveError, Point
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import BEYOND, NO_VALUES

_Minutes = Annotated[
    str,
    Meta(
        min_length=1,
        description="The label or reward key that says how many minutes a person takes for the "
        "task.",
        examples=["human_minutes"],
    ),
]
_Chance = Annotated[float, Meta(gt=0, lt=1)]
_Chances = Annotated[
    _Chance | Annotated[list[_Chance], Meta(min_length=1)],
    Meta(description="The chance of success at the horizon. One number or a list of them."),
]


def time_horizon(
    rewards: Attempts,
    *,
    minutes: _Minutes,
    q: _Chances = 0.5,
    threshold: Threshold = 1.0,
) -> Highers:
    """Minutes that a person needs for tasks at which the agent succeeds with probability `q`.

    Where a logistic curve of success on log2 of a task's minutes crosses q (METR's time horizon,
    Kwa et al. 2025, arXiv 2503.14499); an attempt succeeds that reaches the `threshold`, and every
    task weighs the same. Fitted by maximum likelihood until steps are rounding, to about 1e-12;
    METR's own code adds a small penalty (scikit-learn's `C` of 1e5) and differs in the sixth digit.
    Undefined where there is no such curve: minutes separate success from failure, all attempts
    succeed or all fail, success does not fall with minutes, or the fit does not settle. For an
    error bar see `bootstrap-stderr`, which resamples tasks.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    curve = _curve(rewards, rewards.numbers(minutes), minutes, threshold)

    def horizon(chance: float) -> Estimate | Undefined:
        if isinstance(curve, Undefined):
            return curve
        try:
            return Estimate(value=2.0 ** curve.crossing(chance), n=rewards.n_tasks)
        except OverflowError:
            return Undefined(BEYOND)

    return {label_text(each): horizon(each) for each in q} if isinstance(q, list) else horizon(q)


def _curve(
    rewards: Column, minutes: list[Number], name: str, threshold: float
) -> logistic.Curve | Undefined:
    tasks: Counter[tuple[Number, int, int]] = Counter()
    for a, b in pairwise(rewards.ends):
        if len(set(minutes[a:b])) > 1:
            return Undefined(f"undefined: attempts at {rewards.tasks[a]} have different `{name}`")
        if minutes[a] <= 0:
            return Undefined(
                f"undefined: {rewards.tasks[a]} takes {label_text(minutes[a])} minutes"
            )
        tasks[minutes[a], sum(reward >= threshold for reward in rewards.values[a:b]), b - a] += 1
    if len({length for length, _, _ in tasks}) == 1:
        return Undefined("undefined: all tasks take the same minutes")
    points = [
        Point(math.log2(length), passed / n, times) for (length, passed, n), times in tasks.items()
    ]
    try:
        curve = logistic.fitted(points)
    except NoCurveError as error:
        return Undefined(f"undefined: {error}")
    if curve.slope >= 0:
        return Undefined("undefined: success does not fall with minutes")
    return curve
