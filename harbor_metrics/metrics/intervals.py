"""How sure a mean is: standard errors and intervals."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.deadline import LateError, at_most
from ..contract.estimate import Estimate, Strata, Undefined, estimate, macro, units
from ..contract.metric import Bound
from ..contract.parameters import Cluster, Level, Samples, Seed
from ..errors import MetricFailure
from ..numbers import amounts, exact, proportions, uncertainty
from ..numbers.undefined import NoIntervalError
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.labelled import TASK
from ..trials.table import Table
from .moments import BEYOND, NO_VALUES

# Of the processor, for all resamples of texts, of which a few can take hours.
_SECONDS = 600
_NOTHING = "undefined for a single reward or cluster: there is nothing to resample"
_Resampling = Annotated[
    Literal["resample", "closed-form", "lm-eval"],
    Meta(
        description="Draw resamples of tasks, say what ever more of them tend to, or draw as "
        "lm-eval does."
    ),
]
_Method = Annotated[
    Literal[
        "auto",
        "effective-wilson",
        "hall",
        "t",
        "wilson",
        "korn-graubard",
        "clopper-pearson",
        "jeffreys",
        "bootstrap",
    ],
    Meta(
        description="`auto`: `effective-wilson` where all rewards are between 0 and 1, else `hall`."
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
    # For weight: only a bootstrap draws.
    from ..numbers import resampling

    if method == "closed-form":
        variance = resampling.closed_form(mean.strata)
        value = exact.root(variance.numerator, variance.denominator)
        return Undefined(BEYOND) if value is None else Estimate(value=value)
    try:
        drawn = resampling.means(mean.strata, samples, seed)
    except OverflowError:
        return Undefined(f"undefined for a resample: {BEYOND}")
    spread = resampling.deviation(drawn)
    return Undefined(BEYOND) if spread is None else Estimate(value=spread)


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
    # For weight: only a bootstrap draws.
    from ..contract import resampled
    from ..numbers import resampling

    views = (
        resampled.as_lm_eval(rewards, samples)
        if method == "lm-eval"
        else resampled.resampled(rewards, cluster, samples, seed)
    )
    reads_texts = metric is not None and metric.reads_texts
    limit: AbstractContextManager[None] = at_most(_SECONDS) if reads_texts else nullcontext()
    try:
        with limit:
            drawn = _drawn(views, metric, method)
    except LateError as error:
        raise MetricFailure(
            "metric-raised",
            f"{samples} resamples of these texts take more than {_SECONDS} s; draw fewer `samples`",
        ) from error
    if isinstance(drawn, Undefined):
        return drawn
    spread = resampling.deviation(drawn)
    return Undefined(BEYOND) if spread is None else Estimate(value=spread)


def _drawn(
    views: Iterable[Column | Table], metric: Bound | None, method: _Resampling
) -> list[float] | Undefined:
    """The value of each resample."""
    drawn: list[float] = []
    for view in views:
        value = metric(view) if metric is not None else _mean(view, None)
        if isinstance(value, dict):
            return Undefined("undefined: a metric of several values; name one of them")
        if isinstance(value, Undefined):
            if method != "lm-eval" or value.elsewhere is None:
                return Undefined(f"undefined for a resample: {value.reason}")
            value = value.elsewhere
        try:
            drawn.append(float(value.value if isinstance(value, Estimate) else value))
        except OverflowError:
            return Undefined(f"undefined for a resample: {BEYOND}")
    return drawn


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

    In brackets what intervals of 95 % cover at 5, 10, 20 and 50 tasks: means over simulated
    populations of tasks, with one attempt at each for the methods of independent rewards, 3 and 5
    for the others of rewards between 0 and 1, and 2 for amounts.

    For rewards between 0 and 1, which the interval never leaves: `effective-wilson` [0.96, 0.96,
    0.95, 0.95; no population below 0.91] is Wilson's score interval on the number of independent
    rewards that would vary as much as the mean does. That variance is taken with one task more
    that is all 1 and one that is all 0. With one reward of 0 or 1 a task it is Wilson's own. Of
    rewards that never come near 0 and 1 it covers nearly all, and is up to twice as wide as `t`.
    `wilson` [0.95, 0.96, 0.96, 0.94] takes rewards for independent; where tasks have several
    attempts it is `effective-wilson`. `korn-graubard` [0.98, 0.97, 0.96, 0.95]: Wilson's on
    p(1-p)/stderr² with t (Korn and Graubard 1998), which takes attempts for independent where all
    tasks are alike. `clopper-pearson` (never below its level) and `jeffreys`: quantiles of beta
    distributions, for independent rewards of 0 and 1.

    For amounts: `hall` [0.91, 0.92, 0.93, 0.94; 0.88 at worst], t with Hall's (1992) transform for
    skewness, above 0 where no amount is negative. `t` [0.94 of 0 and 1; 0.88, 0.89, 0.91, 0.93 of
    amounts]: mean ± t·stderr with clusters - 1 degrees of freedom, which leaves the range of the
    rewards, for 5 tasks in three of four evals. `bootstrap` [0.82, 0.90, 0.93, 0.94 of 0 and 1]:
    quantiles of the means of resampled clusters.

    Of a macro mean (`grouped` with `all`: `groups`) `effective-wilson` is Wilson's on
    1 + m(1-m)/stderr², with t by Welch and Satterthwaite [0.96 to 0.97 of 4 groups of 5 tasks, 0.89
    to 0.92 of groups of 3, 10 and 30]. Inspect's `ci` is `t`, names the ends `lower` and `upper`,
    and says the mean twice for one reward; its `ci_wilson` is `korn-graubard`.
    """
    mean = _mean(rewards, cluster)
    if isinstance(mean, Undefined):
        return {"low": mean, "high": mean}
    try:
        low, high = _interval(mean, level, method, samples, seed)
    except NoIntervalError as error:
        return dict.fromkeys(("low", "high"), Undefined(str(error)))
    return {"low": Estimate(value=low), "high": Estimate(value=high)}


