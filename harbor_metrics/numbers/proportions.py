"""Intervals around means of rewards between 0 and 1; none of them leaves that range."""

from __future__ import annotations

import math
from fractions import Fraction

from .attempts import Spread
from .distributions import beta_quantile, normal_quantile, t_quantile
from .undefined import NoIntervalError
from .units import Range, Stratum, Units

Ends = tuple[float, float]


def score(mean: Fraction, n: float, z: float) -> Ends:
    """Wilson's (1927) score interval of a proportion out of n, for the quantile z.

    Each end comes from a sum or from the product of both, so that it loses no digits and is 0 or 1
    exactly where the proportion is.
    """
    p, q = float(mean), float(1 - mean)
    half = z * z / (2 * n)
    width = z * math.sqrt(p * q / n + half / (2 * n))
    low = p * p / (p + half + width) if p else 0.0
    if p < q:
        return low, (p + half + width) / (1 + 2 * half)
    return low, 1 - q * q / (q + half + width) if q else 1.0


def effective_size(units: Units) -> Fraction:
    """How many independent rewards of 0 and 1 would vary as much as the mean of these units.

    The variance is taken with one more unit that is all 1 and one more that is all 0, each of mean
    size, so that a sample without spread is not taken for a population without. With one reward of
    0 or 1 a unit it is the number of units; never below 1, and of rewards of 0 and 1 never above
    the number of these.
    """
    c, n, d = units.sums.units, units.sums.n, units.sums.d
    size = Fraction(d, c)
    whole = d + 2 * size
    mean = (Fraction(n, units.scale) + size) / whole
    squares = (
        Fraction(units.sums.nn, units.scale**2)
        - 2 * mean * Fraction(units.sums.nd, units.scale)
        + mean * mean * units.sums.dd
        + size * size * (mean * mean + (1 - mean) ** 2)
    )
    variance = squares * (c + 2) / (whole * whole * (c + 3))
    effective = mean * (1 - mean) / variance - 3
    if units.range is Range.BINARY:
        effective = min(effective, Fraction(d))
    return max(effective, Fraction(1))


def effective_wilson(units: Units, level: float) -> Ends:
    """Wilson's interval on the effective number of rewards; Wilson's own for one 0 or 1 a task."""
    _check(units)
    return score(units.mean, float(effective_size(units)), _z(level))


def wilson(units: Units, level: float) -> Ends:
    """Wilson's interval of independent rewards; of units of several, on the effective number.

    Raises:
        NoIntervalError: a reward is outside 0 to 1.
    """
    _check(units)
    if not units.single:
        return effective_wilson(units, level)
    return score(units.mean, units.sums.d, _z(level))


def korn_graubard(units: Units, level: float) -> Ends:
    """Wilson's interval on p(1-p)/stderr², at most n, and t with clusters - 1 degrees of freedom.

    Korn and Graubard (1998). Where all clusters are alike it takes all rewards for independent.

    Raises:
        NoIntervalError: a reward is outside 0 to 1, or there is one cluster of several rewards.
    """
    _check(units)
    if units.single:
        return wilson(units, level)
    n, variance = Fraction(units.sums.d), units.variance
    if variance and 0 < units.mean < 1:
        n = min(units.mean * (1 - units.mean) / variance, n)
    return score(units.mean, float(n), -t_quantile((1 - level) / 2, units.sums.units - 1))


def macro_size(strata: tuple[Stratum, ...]) -> tuple[Fraction, float]:
    """The effective number behind a mean of means, and its degrees of freedom.

    1 + m(1-m) / Σ weight² variance, and Welch and Satterthwaite's. Where no part has any spread,
    the variances are those of parts that all have the mean m.

    Raises:
        NoIntervalError: a part has a single unit.
    """
    variances = [weight**2 * units.variance for weight, units in strata]
    free = [units.sums.units - 1 for _, units in strata]
    mean = sum((weight * units.mean for weight, units in strata), Fraction(0))
    alike = [weight**2 / df for (weight, _), df in zip(strata, free, strict=True)]
    total = sum(variances, Fraction(0))
    size = mean * (1 - mean) / total if total else 1 / sum(alike, Fraction(0))
    parts = variances if total else alike
    squares = sum((v * v / df for v, df in zip(parts, free, strict=True)), Fraction(0))
    return 1 + size, float(sum(parts, Fraction(0)) ** 2 / squares)


def repeated(spread: Spread) -> Fraction:
    """How many attempts of equal chances would vary as much as the mean over these tasks does.

    Attempts at given tasks vary less than attempts whose chances are all the same.
    """
    return max(spread.mean * (1 - spread.mean) / spread.variance, 1 / spread.evenly)


def clopper_pearson(units: Units, level: float) -> Ends:
    """The interval that covers at least at its level, whatever the proportion (exact).

    Raises:
        NoIntervalError: rewards are not 0 and 1, or not independent.
    """
    passed, n = _passed(units, "clopper-pearson")
    tail = (1 - level) / 2
    low = beta_quantile(tail, passed, n - passed + 1) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 1, n - passed) if passed < n else 1.0
    return low, high


def jeffreys(units: Units, level: float) -> Ends:
    """The quantiles of beta(c + 1/2, n - c + 1/2), 0 and 1 at the ends (Brown, Cai, DasGupta).

    Raises:
        NoIntervalError: rewards are not 0 and 1, or not independent.
    """
    passed, n = _passed(units, "jeffreys")
    tail = (1 - level) / 2
    low = beta_quantile(tail, passed + 0.5, n - passed + 0.5) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 0.5, n - passed + 0.5) if passed < n else 1.0
    return low, high


def _z(level: float) -> float:
    return -normal_quantile((1 - level) / 2)


def _check(units: Units) -> None:
    if units.range > Range.SHARE:
        raise NoIntervalError("undefined: a proportion needs rewards between 0 and 1")


def _passed(units: Units, method: str) -> tuple[int, int]:
    if not units.single:
        raise NoIntervalError(
            f"undefined: {method} needs independent rewards, and tasks have several attempts; "
            "give a `reducer`, or `cluster`: null to take attempts for independent"
        )
    if not units.binary:
        raise NoIntervalError(f"undefined: {method} needs rewards that are 0 or 1")
    return units.sums.n // units.scale, units.sums.units
