"""Inspect's metrics over one value a sample: what Inspect makes of scores, with its conventions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from ..numbers import distributions, exact, resampling
from ..numbers.exact import Number
from ..numbers.units import Stratum, Units
from ..trials.source import Reported
from .inspect_scores import Scored, is_nan, number
from .row import Answer, Between, Drawn, Instead, Known

Parts = dict[str, Answer]
_Params = Mapping[str, Any]
_NAN = "NaN"
_ONE = "undefined for a single sample, and Inspect writes {:g}"
_ONE_CLUSTER = "undefined for a single cluster, and Inspect writes 0"
_SEEDLESS = "drawn without a seed: its digits cannot be repeated"
# So many Monte Carlo errors may be chance: many numbers are drawn, few times each.
_CHANCE = 6
_DRAWS = 1000
# More values are not drawn for the ends of an interval.
_MOST_DRAWN = 5_000_000


def known(metric: str) -> bool:
    """Whether Inspect has a metric of that name."""
    return metric in _METRICS


def is_under_its_name(reported: Reported) -> bool:
    """Whether a number stands under a name that Inspect gives it.

    That is the name of its metric, without or with the package, or of its value where a metric has
    several, in one place behind that of the metric; with a number behind where that is taken
    (`inspect_ai/_eval/task/results.py` of 0.3.25 to 0.3.285).
    """
    key = reported.under
    if key is None:
        return True
    metric, number = re.escape(reported.metric), "[0-9]*"
    if reported.part is None:
        names = f"(.*/)?{metric}{number}"
    else:
        part = re.escape(reported.part)
        names = f"{part}{number}|(.*/)?{metric}(_|{number}-){part}{number}"
    return re.fullmatch(names, key, re.DOTALL) is not None


def computed(metric: str, scores: Sequence[Scored], params: _Params) -> Answer | Parts:
    """What the metric gives: a number, or one for each of its parts.

    Raises:
        ValueError: Inspect refuses such scores or parameters.
        TypeError: a parameter is of another type.
    """
    given = {name: value for name, value in params.items() if value is not None}
    return _METRICS[metric](scores, given)


def overflows(values: Sequence[float]) -> bool:
    """Whether a sum of squares of the values is beyond binary64."""
    top = max(map(abs, values), default=0.0)
    return math.isinf(4 * top * top * len(values))


def clusters_of(scores: Sequence[Scored], label: Any) -> list[list[float]]:
    """The values of each cluster.

    Raises:
        ValueError: a sample has no such label, which Inspect refuses.
    """
    found: dict[Any, list[float]] = {}
    for score in scores:
        cluster = score.labels.get(label) if isinstance(label, str) else None
        if cluster is None or is_nan(cluster):
            raise ValueError(f"a sample has no cluster `{label}`")
        found.setdefault(cluster, []).append(number(score.value))
    return list(found.values())


def _values(scores: Sequence[Scored]) -> list[float]:
    values = [number(score.value) for score in scores]
    if not all(map(math.isfinite, values)):
        raise ValueError("a score is infinite")
    return values


def _mean(scores: Sequence[Scored], _params: _Params) -> Answer:
    return Known(exact.mean(_values(scores))) if scores else Known(None, "no sample is scored")


def _variance(values: Sequence[float]) -> Fraction:
    """The sample variance, exactly, of two values or more."""
    integers, scale = exact.scaled(values)
    n, total = len(integers), sum(integers)
    return Fraction(n * sum(i * i for i in integers) - total * total, n * (n - 1) * scale * scale)


def _root(variance: Fraction) -> float | None:
    return exact.root(variance.numerator, variance.denominator)


def _spread(of: Callable[[Fraction, int], Number | None]) -> Callable[..., Answer]:
    def spread(scores: Sequence[Scored], params: _Params) -> Answer:
        values = _values(scores)
        if "cluster" in params:
            return _clustered(clusters_of(scores, params["cluster"]))
        if len(values) < 2:
            return Instead(0, _ONE.format(0)) if values else Known(None, "no sample is scored")
        value = of(_variance(values), len(values))
        if overflows(values):
            return Instead("Infinity", "Inspect's squares overflow there", value)
        return Known(value)

    return spread


def _clustered(clusters: list[list[float]]) -> Answer:
    if len(clusters) < 2:
        return Instead(0, _ONE_CLUSTER) if clusters else Known(None, "no sample is scored")
    return Known(_clustered_error(clusters))


def _clustered_error(clusters: list[list[float]]) -> float:
    """The error of the mean by CR1 without the correction for the number of values."""
    values = [Fraction(v) for cluster in clusters for v in cluster]
    mean = sum(values, Fraction(0)) / len(values)
    squares = sum(
        ((sum(map(Fraction, cluster), Fraction(0)) - len(cluster) * mean) ** 2)
        for cluster in clusters
    )
    variance = squares * Fraction(len(clusters), len(clusters) - 1) / len(values) ** 2
    return _root(Fraction(variance)) or 0.0


def _drawn_error(scores: Sequence[Scored], params: _Params) -> Answer:
    """A bootstrap without a seed: near what ever more draws tend to."""
    values = _values(scores)
    draws = _count(params.get("num_samples"))
    if not values:
        return Known(None, "no sample is scored")
    if len(values) < 2:
        return Instead(0, "a single sample: there is nothing to draw from, and Inspect writes 0")
    n = len(values)
    value = _root(_variance(values) * Fraction(n - 1, n * n)) or 0.0
    reason = f"{_SEEDLESS}; this is what more than its {draws} draws tend to"
    error = value * math.sqrt((_kurtosis(values) - 1) / (4 * (draws - 1)))
    return Drawn(value, error, reason, most=_CHANCE)


def _count(given: Any) -> int:
    """How many resamples were drawn, by default Inspect's number."""
    return given if type(given) is int and given > 1 else _DRAWS


