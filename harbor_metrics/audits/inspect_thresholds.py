"""By which threshold a reducer of an Inspect log counted, which the log does not name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..readers.inspect.document import Reduction
from .inspect_reducers import reduced
from .inspect_scores import Scored, is_nan, number, plain
from .row import agree

OWN = 1.0


def candidates(scores: Iterable[Scored]) -> list[float]:
    """Every threshold that counts other scores, Inspect's own first, last one that none reaches."""
    return [OWN, *sorted(_numbers(scores) - {OWN}), math.inf]


def extremes(scores: Iterable[Scored]) -> tuple[float, float] | None:
    """The least and the most that scores and their members count as; None where there are none."""
    values = _numbers(scores)
    return (min(values), max(values)) if values else None


def parts(threshold: float, of_scores: tuple[float, float] | None) -> bool:
    """Whether some scores reach the threshold and some do not, by the extremes of all.

    By one that does not part them every score passes, or none, whatever the scores are.
    """
    return of_scores is not None and of_scores[0] < threshold <= of_scores[1]


def _numbers(scores: Iterable[Scored]) -> set[float]:
    """What the scores and their members count as."""
    values: set[float] = set()
    for score in scores:
        value = score.value
        parts = value.values() if isinstance(value, dict) else value
        for part in parts if isinstance(value, dict | list) else [value]:
            if not is_nan(part):
                values.add(number(part))
    return values


def of_reduced(
    reducer: str,
    kept: Sequence[Reduction],
    scores_of: Callable[[str], list[Scored]],
    spend: Callable[[int], None],
    *,
    nan: bool,
) -> float | None:
    """The threshold by which all scores of the log were reduced to what it keeps of this reducer.

    Args:
        reducer: its name in the log.
        kept: the reduced scores that the log keeps of it.
        scores_of: the scores of a scorer as they were given.
        spend: told how many scores are gone through; raises where they are too many.
        nan: whether null stands for NaN.

    Returns:
        None where the log keeps none, or others than the samples give by any threshold.
    """
    own = [reduction for reduction in kept if reduction.samples]
    if not own:
        return None
    by_scorer: dict[str, dict[str, list[Scored]]] = {}
    for reduction in own:
        if reduction.scorer not in by_scorer:
            scores = scores_of(reduction.scorer)
            spend(len(scores))
            by_sample = by_scorer[reduction.scorer] = {}
            for score in scores:
                by_sample.setdefault(score.sample, []).append(score)
    left = candidates(
        score for samples in by_scorer.values() for scores in samples.values() for score in scores
    )
    for reduction in own:
        # One sample after the other: the first few leave few thresholds.
        for behind in reduction.samples:
            members = by_scorer[reduction.scorer].get(str(behind.sample_id), [])
            value = plain(behind.value, nan=nan, root=True)
            spend(len(left) * max(len(members), 1))
            left = [t for t in left if _gives(members, reducer, t, value)]
            if not left:
                return None
    return left[0]


def _gives(members: list[Scored], reducer: str, threshold: float, value: Any) -> bool:
    """Whether the scores of one sample are reduced to this value."""
    try:
        behind = reduced(members, reducer, threshold)
    except (ValueError, TypeError, ArithmeticError):
        return False
    return behind is not None and len(behind) == 1 and same(behind[0].value, value)


def same(value: Any, other: Any) -> bool:
    """Whether a reduced score is another one, but for the rounding of Inspect."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(v, other[k]) for k, v in value.items())
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    if is_nan(value) or is_nan(other):
        return is_nan(value) and is_nan(other)
    numbers = isinstance(value, int | float) and isinstance(other, int | float)
    return agree(value, other) if numbers else bool(value == other)
