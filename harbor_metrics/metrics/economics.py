"""What attempts cost: seconds, tokens, US dollars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from .. import exact
from ..estimate import Estimate, Undefined, Units, estimate
from ..exact import Number
from ..parameters import Key, Lower, Threshold
from ..table import Table
from ..trial import LineTrials, Trial
from .moments import BEYOND

_Amount = Callable[[Trial], Number | None]


def seconds_per_task(trials: Table) -> Lower:
    """Wall-clock seconds of an attempt, averaged within tasks, then over tasks.

    Over the attempts that say their time, and the tasks that have rewards: evsys's `time_per_task`,
    without its roundings.
    """
    return _per_task(trials, _seconds, "time")


def tokens_per_task(trials: Table) -> Lower:
    """Input and output tokens of an attempt, averaged within tasks, then over tasks.

    Over the attempts that say either, and the tasks that have rewards: evsys's `tokens_per_task`.
    Tokens read from a cache are not added.
    """
    return _per_task(trials, _tokens, "tokens")


def cost_per_task(trials: Table) -> Lower:
    """US dollars of an attempt, averaged within tasks, then over tasks.

    Over the attempts that say their cost, and the tasks that have rewards: evsys's `cost_per_task`.
    """
    return _per_task(trials, _cost, "cost")


def total_seconds(trials: Table) -> Lower:
    """Wall-clock seconds of all attempts that say their time."""
    return _total(trials, _seconds, "time")


def total_tokens(trials: Table) -> Lower:
    """Input and output tokens of all attempts that say either."""
    return _total(trials, _tokens, "tokens")


def total_cost(trials: Table) -> Lower:
    """US dollars of all attempts that say their cost."""
    return _total(trials, _cost, "cost")


def seconds_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """Wall-clock seconds of all attempts for each task that any attempt solved."""
    return _per_solved(trials, _seconds, "time", key, threshold)


def tokens_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """Input and output tokens of all attempts for each task that any attempt solved."""
    return _per_solved(trials, _tokens, "tokens", key, threshold)


def cost_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """US dollars of all attempts for each task that any attempt solved."""
    return _per_solved(trials, _cost, "cost", key, threshold)


def _seconds(trial: Trial) -> Number | None:
    return trial.usage.seconds


def _tokens(trial: Trial) -> Number | None:
    said = [n for n in (trial.usage.n_input_tokens, trial.usage.n_output_tokens) if n is not None]
    return sum(said) if said else None


def _cost(trial: Trial) -> Number | None:
    return trial.usage.cost_usd


def _said(trials: Table, amount: _Amount) -> Iterable[tuple[Trial, Number]]:
    if isinstance(trials.trials, LineTrials):
        return []
    return [(trial, said) for trial in trials if (said := amount(trial)) is not None]


def _total(trials: Table, amount: _Amount, what: str) -> Number | Undefined:
    amounts = [said for _, said in _said(trials, amount)]
    value = exact.total(amounts) if amounts else None
    if not amounts:
        return Undefined(f"no trial says its {what}")
    return Undefined(BEYOND) if value is None else value


def _per_task(trials: Table, amount: _Amount, what: str) -> Estimate | Undefined:
    scored = {
        task
        for task, rewards in zip(trials.tasks, trials.rewards(), strict=True)
        if rewards is not None
    }
    tasks: dict[str, list[Number]] = {}
    for trial, said in _said(trials, amount):
        if trial.task in scored:
            tasks.setdefault(trial.task, []).append(said)
    if not tasks:
        return Undefined(f"no trial with rewards says its {what}")
    means = [sum(map(Fraction, said), Fraction(0)) / len(said) for said in tasks.values()]
    scale = math.lcm(*{mean.denominator for mean in means})
    return estimate(Units([int(mean * scale) for mean in means], None, scale), n=len(means))


def _per_solved(
    trials: Table, amount: _Amount, what: str, key: str | None, threshold: float
) -> Number | Undefined:
    keys = list(trials.columns)
    if key is None and len(keys) > 1:
        return Undefined(f"trials have {len(keys)} rewards; `key` says which one solves a task")
    total = _total(trials, amount, what)
    if isinstance(total, Undefined):
        return total
    name = key if key is not None else keys[0] if keys else ""
    solved = {
        task
        for task, rewards in zip(trials.tasks, trials.rewards(), strict=True)
        if rewards and name in rewards and rewards[name] >= threshold
    }
    if not solved:
        return Undefined("undefined ratio: no task is solved")
    value = exact.rounded(Fraction(total) / len(solved))
    return Undefined(BEYOND) if value is None else value