def _kurtosis(values: Sequence[float]) -> float:
    """The kurtosis of a resampled mean: 3, and of that of the values as they are few."""
    mean = math.fsum(values) / len(values)
    # Over the largest, so that no power is beyond binary64.
    most = max(abs(v - mean) for v in values)
    if not most:
        return 3.0
    second = math.fsum(((v - mean) / most) ** 2 for v in values) / len(values)
    fourth = math.fsum(((v - mean) / most) ** 4 for v in values) / len(values)
    return 3 + (fourth / second**2 - 3) / len(values)


def _ends(low: float, high: float) -> Parts:
    return {"lower": Known(low), "upper": Known(high)}


def _instead(value: float, reason: str) -> Parts:
    return {"lower": Instead(value, reason), "upper": Instead(value, reason)}


def _level(params: _Params) -> float:
    level = params.get("level", 0.95)
    if type(level) not in (int, float) or not 0 < level < 1:
        raise ValueError(f"the level {level!r} is not between 0 and 1")
    return float(level)


def _ci(scores: Sequence[Scored], params: _Params) -> Parts:
    values, tail = _values(scores), (1 - _level(params)) / 2
    clusters = clusters_of(scores, params["cluster"]) if "cluster" in params else None
    if not values:
        return _instead(0.0, "no sample is scored, and Inspect writes 0")
    if len(values) < 2:
        return _instead(values[0], _ONE.format(values[0]))
    if params.get("method") == "bootstrap":
        return _drawn_ends(clusters or [[value] for value in values], params, tail)
    mean = math.fsum(values) / len(values)
    if clusters is not None and len(clusters) < 2:
        return _instead(mean, f"undefined for a single cluster, and Inspect writes {mean:g}")
    n = len(values) if clusters is None else len(clusters)
    error = (
        _root(_variance(values) / len(values)) if clusters is None else _clustered_error(clusters)
    )
    reach = distributions.t_quantile(1 - tail, n - 1) * (error or 0.0)
    return _ends(mean - reach, mean + reach)


def _drawn_ends(clusters: list[list[float]], params: _Params, tail: float) -> Parts:
    """What the ends of a percentile bootstrap without a seed can be."""
    least = min(map(min, clusters))
    most = max(map(max, clusters))
    if least == most:
        return _ends(least, most)
    draws = _count(params.get("num_samples"))
    means = [least, most]
    if len(clusters) * _DRAWS <= _MOST_DRAWN:
        integers, scale = exact.scaled([v for cluster in clusters for v in cluster])
        own = iter(integers)
        sums = [sum(islice(own, len(cluster))) for cluster in clusters]
        units = Units(sums, list(map(len, clusters)), scale)
        means = sorted(resampling.means((Stratum(Fraction(1), units),), _DRAWS, seed=1))
    chance = _CHANCE * math.sqrt(tail * (1 - tail)) * (_DRAWS**-0.5 + draws**-0.5)

    def between(tail: float) -> Between:
        low, high = tail - chance, tail + chance
        return Between(
            float(exact.quantile(means, low)) if low > 0 else least,
            float(exact.quantile(means, high)) if high < 1 else most,
            _SEEDLESS,
        )

    return {"lower": between(tail), "upper": between(1 - tail)}


