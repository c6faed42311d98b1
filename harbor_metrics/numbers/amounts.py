"""Intervals around means of amounts, which have no largest value and are often skewed."""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec

from . import exact
from .attempts import Spread
from .distributions import t_quantile
from .exact import Number
from .undefined import NoIntervalError
from .units import Stratum

BEYOND = "undefined: beyond the largest binary64 number"


class Moments(msgspec.Struct, frozen=True):
    """What an interval around a mean needs: its error, its skewness, and degrees of freedom."""

    error: float
    skewness: float
    freedom: float


def of_strata(strata: tuple[Stratum, ...]) -> Moments:
    """The moments of a mean of means; degrees of freedom of several by Welch and Satterthwaite.

    Raises:
        NoIntervalError: there are fewer than two units, they do not differ, or by too much.
    """
    parts = [(weight**2 * units.variance, units.sums.units) for weight, units in strata]
    variance = sum((v for v, _ in parts), Fraction(0))
    if not variance:
        raise NoIntervalError("undefined: all tasks have the same value, so the error is unknown")
    # The skewness is that of the sample, whose variance is over n and not n - 1.
    plain = sum((v * Fraction(c - 1, c) for v, c in parts), Fraction(0))
    third = sum((weight**3 * units.third_moment for weight, units in strata), Fraction(0))
    if len(parts) == 1:
        freedom = float(parts[0][1] - 1)
    else:
        freedom = float(variance**2 / sum(v * v / (c - 1) for v, c in parts))
    return Moments(_root(variance), _skewness(third, plain), freedom)


def of_attempts(spread: Spread) -> Moments:
    """The moments of a mean over tasks that are tried again.

    Raises:
        NoIntervalError: no task's attempts differ, or they do by too much.
    """
    if not spread.variance:
        raise NoIntervalError("undefined: the attempts at each task are alike")
    skewness = _skewness(spread.third_moment, spread.variance)
    return Moments(_root(spread.variance), skewness, float(spread.freedom))


def _root(variance: Fraction) -> float:
    error = exact.root(variance.numerator, variance.denominator)
    if error is None:
        raise NoIntervalError(BEYOND)
    return error


def _skewness(third: Fraction, variance: Fraction) -> float:
    squared = third**2 / variance**3
    value = exact.root(squared.numerator, squared.denominator)
    assert value is not None  # at most the root of the number of units
    return value if third >= 0 else -value


def student(value: Number, moments: Moments, level: float) -> tuple[float, float]:
    """The mean and so many standard errors to either side, by Student's t; not clipped.

    Raises:
        NoIntervalError: an end is beyond binary64.
    """
    width = -t_quantile((1 - level) / 2, moments.freedom) * moments.error
    return _finite(value - width, value + width)


def hall(value: Number, moments: Moments, level: float, *, positive: bool) -> tuple[float, float]:
    """Hall's (1992) interval from the cubic transform of t, which allows for skewness.

    `positive`: no amount is negative. Where its lower end is not above 0 then, that of the t of
    the logarithm of the mean stands for it.

    Raises:
        NoIntervalError: an end is beyond binary64.
    """
    t = -t_quantile((1 - level) / 2, moments.freedom)
    low = value - max(0.0, _inverse(t, moments.skewness)) * moments.error
    high = value - min(0.0, _inverse(-t, moments.skewness)) * moments.error
    if positive and low <= 0 < value:
        low = value * math.exp(-t * moments.error / value)
    return _finite(low, high)


def _inverse(x: float, skewness: float) -> float:
    """The t whose transform is x, of a mean that has this skewness."""
    if not skewness:
        return x
    u = skewness * (x - skewness / 6)
    root = math.expm1(math.log1p(u) / 3) if u > -1 else math.cbrt(1 + u) - 1
    return 3 * root / skewness


def _finite(low: float, high: float) -> tuple[float, float]:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise NoIntervalError(BEYOND)
    return low, high
