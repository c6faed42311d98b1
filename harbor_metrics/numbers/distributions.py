"""Quantiles and tails of the normal, Student's t and the beta distribution, to about 1e-14."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

_STEPS = 200
_LAST_BIT = 1e-16
# Two units in the last place, between which a fraction may go to and fro.
_SETTLED = 5e-16
# The farthest that one step may go, as a logarithm.
_FARTHEST = 300.0
_NEARLY_NORMAL = 10_000
# As a share of the degrees of freedom: where t is no larger, its series about z is exact.
_SMALL_SQUARE = 0.007
# From here on Stirling's series with five terms is exact to the last bit.
_STIRLING_FROM = 16.0
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


@cache
def normal_quantile(p: float) -> float:
    """The z that a standard normal variable is below with probability p, 1e-300 < p < 1."""
    if p > 0.5:
        return -normal_quantile(1 - p)
    # The tail is at most exp(-z²/2) / 2, and its logarithm concave: Newton's steps never cross.
    z = math.sqrt(-2 * math.log(2 * p)) if p < 0.5 else 0.0
    for _ in range(_STEPS):
        tail = 0.5 * math.erfc(z / math.sqrt(2))
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        new = z + math.log(tail / p) * tail / density
        if abs(new - z) <= _LAST_BIT * z:
            return -new
        z = new
    return -z


@cache
def t_quantile(p: float, df: float) -> float:
    """The t that a variable with `df` degrees of freedom is below with probability p, 0 < p < 1."""
    if p == 0.5:
        return 0.0
    if p > 0.5:
        return -t_quantile(1 - p, df)
    z = normal_quantile(p)
    if df > _NEARLY_NORMAL and z * z < _SMALL_SQUARE * df:
        return _near_normal(z, df)
    tail = 2 * p
    # t² / (df + t²) has the beta distribution with 1/2 and df/2.
    y = beta_quantile(tail, df / 2, 0.5)
    return -math.sqrt(df * ((1 - y) if y < 0.5 else _upper_quantile(tail, 0.5, df / 2)) / y)


def t_tails(t: float, df: float) -> float:
    """The probability that a variable with `df` degrees of freedom is as far from 0 as t."""
    whole = df + t * t
    return _cdf(df / whole, t * t / whole, df / 2, 0.5)


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


@cache
def beta_quantile(p: float, a: float, b: float) -> float:
    """The x that a beta(a, b) variable is below with probability p, 0 < p < 1."""
    # The smaller tail keeps its digits.
    if p > beta_cdf(a / (a + b), a, b):
        return _from_above(1 - p, a, b)
    return _from_below(p, a, b)


def _upper_quantile(p: float, a: float, b: float) -> float:
    """The x that a beta(a, b) variable is above with probability p, 0 < p < 1."""
    if p > beta_cdf(b / (a + b), b, a):
        return _from_below(1 - p, a, b)
    return _from_above(p, a, b)


def _from_below(p: float, a: float, b: float) -> float:
    return _solved(lambda x: _cdf(x, 1 - x, a, b), a, b, p, 0.0)


def _from_above(p: float, a: float, b: float) -> float:
    return _solved(lambda x: _cdf(1 - x, x, b, a), a, b, p, 1.0)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by a continued fraction."""
    return _cdf(x, 1 - x, a, b)


def _cdf(x: float, y: float, a: float, b: float) -> float:
    """`beta_cdf` of x and y = 1 - x, of which the smaller is the one that is exact."""
    if x <= 0:
        return 0.0
    if y <= 0:
        return 1.0
    below = a - (a + b) * x if x < y else (a + b) * y - b
    if below < 0:
        return 1 - _cdf(y, x, b, a)
    return _kernel(x, y, a, b) * _fraction(x, y, a, b, below)


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


def _fraction(x: float, y: float, a: float, b: float, below: float) -> float:
    """Didonato and Morris's (1992) continued fraction, all of whose terms are positive at first.

    `below` is a - (a + b)·x, which is not negative. It loses no digits where x is near 1.
    """
    first = 1 + below
    top, top_before = 1.0, 0.0
    bottom, bottom_before = first / (1 + 1 / a), 1.0
    value = top / bottom
    part, size = 1.0, a + 1
    n = 0
    while True:
        n += 1
        share = n / a
        w = n * (b - n) * x
        alpha = part * (part + b / a) * (a / size) ** 2 * w * x
        beta = n + w / size + (share + 1) / (1 + 1 / a + 2 * share) * (first + n * (1 + y))
        part, size = share + 1, size + 2
        top, top_before = alpha * top_before + beta * top, top
        bottom, bottom_before = alpha * bottom_before + beta * bottom, bottom
        before, value = value, top / bottom
        if abs(value - before) <= _SETTLED * value:
            return value
        top, top_before = top / bottom, top_before / bottom
        bottom, bottom_before = 1.0, bottom_before / bottom


def _solved(tail: Callable[[float], float], a: float, b: float, p: float, end: float) -> float:
    """The x between an end of 0 to 1 and the mean that has the tail p towards that end.

    Newton's steps on the logarithms of both, in which tails are nearly straight; halving where a
    step leaves what is known to hold x.
    """
    near, far = end, a / (a + b)
    x = far
    sign = 1 if end == 0 else -1
    for _ in range(_STEPS):
        value = tail(x)
        if value > p:
            far = x
        else:
            near = x
        slope = sign * _kernel(x, 1 - x, a, b) / (1 - x) if x < 1 else 0.0
        new = x
        if value > 0 and slope:
            new = x * math.exp(max(-_FARTHEST, min(_FARTHEST, math.log(p / value) * value / slope)))
        if not min(near, far) < new < max(near, far):
            new = (near + far) / 2
        if abs(new - x) <= _LAST_BIT * x or value == p:
            return x if value == p else new
        x = new
    return x
