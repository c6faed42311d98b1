"""Which differences would show, and how many tasks it takes that a difference shows."""

from __future__ import annotations

import math

from .distributions import normal_quantile, t_quantile

# Beyond so many tasks nobody plans.
_MOST_TASKS = 10**12


def smallest(stderr: float, df: float, level: float, power: float) -> float:
    """The difference that is shown with the probability `power` where the error is this one.

    The sum of two quantiles of t times the error: 1 % from the exact one at 5 tasks, 0.1 % at 20.
    """
    return _quantiles(df, level, power) * stderr


def tasks_needed(variance: float, difference: float, level: float, power: float) -> int | None:
    """The fewest tasks with which a difference is shown; None beyond what anybody plans.

    `variance` is that of one task's difference.
    """
    z = normal_quantile((1 + level) / 2) + normal_quantile(power)
    about = variance * (z / difference) ** 2
    if about > _MOST_TASKS:
        return None
    # t asks for a few more tasks than the normal distribution.
    n = max(2, math.floor(about))
    while _quantiles(n - 1, level, power) * math.sqrt(variance / n) > difference:
        n += 1
    return n


def attempts_needed(
    of_tasks: float,
    of_attempts: float,
    n: int,
    difference: float,
    level: float,
    power: float,
    df: float | None = None,
) -> float | None:
    """How many times as many attempts show a difference on `n` tasks; None where none would.

    `of_tasks` is the variance of one task's own difference, `of_attempts` what its attempts add;
    the degrees of freedom are n - 1 unless they are given.
    """
    quantiles = _quantiles(n - 1 if df is None else df, level, power)
    room = n * (difference / quantiles) ** 2 - of_tasks
    return of_attempts / room if room > 0 else None


def _quantiles(df: float, level: float, power: float) -> float:
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)