def _mean(rewards: Column | Table | Strata, cluster: str | None) -> Estimate | Undefined:
    if isinstance(rewards, Strata):
        means = [_mean(group, cluster) for group in rewards.groups]
        undefined = next((each for each in means if isinstance(each, Undefined)), None)
        sizes = list(map(len, rewards.groups)) if rewards.pooled else None
        return undefined or macro([each for each in means if isinstance(each, Estimate)], sizes)
    if isinstance(rewards, Table):
        return Undefined("undefined: without `metric` there is only the mean of a reward")
    if not len(rewards):
        return Undefined(NO_VALUES)
    return estimate(units(rewards, cluster))


def _interval(
    mean: Estimate, level: float, method: _Method, samples: int, seed: int
) -> tuple[float, float]:
    if method == "auto":
        found = uncertainty.interval(mean.value, mean.strata, level, "tasks")
        if found.low is None or found.high is None:
            raise NoIntervalError(found.reason or BEYOND)
        return found.low, found.high
    if method in ("t", "hall"):
        moments = amounts.of_strata(mean.strata)
        if method == "t":
            return amounts.student(mean.value, moments, level)
        return amounts.hall(mean.value, moments, level, positive=mean.range <= Range.POSITIVE)
    if method == "bootstrap":
        return _bootstrap(mean, level, samples, seed)
    if len(mean.strata) == 1:
        return _OF_PROPORTIONS[method](mean.strata[0].units, level)
    if method == "effective-wilson":
        low, high, _ = uncertainty.macro_wilson(mean.strata, level)
        return low, high
    raise NoIntervalError(f"undefined: {method} is for one proportion, not for their mean")


_OF_PROPORTIONS = {
    "effective-wilson": proportions.effective_wilson,
    "wilson": proportions.wilson,
    "korn-graubard": proportions.korn_graubard,
    "clopper-pearson": proportions.clopper_pearson,
    "jeffreys": proportions.jeffreys,
}


def _bootstrap(mean: Estimate, level: float, samples: int, seed: int) -> tuple[float, float]:
    if any(each.units.sums.units < 2 for each in mean.strata):
        raise NoIntervalError(_NOTHING)
    # For weight: only a bootstrap draws.
    from ..numbers import resampling

    try:
        drawn = sorted(resampling.means(mean.strata, samples, seed))
    except OverflowError:
        raise NoIntervalError(f"undefined for a resample: {BEYOND}") from None
    tail = (1 - level) / 2
    low = exact.rounded(exact.quantile(drawn, tail))
    high = exact.rounded(exact.quantile(drawn, 1 - tail))
    if low == high:
        raise NoIntervalError("undefined: every resample has the same mean")
    assert low is not None  # between two means
    assert high is not None
    return low, high
