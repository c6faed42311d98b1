"""Inspect's reducers, over scores as they were given: of an object by member, of a list by place.

Texts, numbers and booleans are counted as Python compares them: `True` and 1 are one value, "1"
another.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..numbers import passing
from .inspect_scores import Scored, is_nan, number

# The values of one member that are not NaN, and how many scores there are with those -> one value.
_Leaf = Callable[[list[Any], int], Any]
_WITH_K = re.compile(r"(at_least|pass_at|pass_k)_([0-9]+)")
COLLECT = "collect"


def has_threshold(reducer: str) -> bool:
    """Whether a reducer asks which scores reach a threshold, which the log does not name."""
    return _WITH_K.fullmatch(reducer) is not None


def reduced(scores: Iterable[Scored], reducer: str, threshold: float = 1.0) -> list[Scored] | None:
    """One score a sample, with the metadata of its first epoch; None for an unknown reducer.

    Raises:
        ValueError: the scores of a sample are of different shapes, which Inspect refuses.
    """
    leaf = _leaf(reducer, threshold)
    if leaf is None:
        return None
    samples: dict[str, list[Scored]] = {}
    for score in scores:
        samples.setdefault(score.sample, []).append(score)
    return [
        members[0].of(_reduced([m.value for m in members], leaf, collect=reducer == COLLECT))
        for members in samples.values()
    ]


def _leaf(reducer: str, threshold: float) -> _Leaf | None:
    if (match := _WITH_K.fullmatch(reducer)) is not None:
        return _passing(match[1], int(match[2]), threshold)
    return _LEAVES.get(reducer)


def _reduced(values: Sequence[Any], leaf: _Leaf, *, collect: bool) -> Any:
    scored = [value for value in values if not is_nan(value)]
    if not scored:
        return math.nan
    first = scored[0]
    if collect or not isinstance(first, dict | list):
        if any(isinstance(value, dict | list) for value in scored):
            raise ValueError("the scores of a sample are of different shapes")
        return leaf(scored, len(values))
    if any(type(value) is not type(first) or len(value) != len(first) for value in scored):
        raise ValueError("the scores of a sample are of different shapes")
    if isinstance(first, dict):
        if any(value.keys() != first.keys() for value in scored):
            raise ValueError("the scores of a sample have different keys")
        return {key: _of_part([v[key] for v in scored], leaf, len(values)) for key in first}
    return [_of_part([v[i] for v in scored], leaf, len(values)) for i in range(len(first))]


def _of_part(values: list[Any], leaf: _Leaf, size: int) -> Any:
    kept = [value for value in values if not is_nan(value)]
    return leaf(kept, size) if kept else float("nan")


def _mode(values: list[Any], _size: int) -> Any:
    return Counter(values).most_common(1)[0][0]


def _majority(values: list[Any], size: int) -> Any:
    value, times = Counter(values).most_common(1)[0]
    # A NaN of its own: Python tells them apart, and so does what counts ratings later.
    return value if times * 2 > size else float("nan")


def _passing(kind: str, k: int, threshold: float) -> _Leaf:
    def of(values: list[Any], _size: int) -> float:
        n, passed = len(values), sum(number(value) >= threshold for value in values)
        if kind == "at_least":
            return float(passed >= k)
        if n < k:
            return math.nan
        chance = passing.at_k if kind == "pass_at" else passing.hat_k
        return float(chance(n, passed, k))

    return of


_LEAVES: dict[str, _Leaf] = {
    "mean": lambda values, _: statistics.mean(map(number, values)),
    "median": lambda values, _: statistics.median(map(number, values)),
    "max": lambda values, _: max(values, key=number),
    "mode": _mode,
    "majority": _majority,
    COLLECT: lambda values, _: values,
}
