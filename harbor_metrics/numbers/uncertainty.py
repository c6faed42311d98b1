"""How sure a mean is: its standard error, and the interval that its rewards call for."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import msgspec

from . import amounts, exact, proportions
from .attempts import Repeats, Spread
from .distributions import normal_quantile, t_quantile
from .exact import Number
from .undefined import NoIntervalError
from .units import Range, Stratum

# What varies: tasks, as a sample of such tasks, or the attempts at these very tasks.
Over = Literal["tasks", "attempts"]
# Below so many units a standard error is itself too uncertain to trust.
FEW_UNITS = 10


class Interval(msgspec.Struct, frozen=True):
    """Where the true mean lies with a probability, and by which method that was found.

    `n_effective`: how many independent rewards would vary as much, where the method says it.
    `reason` says why a part is None.
    """

    stderr: float | None
    low: float | None
    high: float | None
    method: str
    n_effective: float | None = None
    reason: str | None = None


def stderr(strata: tuple[Stratum, ...]) -> float | None:
    """The standard error of a mean of means, rounded once; None beyond binary64.

    Raises:
        NoIntervalError: there are fewer than two units.
    """
    variance = sum((weight**2 * units.variance for weight, units in strata), Fraction(0))
    return exact.root(variance.numerator, variance.denominator)


def interval(value: Number, strata: tuple[Stratum, ...], level: float, over: Over) -> Interval:
    """Around a mean: of a proportion where all rewards are between 0 and 1, else Hall's."""
    if over == "attempts":
        return _over_attempts(value, strata, level)
    if range_of(strata) <= Range.SHARE:
        return _around(value, _proportion(strata, level))
    try:
        moments = amounts.of_strata(strata)
    except NoIntervalError as none:
        return Interval(None, None, None, _called("hall", strata), reason=str(none))
    return _skewed(value, moments, strata, level, _called("hall", strata))


def range_of(strata: tuple[Stratum, ...]) -> Range:
    """What every reward of all strata can be."""
    return max(units.range for _, units in strata)


def fewest(strata: tuple[Stratum, ...]) -> int:
    """How many independent units the smallest of the strata has."""
    return min(units.sums.units for _, units in strata)


def _proportion(strata: tuple[Stratum, ...], level: float) -> Interval:
    error, reason = _error(strata)
    if len(strata) > 1:
        try:
            low, high, size = macro_wilson(strata, level)
        except NoIntervalError as none:
            return Interval(None, None, None, "stratified wilson", reason=str(none))
        return Interval(error, low, high, "stratified wilson", size, reason)
    units = strata[0].units
    low, high = proportions.effective_wilson(units, level)
    method = "wilson" if units.binary else "effective wilson"
    return Interval(error, low, high, method, float(proportions.effective_size(units)), reason)


def macro_wilson(strata: tuple[Stratum, ...], level: float) -> tuple[float, float, float]:
    """Wilson's interval of a mean of means, and the effective number that it rests on.

    Raises:
        NoIntervalError: a reward is outside 0 to 1, or a part has a single unit.
    """
    if range_of(strata) > Range.SHARE:
        raise NoIntervalError("undefined: a proportion needs rewards between 0 and 1")
    size, freedom = proportions.macro_size(strata)
    mean = sum((weight * units.mean for weight, units in strata), Fraction(0))
    t = -t_quantile((1 - level) / 2, freedom)
    return *proportions.score(mean, float(size), t), float(size)


def _error(strata: tuple[Stratum, ...]) -> tuple[float | None, str | None]:
    """The standard error, or why there is none."""
    try:
        error = stderr(strata)
    except NoIntervalError as none:
        return None, f"stderr {none}"
    return (error, None) if error else (None, "stderr undefined: all tasks have the same value")


def _over_attempts(value: Number, strata: tuple[Stratum, ...], level: float) -> Interval:
    share = range_of(strata) <= Range.SHARE
    method = "smoothed wilson" if share else "hall"
    try:
        repeats = _repeats(strata)
        smoothed = _total(strata, [each.smoothed for each in repeats]) if share else None
    except NoIntervalError as none:
        return Interval(None, None, None, method, reason=str(none))
    try:
        moments = amounts.of_attempts(_total(strata, [each.plain for each in repeats]))
    except NoIntervalError as none:
        if smoothed is None:
            return Interval(None, None, None, method, reason=str(none))
        plain = Interval(None, None, None, method, reason=f"stderr {none}")
    else:
        if smoothed is None:
            return _skewed(value, moments, strata, level, method)
        plain = Interval(moments.error, None, None, method)
    mean = sum((weight * units.mean for weight, units in strata), Fraction(0))
    size = float(proportions.repeated(smoothed))
    low, high = proportions.score(mean, size, -normal_quantile((1 - level) / 2))
    return _around(value, msgspec.structs.replace(plain, low=low, high=high, n_effective=size))


def spread_over_attempts(strata: tuple[Stratum, ...]) -> Spread:
    """What the attempts at these very tasks add to a mean of means.

    Raises:
        NoIntervalError: it is not a mean of attempts, or a task has a single one.
    """
    return _total(strata, [each.plain for each in _repeats(strata)])


def _repeats(strata: tuple[Stratum, ...]) -> list[Repeats]:
    makers = [units.inside for _, units in strata]
    known = [make() for make in makers if make is not None]
    if len(known) < len(makers):
        raise NoIntervalError(
            "undefined over attempts: the value is not a mean of attempts' own rewards"
        )
    return known


def _total(strata: tuple[Stratum, ...], parts: list[Spread]) -> Spread:
    """The spread of a mean of means, each with its weight."""
    weights = [weight for weight, _ in strata]
    pairs = list(zip(weights, parts, strict=True))
    variance = sum((w**2 * part.variance for w, part in pairs), Fraction(0))
    squares = sum(
        ((w * w * p.variance) ** 2 / p.freedom for w, p in pairs if p.freedom), Fraction(0)
    )
    return Spread(
        sum((w * part.mean for w, part in pairs), Fraction(0)),
        variance,
        sum((w**2 * part.evenly for w, part in pairs), Fraction(0)),
        sum((w**3 * part.third_moment for w, part in pairs), Fraction(0)),
        variance**2 / squares if squares else Fraction(0),
    )


def _called(method: str, strata: tuple[Stratum, ...]) -> str:
    return method if len(strata) == 1 else f"stratified {method}"


def _skewed(
    value: Number,
    moments: amounts.Moments,
    strata: tuple[Stratum, ...],
    level: float,
    method: str,
) -> Interval:
    positive = range_of(strata) <= Range.POSITIVE
    try:
        low, high = amounts.hall(value, moments, level, positive=positive)
    except NoIntervalError as none:
        return Interval(moments.error, None, None, method, reason=str(none))
    return _around(value, Interval(moments.error, low, high, method))


def _around(value: Number, found: Interval) -> Interval:
    """The interval, which the value that is shown lies in however that was rounded."""
    if found.low is None or found.high is None:
        return found
    return msgspec.structs.replace(
        found, low=min(found.low, float(value)), high=max(found.high, float(value))
    )
