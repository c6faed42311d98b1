"""What lm-eval aggregates: the values on the lines of its samples, in their order."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from ..files.lenient import constant
from .values import array_of, chances

_TRUTH = {"True": 1, "False": 0}
_REPEATED = re.compile(r"pass@(?P<k>[1-9][0-9]*)\((?P<metric>.+)\)")


class Line(NamedTuple):
    """A document behind a filter: the value of each metric, of each repeat too where it has any."""

    values: dict[str, Any]
    repeats: dict[str, list[Any]]
    answers: Any


# Filter -> its lines.
Lines = dict[str, list[Line]]


def values_of(lines: list[Line], metric: str) -> list[Any]:
    """The values of a metric, of the documents that have one.

    A chance of k repeats is made anew where the scores of the repeats stand on the line.
    """
    passing = _REPEATED.fullmatch(metric)
    found = []
    for line in lines:
        if metric not in line.values:
            continue
        value = line.values[metric]
        if passing is not None and (scores := line.repeats.get(passing["metric"])):
            passed = sum(bool(number_of(score, None)) for score in scores)
            found.append(_pass_at(len(scores), passed, int(passing["k"])))
        else:
            found.append(number_of(value, line.answers))
    return found


def _pass_at(n: int, passed: int, k: int) -> float:
    """The chance that one of k repeats passes; 1 where fewer than k fail, as in lm-eval."""
    if n - passed < k:
        return 1.0
    return 1 - math.comb(n - passed, k) / math.comb(n, k)


def number_of(value: Any, answers: Any) -> Any:
    """The value as lm-eval had it: numpy's numbers and arrays stand as texts."""
    if isinstance(value, list):
        return [number_of(item, answers) for item in value]
    if not isinstance(value, str):
        return value
    if bare := constant(value):
        return float(bare)
    if value in _TRUTH:
        return _TRUTH[value]
    if (numbers := array_of(value)) is not None:
        exact = chances(answers, numbers)
        return numbers if exact is None else exact
    try:
        return float(value)
    except ValueError:
        return value
