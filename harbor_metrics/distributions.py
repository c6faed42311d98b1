"""Quantiles of the normal, Student's t and the beta distribution, to about 1e-14."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

_STEPS = 200
_TINY = 1e-300
_NEARLY_NORMAL = 10_000
# From here on Stirling's series with five terms is exact to the last bit.
_STIRLING_FROM = 16.0
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


@cache
def normal_quantile(p: float) -> float:
    """The z that a standard normal variable is below with probability p, 1e-300 < p < 1."""
    if p > 0.5:
        return -normal_quantile(1 - p)

    def cdf(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2))

    def density(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    # From the tail's own size on, Newton's steps have something to go by.
    return _solved(cdf, density, p, -math.sqrt(-2 * math.log(p)) - 1, 0.0)


@cache
def t_quantile(p: float, df: float) -> float:
    """The t that a variable with `df` degrees of freedom is below with probability p, 0 < p < 1."""
    if p == 0.5:
        return 0.0
    if p > 0.5:
        return -t_quantile(1 - p, df)
    if df > _NEARLY_NORMAL:
        return _near_normal(normal_quantile(p), df)
    tail = 2 * p
    # t² / (df + t²) has the beta distribution with 1/2 and df/2.
    y = beta_quantile(tail, df / 2, 0.5)
    return -math.sqrt(df * ((1 - y) if y < 0.5 else _complement(tail, df)) / y)


def _near_normal(z: float, df: float) -> float:
    """Abramowitz and Stegun 26.7.5: the terms left out are below the last bit."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / df**i for i, term in enumerate(terms))


def _complement(tail: float, df: float) -> float:
    """1 - y of `t_quantile` where y is so near 1 that the difference would lose digits."""
    return beta_quantile(1 - tail, 0.5, df / 2)


@cache
def beta_quantile(p: float, a: float, b: float) -> float:
    """The x that a beta(a, b) variable is below with probability p, 0 < p < 1."""

    def density(x: float) -> float:
        return _kernel(x, 1 - x, a, b) / (x * (1 - x)) if 0 < x < 1 else 0.0

    middle = a / (a + b)
    if p > beta_cdf(middle, a, b):
        # The smaller tail keeps its digits.
        return _solved(lambda x: -_cdf(1 - x, x, b, a), density, -(1 - p), middle, 1.0)
    return _solved(lambda x: _cdf(x, 1 - x, a, b), density, p, 0.0, middle)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
    return _cdf(x, 1 - x, a, b)


def _cdf(x: float, y: float, a: float, b: float) -> float:
    """The same of x and y = 1 - x, of which the smaller is the one that is exact."""
    if x <= 0:
        return 0.0
    if y <= 0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _cdf(y, x, b, a)
    return _kernel(x, y, a, b) / a * _fraction(x, a, b)


def _kernel(x: float, y: float, a: float, b: float) -> float:
    """x^a y^b / B(a, b), without the cancellation of three logarithms of gammas."""
    whole = a + b
    # Taken from the smaller of the two, the difference is as exact as the other allows.
    off = x - a / whole if x < y else b / whole - y
    exponent = a * _log_ratio(x, off, a / whole) + b * _log_ratio(y, -off, b / whole)
    correction = _stirling(whole) - _stirling(a) - _stirling(b)
    return math.sqrt(a * b / (2 * math.pi * whole)) * math.exp(exponent + correction)


def _log_ratio(x: float, off: float, y: float) -> float:
    """log(x / y), where off = x - y."""
    return math.log1p(off / y) if abs(off) < 0.5 * y else math.log(x / y)


def _stirling(x: float) -> float:
    """The logarithm of gamma(x) less Stirling's formula."""
    if x < _STIRLING_FROM:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi))
    return sum(term / x ** (2 * i + 1) for i, term in enumerate(_STIRLING))


def _fraction(x: float, a: float, b: float) -> float:
    front, back = 1.0, 1 - (a + b) * x / (a + 1)
    back = 1 / (back if abs(back) > _TINY else _TINY)
    value = back
    m = 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            back = 1 + term * back
            back = 1 / (back if abs(back) > _TINY else _TINY)
            front = 1 + term / front
            front = front if abs(front) > _TINY else _TINY
            value *= front * back
        if abs(front * back - 1) < 3e-16:
            return value


def _solved(
    cdf: Callable[[float], float],
    density: Callable[[float], float],
    p: float,
    low: float,
    high: float,
) -> float:
    """The x between low and high with cdf(x) = p: Newton's steps, halving where they leave."""
    x = (low + high) / 2
    for _ in range(_STEPS):
        off = cdf(x) - p
        if off > 0:
            high = x
        else:
            low = x
        slope = density(x)
        new = x - off / slope if slope else low
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - x) <= 1e-16 * abs(x) or off == 0:
            return new if off else x
        x = new
    return x
