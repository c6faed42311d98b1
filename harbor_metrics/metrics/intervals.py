"""How sure a mean is: standard errors and intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from .. import exact, uncertainty
from ..column import TASK, Column
from ..estimate import Estimate, Strata, Undefined, estimate, macro, units
from ..metric import Bound
from ..parameters import Cluster, Level, Samples, Seed
from ..table import Table
from ..uncertainty import NoIntervalError
from .moments import BEYOND, NO_VALUES

_NOTHING = "undefined for a single reward or cluster: there is nothing to resample"
_Resampling = Annotated[
    Literal["resample", "closed-form", "lm-eval"],
    Meta(
        description="Draw resamples of tasks, say what ever more of them tend to, or draw as "
        "lm-eval does."
    ),
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
    Undefined for one reward or one cluster, where Inspect says 0; 0 where all clusters are alike.
    lm-eval's is that of independent rewards.
    """
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return mean
    if isinstance(rewards, Strata) and rewards.pooled:
        return _pooled(mean)
    try:
        value = uncertainty.stderr(mean.strata)
    except NoIntervalError as error:
        return Undefined(str(error))
    if value is None:
        return Undefined(BEYOND)
    return Estimate(value=value, fewest=uncertainty.fewest(mean.strata))


def _pooled(mean: Estimate) -> Estimate | Undefined:
    """sqrt(Σ (n_i - 1) s_i² / (N - K) / N) over K groups of independent rewards, as lm-eval."""
    parts = [units for _, units in mean.strata]
    if not all(units.single for units in parts):
        return Undefined("undefined: a pooled error needs independent rewards: `cluster`: null")
    sizes = [units.sums.units for units in parts]
    free = sum(sizes) - len(sizes)
    if free < 1:
        return Undefined("undefined: every group has a single reward")
    squares = sum(
        (units.variance * n * (n - 1) for units, n in zip(parts, sizes, strict=True) if n > 1),
        Fraction(0),
    )
    pooled = squares / free / sum(sizes)
    value = exact.root(pooled.numerator, pooled.denominator)
    return Undefined(BEYOND) if value is None else Estimate(value=value)


def bootstrap_stderr(
    rewards: Column | Table | Strata,
    *,
    metric: Bound | None = None,
    samples: Samples = 1000,
    seed: Seed = 0,
    cluster: Cluster = TASK,
    method: _Resampling = "resample",
) -> Estimate | Undefined:
    """Standard deviation of a metric over resampled tasks; without `metric`, of the mean.

    Tasks (or other clusters) are drawn with replacement by random numbers of our own, the same on
    every machine and for any order of the trials; the deviation is over samples - 1. For the mean,
    ever more samples tend to `closed-form`: sqrt(population variance / n). `lm-eval` draws single
    trials by that system's own seeds (chunks of 1,000), so that its number comes out, but for what
    its rounding adds to the last digits; `seed` and `cluster` mean nothing there. Inspect's has no
    seed, so its digits cannot be repeated.
    """
    if isinstance(rewards, Table) or metric is not None or method == "lm-eval":
        if isinstance(rewards, Strata):
            return Undefined("undefined: only the mean has a macro mean to resample")
        return _resampled(rewards, metric, samples, seed, cluster, method)
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return mean
    if any(each.units.sums.units < 2 for each in mean.strata):
        return Undefined(_NOTHING)
    from .. import bootstrap

    if method == "closed-form":
        variance = bootstrap.closed_form(mean.strata)
        value = exact.root(variance.numerator, variance.denominator)
        return Undefined(BEYOND) if value is None else Estimate(value=value)
    return Estimate(value=bootstrap.deviation(bootstrap.means(mean.strata, samples, seed)))


def _resampled(
    rewards: Column | Table,
    metric: Bound | None,
    samples: int,
    seed: int,
    cluster: str | None,
    method: _Resampling,
) -> Estimate | Undefined:
    if len(rewards) < 2:
        return Undefined(_NOTHING if len(rewards) else NO_VALUES)
    if method == "closed-form":
        return Undefined("undefined: only the mean has a closed form")
    from .. import bootstrap

    views = (
        bootstrap.as_lm_eval(rewards, samples)
        if method == "lm-eval"
        else bootstrap.resampled(rewards, cluster, samples, seed)
    )
    drawn: list[float] = []
    for view in views:
        value = metric(view) if metric is not None else _mean(view, None)
        if isinstance(value, dict):
            return Undefined("undefined: a metric of several values; name one of them")
        if isinstance(value, Undefined):
            if method != "lm-eval" or value.elsewhere is None:
                return Undefined(f"undefined for a resample: {value.reason}")
            value = value.elsewhere
        drawn.append(float(value.value if isinstance(value, Estimate) else value))
    return Estimate(value=bootstrap.deviation(drawn))


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
    fewest = uncertainty.fewest(mean.strata)
    return {
        name: Undefined(BEYOND) if bound is None else Estimate(value=bound, fewest=fewest)
        for name, bound in (("low", low), ("high", high))
    }


def _mean(rewards: Column | Table | Strata, cluster: str | None) -> Estimate | Undefined:
    if isinstance(rewards, Strata):
        means = [_mean(group, cluster) for group in rewards.groups]
        undefined = next((each for each in means if isinstance(each, Undefined)), None)
        sizes = list(map(len, rewards.groups)) if rewards.pooled else None
        return undefined or macro([each for each in means if isinstance(each, Estimate)], sizes)
    if isinstance(rewards, Table):
        return Undefined("undefined: without `metric` there is only the mean of a reward")
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
            raise NoIntervalError(_NOTHING)
        from .. import bootstrap

        drawn = sorted(bootstrap.means(mean.strata, samples, seed))
        tail = (1 - level) / 2
        low, high = exact.quantile(drawn, tail), exact.quantile(drawn, 1 - tail)
        if low == high:
            raise NoIntervalError("undefined: every resample has the same mean")
        return exact.rounded(low), exact.rounded(high)
    if len(mean.strata) > 1:
        raise NoIntervalError(f"undefined: {method} is for one proportion, not for their mean")
    by_name = {
        "wilson": uncertainty.wilson,
        "clopper-pearson": uncertainty.clopper_pearson,
        "jeffreys": uncertainty.jeffreys,
    }
    return by_name[method](mean.strata[0].units, level)
