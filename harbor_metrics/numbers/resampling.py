"""Means of resampled units, from a seed, the same on every machine and for any order."""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from random import Random

from . import exact
from .units import Stratum, Units

# Above this mean, drawing a binomial number by rejection is faster than by inversion.
_SMALL_MEAN = 10
# Distinct units as a share of all, above which single draws are cheaper than counts of each.
_MANY_DISTINCT = 8


def means(strata: tuple[Stratum, ...], samples: int, seed: int) -> list[float]:
    """So many means of units drawn with replacement; strata are drawn each on its own.

    Raises:
        OverflowError: a mean is beyond the largest binary64 number.
    """
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    parts = [(float(weight), _means(units, samples, rng)) for weight, units in strata]
    if len(parts) == 1:
        return parts[0][1]
    return [math.fsum(weight * drawn[i] for weight, drawn in parts) for i in range(samples)]


def _means(units: Units, samples: int, rng: Random) -> list[float]:
    distinct, times = _distinct(units)
    n = sum(times)
    draw = _counts if len(distinct) * _MANY_DISTINCT < n else _one_by_one
    numerators = [pair[0] for pair in distinct]
    denominators = [pair[1] for pair in distinct]
    found = []
    for _ in range(samples):
        drawn = draw(n, times, rng)
        top = sum(map(int.__mul__, drawn, numerators))
        bottom = sum(map(int.__mul__, drawn, denominators))
        mean = exact.ratio(top, bottom * units.scale)
        if mean is None:  # integers have no largest
            raise OverflowError("the mean of a resample is beyond the largest binary64 number")
        found.append(mean)
    return found


def _distinct(units: Units) -> tuple[list[tuple[int, int]], list[int]]:
    """The different units, sorted, and how often each stands."""
    sizes = units.denominators or [1] * len(units.numerators)
    pairs = zip(units.numerators, sizes, strict=True)
    counts: Counter[tuple[int, int]] = Counter()
    if units.times is None:
        counts.update(pairs)
    else:
        for pair, times in zip(pairs, units.times, strict=True):
            counts[pair] += times
    return sorted(counts), [counts[pair] for pair in sorted(counts)]


def _counts(n: int, times: Sequence[int], rng: Random) -> list[int]:
    """How often each distinct unit is drawn: multinomial, one binomial after the other."""
    drawn = []
    left, share = n, n
    for count in times[:-1]:
        hits = binomial(left, count / share, rng)
        drawn.append(hits)
        left -= hits
        share -= count
    return [*drawn, left]


def _one_by_one(n: int, times: Sequence[int], rng: Random) -> list[int]:
    """The same by n draws."""
    drawn = [0] * len(times)
    uniform = rng.random
    if n == len(times):
        for _ in range(n):
            drawn[int(uniform() * n)] += 1
        return drawn
    ends = list(accumulate(times))
    for _ in range(n):
        drawn[bisect(ends, int(uniform() * n))] += 1
    return drawn


def binomial(n: int, p: float, rng: Random) -> int:
    """How many of n tries succeed.

    By rejection from a transformed distribution (Hörmann 1993, BTRS), for small means by counting
    the gaps between successes (Devroye 1986, X.4.3).
    """
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p > 0.5:
        return n - binomial(n, 1 - p, rng)
    return _by_gaps(n, p, rng) if n * p < _SMALL_MEAN else _by_rejection(n, p, rng)


def _by_gaps(n: int, p: float, rng: Random) -> int:
    scale = math.log1p(-p)
    hits = place = 0
    while True:
        place += 1 + int(math.log(1 - rng.random()) / scale)
        if place > n:
            return hits
        hits += 1


def _by_rejection(n: int, p: float, rng: Random) -> int:
    uniform = rng.random
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return k
        if 0 <= k <= n and _accepted(n, p, k, us, v, a, b, spread):
            return k


def _accepted(
    n: int, p: float, k: int, us: float, v: float, a: float, b: float, spread: float
) -> bool:
    alpha = (2.83 + 5.1 / b) * spread
    middle = math.floor((n + 1) * p)
    likelihood = (
        math.lgamma(middle + 1)
        + math.lgamma(n - middle + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + (k - middle) * math.log(p / (1 - p))
    )
    return math.log(v * alpha / (a / (us * us) + b)) <= likelihood if v > 0 else True


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation, rounded once; None beyond the largest binary64 number."""
    integers, scale = exact.scaled(values)
    variance = Units(integers, None, scale).variance * len(values)
    return exact.root(variance.numerator, variance.denominator)


def closed_form(strata: tuple[Stratum, ...]) -> Fraction:
    """The variance that the resampled means tend to with ever more samples, for two or more units.

    The population variance over n, which is what is drawn from; of clusters its linearisation.
    """
    return sum(
        (
            weight**2 * units.variance * Fraction(units.sums.units - 1, units.sums.units)
            for weight, units in strata
        ),
        Fraction(0),
    )
