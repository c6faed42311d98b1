"""How sure a mean is: standard errors and intervals."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from msgspec import Meta

from .. import bootstrap, exact, uncertainty
from ..column import Column
from ..estimate import TASK, Estimate, Strata, Undefined, estimate, macro, units
from ..parameters import Cluster, Level, Samples, Seed
from ..uncertainty import NoIntervalError
from .moments import BEYOND, NO_VALUES

_Resampling = Annotated[
    Literal["resample", "closed-form"],
    Meta(description="Draw resamples, or say what ever more of them tend to."),
]
_Method = Annotated[
    Literal["auto", "t", "wilson", "clopper-pearson", "jeffreys", "bootstrap"],
    Meta(
        description="`auto`: `wilson` where each task has one reward of 0 or 1, else `t`, which "
        "has no width where all rewards are equal, and then is undefined."
    ),
]


def stderr(rewards: Column | Strata, *, cluster: Cluster = TASK) -> Estimate | Undefined:
    """Standard error of the mean, clustered by task, rounded once.

    sqrt(C/(C-1) · Σ over C clusters (Σ over the cluster (reward - mean))²) / n: the cluster-robust
    error of an intercept (CR1 for one regressor), as Inspect, Stata and R's sandwich with HC0 and
    cadjust give it. Where every task has one attempt, or `cluster` is null, std / sqrt(n).
    Undefined for one reward or one cluster, where Inspect says 0. lm-eval's is that of independent
    rewards.
    """
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return mean
    try:
        value = uncertainty.stderr(mean.strata)
    except NoIntervalError as error:
        return Undefined(str(error))
    if value is None:
        return Undefined(BEYOND)
    return Estimate(value=value, notes=uncertainty.few(mean.strata))


def bootstrap_stderr(
    rewards: Column | Strata,
    *,
    samples: Samples = 1000,
    seed: Seed = 0,
    cluster: Cluster = TASK,
    method: _Resampling = "resample",
) -> Estimate | Undefined:
    """Standard deviation of the means of resampled tasks.

    Tasks (or other clusters) are drawn with replacement by random numbers of our own, the same on
    every machine and for any order of the trials; the deviation is over samples - 1. Ever more
    samples tend to `closed-form`: sqrt(population variance / n), which needs no random numbers.
    Inspect's has no seed and draws from numpy's global state, so its digits cannot be repeated.
    """
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return mean
    if any(each.units.sums.units < 2 for each in mean.strata):
        return Undefined("undefined for a single reward or cluster: there is nothing to resample")
    if method == "closed-form":
        variance = bootstrap.closed_form(mean.strata)
        value = exact.root(variance.numerator, variance.denominator)
    else:
        drawn = bootstrap.means(mean.strata, samples, seed)
        centre = math.fsum(drawn) / samples
        value = math.sqrt(math.fsum((x - centre) ** 2 for x in drawn) / (samples - 1))
    return Undefined(BEYOND) if value is None else Estimate(value=value)


def ci(
    rewards: Column | Strata,
    *,
    level: Level = 0.95,
    method: _Method = "auto",
    cluster: Cluster = TASK,
    samples: Samples = 1000,
    seed: Seed = 0,
) -> dict[str, Estimate | Undefined]:
    """Confidence interval of the mean: `low` and `high`.

    `t`: mean ± t·stderr with clusters - 1 degrees of freedom, not clipped. `wilson`: the score
    interval of a proportion, with clusters on the effective number of rewards (Korn and Graubard
    1998). `clopper-pearson`, `jeffreys`: quantiles of beta distributions, for independent rewards
    of 0 and 1. `bootstrap`: quantiles of the means of resampled clusters. Inspect's `ci` is `t`,
    names the ends `lower` and `upper`, and says the mean twice for one reward; its `ci_wilson` is
    `wilson`.
    """
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return {"low": mean, "high": mean}
    try:
        low, high = _interval(mean, level, method, samples, seed)
    except NoIntervalError as error:
        return dict.fromkeys(("low", "high"), Undefined(str(error)))
    notes = uncertainty.few(mean.strata)
    return {
        name: Undefined(BEYOND) if bound is None else Estimate(value=bound, notes=notes)
        for name, bound in (("low", low), ("high", high))
    }


def _mean(rewards: Column | Strata, cluster: str | None) -> Estimate | Undefined:
    if isinstance(rewards, Strata):
        means = [_mean(group, cluster) for group in rewards]
        undefined = next((each for each in means if isinstance(each, Undefined)), None)
        return undefined or macro([each for each in means if isinstance(each, Estimate)])
    if not rewards.values:
        return Undefined(NO_VALUES)
    return estimate(units(rewards, cluster))


def _interval(
    mean: Estimate, level: float, method: _Method, samples: int, seed: int
) -> tuple[float | None, float | None]:
    if method == "auto":
        found = uncertainty.automatic(mean, level)
        if found.low is None and found.reason:
            raise NoIntervalError(found.reason)
        return found.low, found.high
    if method == "t":
        return uncertainty.student(mean, level)
    if method == "bootstrap":
        if any(each.units.sums.units < 2 for each in mean.strata):
            raise NoIntervalError("undefined for a single reward or cluster: nothing to resample")
        drawn = sorted(bootstrap.means(mean.strata, samples, seed))
        tail = (1 - level) / 2
        return float(exact.quantile(drawn, tail)), float(exact.quantile(drawn, 1 - tail))
    if len(mean.strata) > 1:
        raise NoIntervalError(f"undefined: {method} is for one proportion, not for their mean")
    by_name = {
        "wilson": uncertainty.wilson,
        "clopper-pearson": uncertainty.clopper_pearson,
        "jeffreys": uncertainty.jeffreys,
    }
    return by_name[method](mean.strata[0].units, level)
