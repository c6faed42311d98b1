"""The errors that lm-eval draws, replayed with its own seeds, or judged by fewer of its draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from ..trials.source import Progress
from .lm_eval_aggregations import AGGREGATIONS, deviation
from .row import Answer, Drawn, Instead, Known, Unknown

_CHUNK = 1000
# As many values as 100,000 draws of 500 documents have.
_MOST_VALUES = 50_000_000
# Of a whole audit, where each draw counts as so many values more: few documents take as long.
_MOST_ALTOGETHER = 4 * _MOST_VALUES
_DRAW = 20
# They are kept until all are drawn.
_MOST_DRAWS = 1_000_000
# Fewer draws tell nothing of a Monte Carlo error.
_FEWEST = 50


class Budget:
    """How many values are drawn for all runs of an audit: as many as take a few minutes."""

    def __init__(self) -> None:
        self.left = _MOST_ALTOGETHER


class Replay:
    """Draws no more than `most` resamples for an error of a run; by default what takes a minute.

    By default the errors of an audit take no more than a few minutes together; `is_short` says
    whether other runs left this one less than it would have had alone.
    """

    def __init__(
        self,
        most: int | None = None,
        progress: Progress | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.most = most
        self.progress = progress
        self.is_short = False
        self._budget = budget or Budget()
        self._used = 0
        self._answers: dict[tuple[object, ...], Answer] = {}

    def error(self, name: str, values: Sequence[Any], draws: int) -> Answer:
        """The standard error of an aggregation over lm-eval's resamples.

        Raises:
            ValueError, TypeError: the values are of another kind than the aggregation takes.
        """
        key = (name, repr(values), draws)
        if key not in self._answers:
            self._answers[key] = self._error(name, values, draws)
        return self._answers[key]

    def _error(self, name: str, values: Sequence[Any], draws: int) -> Answer:
        if len(values) < 2:
            return Known(None, "undefined for a single value")
        chunk = min(_CHUNK, draws)
        whole = draws // chunk * chunk
        allowed = self._allowed(len(values), whole) if self.most is None else self.most
        if whole <= allowed:
            return _spread(self._drawn(name, values, whole, chunk))
        replayed = f"{allowed:,} of its {whole:,} draws were replayed (--most-draws)"
        if allowed < _FEWEST:
            return Unknown(replayed)
        drawn = self._drawn(name, values, allowed, chunk)
        answer = _spread(drawn)
        if not isinstance(answer, Known) or answer.value is None:
            return Unknown(replayed)
        share = _relative_error(drawn, answer.value) * math.sqrt(1 / allowed + 1 / whole)
        return Drawn(answer.value, answer.value * share, replayed)

    def _allowed(self, n: int, draws: int) -> int:
        """How many resamples of so many values are drawn where nobody says it."""
        most = min(max(_MOST_VALUES // n, 1), _MOST_DRAWS, draws)
        alone, left = (
            min(most, max(values, 0) // (n + _DRAW))
            for values in (_MOST_ALTOGETHER - self._used, self._budget.left)
        )
        self.is_short |= left < alone
        return left

    def _drawn(self, name: str, values: Sequence[Any], draws: int, chunk: int) -> list[float]:
        items, statistic = _prepared(name, values)
        n = len(items)
        found: list[float] = []
        for number in range(-(-draws // chunk)):
            choose = Random(number).choices  # noqa: S311  # lm-eval's own draws
            size = min(chunk, draws - len(found))
            found += [statistic(choose(items, k=n)) for _ in range(size)]
            self._used += size * (n + _DRAW)
            self._budget.left -= size * (n + _DRAW)
            if self.progress is not None:
                self.progress(len(found), draws)
        return found


def _spread(drawn: list[float]) -> Answer:
    if any(map(math.isnan, drawn)):
        return Known(None, "the number of a resample is NaN")
    if any(map(math.isinf, drawn)):
        return Instead("Infinity", "the number of a resample is beyond the largest number")
    return Known(deviation(drawn))


def _relative_error(drawn: list[float], spread: float) -> float:
    """The Monte Carlo error of a deviation over the deviation, times the root of the draws."""
    if not spread:
        return 0.0
    mean = math.fsum(drawn) / len(drawn)
    fourth = math.fsum((x - mean) ** 4 for x in drawn) / len(drawn)
    return math.sqrt(max(fourth / spread**4 - 1, 0) / 4)


def _prepared(
    name: str, values: Sequence[Any]
) -> tuple[Sequence[Any], Callable[[list[Any]], float]]:
    """What to draw from in place of the values, and the aggregation over that; the same, faster."""
    if name == "f1":
        # 0: neither is the class, 1: one is, 2: both are.
        return [(gold == 1) + (guess == 1) for gold, guess in values], _f1_of_codes
    if name == "matthews_corrcoef":
        return [tuple(pair) for pair in values], AGGREGATIONS[name]
    n = len(values)
    if name in ("brier_score", "likelihood"):
        # The mean of what each document has alone.
        return [AGGREGATIONS[name]([value]) for value in values], lambda own: math.fsum(own) / n
    if name == "perplexity":
        # Python before 3.12 adds up otherwise, and every machine shows the same number.
        return values, lambda drawn: _exp(-math.fsum(drawn) / n)
    if name == "weighted_perplexity":
        return values, lambda drawn: _exp(-_share(drawn))
    if name == "bits_per_byte":
        return values, lambda drawn: -_share(drawn) / math.log(2)
    if name == "median":
        middle = len(values) // 2
        return values, lambda drawn: float(sorted(drawn)[middle])
    return values, AGGREGATIONS[name]


def _f1_of_codes(codes: list[int]) -> float:
    hits = codes.count(2)
    return 2 * hits / (2 * hits + codes.count(1)) if hits else 0.0


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _share(pairs: list[Any]) -> float:
    first, second = zip(*pairs, strict=True)
    return math.fsum(first) / math.fsum(second)