def _ci_wilson(scores: Sequence[Scored], params: _Params) -> Parts:
    """Wilson's interval; over clusters with Korn and Graubard's effective size and t."""
    values, tail = _values(scores), (1 - _level(params)) / 2
    if not all(0 <= value <= 1 for value in values):
        raise ValueError("a score is not between 0 and 1")
    clusters = clusters_of(scores, params["cluster"]) if "cluster" in params else None
    if not values:
        return _instead(0.0, "no sample is scored, and Inspect writes 0")
    n, p = float(len(values)), math.fsum(values) / len(values)
    z = -distributions.normal_quantile(tail)
    if clusters is not None:
        if len(clusters) < 2:
            raise ValueError("there are fewer than two clusters")
        variance = _clustered_error(clusters) ** 2
        if p * (1 - p) > 0 and variance > 0:
            n = min(p * (1 - p) / variance, n)
        z = distributions.t_quantile(1 - tail, len(clusters) - 1)
    below = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / below
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / below
    return _ends(max(middle - half, 0.0), min(middle + half, 1.0))


def _frequency(scores: Sequence[Scored], params: _Params) -> Parts:
    """How often each value stands, by its text."""
    if any(isinstance(score.value, dict | list) for score in scores):
        raise ValueError("a score is an object or a list")
    times = Counter(str(score.value) for score in scores)
    listed = params.get("categories")
    names = dict.fromkeys([*(map(str, listed) if isinstance(listed, list) else ()), *times])
    n = len(scores) if params.get("normalize", True) and scores else 1
    return {name: Known(times[name] / n) for name in names}


def _perplexity_per_token(scores: Sequence[Scored], _params: _Params) -> Answer:
    tokens = sum(n for n, _ in map(_spent, scores))
    if not tokens:
        return Known(None, "no tokens")
    return _exponential(-math.fsum(chance for _, chance in map(_spent, scores)) / tokens)


def _perplexity_per_seq(scores: Sequence[Scored], _params: _Params) -> Answer:
    each = [-chance / n for n, chance in map(_spent, scores) if n > 0]
    return _exponential(math.fsum(each) / len(each)) if each else Known(None, "no tokens")


def _spent(score: Scored) -> tuple[int, float]:
    """Tokens and their log chance, of the metadata of a score; of several epochs the first's."""
    n, chance = (score.notes.get(name) for name in ("num_tokens", "sum_log_probs"))
    return (0, 0.0) if n is None or chance is None else (int(n), float(chance))


def _exponential(value: float) -> Answer:
    try:
        return Known(math.exp(value))
    except OverflowError:
        return Instead("Infinity", "the perplexity is beyond the largest number")


def _krippendorff_alpha(scores: Sequence[Scored], params: _Params) -> Answer:
    """Agreement of the ratings that are a score, of samples with two or more."""
    level = params.get("level", "nominal")
    units = [s.value for s in scores if isinstance(s.value, list) and len(s.value) > 1]
    if not units:
        return Known(None, "no sample has two ratings")
    if level == "nominal":
        disagreement: Callable[[list[Any]], float] = _apart
    elif level in ("ordinal", "interval"):
        units = [[_rating(rating) for rating in unit] for unit in units]
        disagreement = _squared
        if level == "ordinal":
            units = _ranked(units)
    else:
        raise ValueError(f"Inspect has no level {level!r}")
    ratings = [rating for unit in units for rating in unit]
    n = len(ratings)
    observed = math.fsum(disagreement(unit) / (len(unit) - 1) for unit in units) / n
    expected = disagreement(ratings) / (n * (n - 1))
    if not expected:
        return Instead(1, "undefined where all ratings are equal, and Inspect writes 1")
    return Known(1 - observed / expected)


def _rating(rating: Any) -> float:
    if isinstance(rating, int | float):
        return float(rating)
    raise ValueError("a rating is not a number")


def _ranked(units: list[list[Any]]) -> list[list[Any]]:
    """Each rating as the middle of its ranks."""
    times = Counter(rating for unit in units for rating in unit)
    middles, below = {}, 0.0
    for rating in sorted(times):
        middles[rating] = below + times[rating] / 2
        below += times[rating]
    return [[middles[rating] for rating in unit] for unit in units]


def _apart(ratings: list[Any]) -> float:
    return float(len(ratings) ** 2 - sum(n * n for n in Counter(ratings).values()))


def _squared(ratings: list[Any]) -> float:
    mean = math.fsum(ratings) / len(ratings)
    return 2 * len(ratings) * math.fsum((rating - mean) ** 2 for rating in ratings)


_METRICS: dict[str, Callable[[Sequence[Scored], _Params], Answer | Parts]] = {
    "accuracy": _mean,
    "mean": _mean,
    "var": _spread(lambda variance, _: exact.rounded(variance)),
    "std": _spread(lambda variance, _: _root(variance)),
    "stderr": _spread(lambda variance, n: _root(variance / n)),
    "bootstrap_stderr": _drawn_error,
    "ci": _ci,
    "ci_wilson": _ci_wilson,
    "frequency": _frequency,
    "perplexity_per_token": _perplexity_per_token,
    "perplexity_per_seq": _perplexity_per_seq,
    "krippendorff_alpha": _krippendorff_alpha,
}
