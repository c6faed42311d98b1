"""Standard errors of means, and intervals around them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from . import exact
from .distributions import beta_quantile, normal_quantile, t_quantile
from .estimate import Estimate, Stratum, Units

# Below so many clusters intervals are too narrow: at 5 a nominal 95 % covers about 90 %.
FEW_CLUSTERS = 10


class Interval(NamedTuple):
    """Where the true mean lies with a probability, and by which method that was found.

    `reason` says why a part is None.
    """

    stderr: float | None
    low: float | None
    high: float | None
    method: str
    reason: str | None = None


class NoIntervalError(Exception):
    """The data do not allow what was asked; says why."""


def stderr(strata: tuple[Stratum, ...]) -> float | None:
    """The standard error of a mean of means, rounded once; None beyond binary64.

    Raises:
        NoIntervalError: there are fewer than two units.
    """
    variance = _variance(strata)
    return exact.root(variance.numerator, variance.denominator)


def _variance(strata: tuple[Stratum, ...]) -> Fraction:
    for _, units in strata:
        if units.sums.units < 2:
            raise NoIntervalError(_one(units))
    return sum((weight**2 * units.variance for weight, units in strata), Fraction(0))


def _one(units: Units) -> str:
    if units.single:
        return "undefined for a single reward"
    return "undefined for a single cluster: what is inside one does not tell how others differ"


def automatic(estimate: Estimate, level: float) -> Interval:
    """Wilson for rewards of 0 and 1, else t, over tasks where those have several attempts.

    Where all rewards are 0, or all are 1, Wilson over the tasks; never an interval of width 0.
    """
    strata = estimate.strata
    units = strata[0].units if len(strata) == 1 else None
    if units is not None and units.binary:
        low, high = wilson(units, level)
        try:
            error = stderr(strata)
        except NoIntervalError as none:
            return Interval(None, low, high, "wilson", f"stderr {none}")
        if error == 0:
            return Interval(None, low, high, "wilson", "stderr undefined: all rewards are equal")
        return Interval(error, low, high, "wilson")
    method = "t" if all(each.units.single for each in strata) else "clustered t"
    if len(strata) > 1:
        method = f"stratified {method}"
    try:
        if stderr(strata) == 0:
            if units is not None and units.constant:
                low, high = wilson(Units(_ones(units), None, units.scale, units.times), level)
                reason = "stderr undefined: all rewards are equal"
                return Interval(None, low, high, "wilson over tasks", reason)
            return Interval(None, None, None, method, "undefined: no variance between units")
        return Interval(stderr(strata), *student(estimate, level), method)
    except NoIntervalError as none:
        return Interval(None, None, None, method, str(none))


def _ones(units: Units) -> list[int]:
    return [units.scale if n else 0 for n in units.numerators]


def student(estimate: Estimate, level: float) -> tuple[float | None, float | None]:
    """The mean and so many standard errors to either side, by Student's t; not clipped.

    Degrees of freedom: clusters - 1; of a macro mean Welch and Satterthwaite's.

    Raises:
        NoIntervalError: fewer than two units, or no variance between them.
    """
    error = stderr(estimate.strata)
    if error == 0:
        raise NoIntervalError("undefined: no variance, so t gives no width; `wilson` does for 0/1")
    if error is None:
        return None, None
    parts = [
        (weight**2 * units.variance, units.sums.units - 1) for weight, units in estimate.strata
    ]
    if len(parts) == 1:
        freedom = float(parts[0][1])
    else:
        freedom = float(sum(v for v, _ in parts) ** 2 / sum(v * v / df for v, df in parts))
    width = -t_quantile((1 - level) / 2, freedom) * error
    low, high = estimate.value - width, estimate.value + width
    if not (math.isfinite(low) and math.isfinite(high)):
        raise NoIntervalError("undefined: the interval is beyond the largest binary64 number")
    return low, high


def wilson(units: Units, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    With clusters n is the effective size p(1-p)/stderr², at most n, and t with clusters - 1 degrees
    of freedom stands for z (Korn and Graubard 1998).

    Raises:
        NoIntervalError: a reward is outside 0 to 1, or there is one cluster of several rewards.
    """
    p, n = _proportion(units)
    z = -normal_quantile((1 - level) / 2)
    if not units.single:
        clusters = units.sums.units
        if clusters < 2:
            raise NoIntervalError(_one(units))
        z = -t_quantile((1 - level) / 2, clusters - 1)
        variance = units.variance
        if variance and 0 < units.mean < 1:
            n = min(float(units.mean * (1 - units.mean) / variance), n)
    squared = z * z / n
    middle = (p + squared / 2) / (1 + squared)
    width = z * math.sqrt(p * (1 - p) / n + squared / (4 * n)) / (1 + squared)
    # At 0 and 1 the bound is that number itself, which rounding would miss.
    low = 0.0 if p == 0 else max(0.0, middle - width)
    return low, 1.0 if p == 1 else min(1.0, middle + width)


def _proportion(units: Units) -> tuple[float, float]:
    sizes = units.denominators or [1] * len(units.numerators)
    if any(not 0 <= n <= d * units.scale for n, d in zip(units.numerators, sizes, strict=True)):
        raise NoIntervalError("undefined: a proportion needs rewards between 0 and 1")
    return float(units.mean), float(units.sums.d)


def clopper_pearson(units: Units, level: float) -> tuple[float, float]:
    """The interval that covers at least at its level, whatever the proportion (exact).

    Raises:
        NoIntervalError: rewards are not 0 and 1, or not independent.
    """
    passed, n = _passed(units, "clopper-pearson")
    tail = (1 - level) / 2
    low = beta_quantile(tail, passed, n - passed + 1) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 1, n - passed) if passed < n else 1.0
    return low, high


def jeffreys(units: Units, level: float) -> tuple[float, float]:
    """The quantiles of beta(c + 1/2, n - c + 1/2), 0 and 1 at the ends (Brown, Cai, DasGupta).

    Raises:
        NoIntervalError: rewards are not 0 and 1, or not independent.
    """
    passed, n = _passed(units, "jeffreys")
    tail = (1 - level) / 2
    low = beta_quantile(tail, passed + 0.5, n - passed + 0.5) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 0.5, n - passed + 0.5) if passed < n else 1.0
    return low, high


def _passed(units: Units, method: str) -> tuple[int, int]:
    if not units.single:
        raise NoIntervalError(
            f"undefined: {method} needs independent rewards, and tasks have several attempts; "
            "give a `reducer`, or `cluster`: null to take attempts for independent"
        )
    if not units.binary:
        raise NoIntervalError(f"undefined: {method} needs rewards that are 0 or 1")
    return units.sums.n // units.scale, units.sums.units


def fewest(strata: tuple[Stratum, ...]) -> int:
    """How many independent units the smallest of the strata has."""
    return min(units.sums.units for _, units in strata)
