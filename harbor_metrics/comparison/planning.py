"""What it would take to decide: more tasks, or more attempts at those there are, in a sentence."""

from __future__ import annotations

import math

from ..documents.wording import plural
from ..numbers.exact import Number
from ..numbers.planning import attempts_needed, tasks_needed
from .document import Compared, Row
from .finding import TOTALS
from .settings import Settings


def what_it_takes(
    row: Row, compared: Compared, settings: Settings, difference: float, if_: str
) -> str | None:
    """How many tasks, or attempts at those there are, show that much; None where nothing tells.

    By the variance of single tasks and of attempts at them (Miller 2024). `if_` says what is
    taken to be true.
    """
    power = f"{100 * settings.power:g} of 100 comparisons"
    if settings.over == "attempts":
        ways = [_attempts_over(row, compared, settings, difference)]
    else:
        ways = [_tasks(row, compared, settings, difference)]
        ways.append(_attempts(row, compared, settings, difference) if ways[0] else None)
    told = [way for way in ways if way]
    if not told:
        return None
    if told[0] == _ENOUGH:
        return f"As many tasks and attempts as there are pass in {power} {if_}."
    last = told[-1] if len(told) > 1 and told[-1].startswith(_NOT) else None
    needed = " or ".join(way for way in told if way is not last)
    after = f"; {last}" if last else ""
    return f"It would take {needed} to pass in {power} {if_}{after}."


_NOT, _ENOUGH = "more attempts", "enough"


def _tasks(row: Row, compared: Compared, settings: Settings, difference: float) -> str | None:
    if not row.stderr or not row.n or row.method == "clustered t" or row.type in TOTALS:
        return None
    variance = _squared(row.stderr) * row.n
    n = tasks_needed(variance, difference, settings.level, settings.power)
    if n is None:
        return "more tasks than anybody plans"
    if n <= row.n:
        return _ENOUGH
    k = attempts_of(compared)
    each = f" with {plural(k, 'attempt')}" if k is not None else " like these"
    return f"{plural(n, 'task')}{each}"


def _attempts(row: Row, compared: Compared, settings: Settings, difference: float) -> str | None:
    k = attempts_of(compared)
    if row.rerun_variance is None or row.task_variance is None or not row.n or row.n < 2:
        if k == 1:
            return f"{_NOT} at each may help, which one attempt at each cannot tell"
        return None
    times = attempts_needed(
        float(row.task_variance), float(row.rerun_variance), row.n, difference,
        settings.level, settings.power,
    )  # fmt: skip
    if times is None:
        return f"{_NOT} at these {plural(row.n, 'task')} alone would probably not do"
    return _so_many(times, k, row.n)


def _attempts_over(
    row: Row, compared: Compared, settings: Settings, difference: float
) -> str | None:
    if not row.stderr or not row.n or not row.df:
        return None
    times = attempts_needed(
        0.0, _squared(row.stderr), 1, difference, settings.level, settings.power, row.df
    )
    if times is None:
        return None
    if times <= 1:
        return _ENOUGH
    return _so_many(times, attempts_of(compared), row.n)


def _squared(stderr: Number) -> float:
    """The variance; infinite beyond binary64, which `**` refuses."""
    return float(stderr) * float(stderr)


def _so_many(times: float, k: int | None, n: int) -> str:
    if k is None:
        return f"{times:.2g} times as many attempts at each of these {plural(n, 'task')}"
    return f"{plural(math.ceil(k * times), 'attempt')} at each of these {plural(n, 'task')}"


def attempts_of(compared: Compared) -> int | None:
    """How many attempts each task has on both sides; None where they are not all as many."""
    counts = {n for row in compared.by_task for n in (row.base[1], row.candidate[1])}
    return counts.pop() if len(counts) == 1 and not compared.not_listed else None
