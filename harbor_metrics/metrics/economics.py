"""What attempts cost: seconds, tokens, US dollars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from ..contract.estimate import Estimate, Undefined, estimate, repeats
from ..contract.parameters import Key, Lower, Lowers, Qs, Threshold
from ..numbers import exact
from ..numbers.attempts import Repeats
from ..numbers.exact import Number
from ..numbers.units import Range, Tasks, Units
from ..trials.labelled import label_text
from ..trials.table import Table
from ..trials.trial import LineTrials, Trial
from .moments import BEYOND

_Of = Annotated[
    Literal["seconds", "tokens", "cost"],
    Meta(
        description="Wall-clock seconds, input and output tokens, or US dollars.",
        examples=["seconds"],
    ),
]
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
    return _total(trials, "seconds")


def total_tokens(trials: Table) -> Lower:
    """Input and output tokens of all attempts that say either."""
    return _total(trials, "tokens")


def total_cost(trials: Table) -> Lower:
    """US dollars of all attempts that say their cost."""
    return _total(trials, "cost")


def seconds_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """Wall-clock seconds of all attempts for each task that any attempt solved."""
    return _per_solved(trials, "seconds", key, threshold)


def tokens_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """Input and output tokens of all attempts for each task that any attempt solved."""
    return _per_solved(trials, "tokens", key, threshold)


def cost_per_solved_task(
    trials: Table, *, key: Key | None = None, threshold: Threshold = 1.0
) -> Lower:
    """US dollars of all attempts for each task that any attempt solved."""
    return _per_solved(trials, "cost", key, threshold)


def usage_quantile(trials: Table, *, of: _Of, q: Qs = 0.5) -> Lowers:
    """Time, tokens or dollars that a share `q` of attempts stays below: the median, p95, ….

    Over the attempts that say theirs, each by itself whatever its task, linear between two of them
    as numpy's `quantile` (type 7 of Hyndman and Fan 1996), rounded once; q as it is written.
    """
    known = list(_with_amount(trials, _AMOUNTS[of]))
    ordered = sorted(used for _, used in known)
    over = (len(known), len({trial.task for trial, _ in known}))

    def value(share: float) -> Estimate | Undefined:
        if not ordered:
            return Undefined(f"no trial says its {_SAID.get(of, of)}", 0)
        amount = exact.rounded(exact.quantile(ordered, share))
        if amount is None:
            return Undefined(BEYOND)
        return Estimate(value=amount, n=len(ordered), over=over)

    return {label_text(each): value(each) for each in q} if isinstance(q, list) else value(q)


def _seconds(trial: Trial) -> Number | None:
    return trial.usage.seconds


def _tokens(trial: Trial) -> Number | None:
    tokens = (trial.usage.n_input_tokens, trial.usage.n_output_tokens)
    known = [n for n in tokens if n is not None]
    if not known:
        return None
    total = exact.total(known)
    # Who adds up to more than a float holds is whole.
    return sum(map(int, known)) if total is None else total


def _cost(trial: Trial) -> Number | None:
    return trial.usage.cost_usd


_AMOUNTS: dict[str, _Amount] = {"seconds": _seconds, "tokens": _tokens, "cost": _cost}
_SAID = {"seconds": "time"}
_FIELDS = {
    "seconds": ("seconds",),
    "tokens": ("n_input_tokens", "n_output_tokens"),
    "cost": ("cost_usd",),
}


def _with_amount(trials: Table, amount: _Amount) -> Iterable[tuple[Trial, Number]]:
    if isinstance(trials.trials, LineTrials):
        return []
    return [(trial, used) for trial in trials if (used := amount(trial)) is not None]


def _total(trials: Table, of: str) -> Estimate | Undefined:
    totals = [total for name in _FIELDS[of] if (total := trials.used(name)) is not None]
    if not totals:
        return Undefined(f"no trial says its {_SAID.get(of, of)}")
    value = None if math.inf in totals else exact.total(totals)
    if value is None:
        return Undefined(BEYOND)

    def unrounded() -> Fraction:
        spent = [getattr(trial.usage, name) for name in _FIELDS[of] for trial in trials]
        return exact.add_up([amount for amount in spent if amount is not None])

    return Estimate(value=value, unrounded=unrounded)


def _per_task(trials: Table, amount: _Amount, what: str) -> Estimate | Undefined:
    scored = {
        task
        for task, rewards in zip(trials.tasks, trials.rewards(), strict=True)
        if rewards is not None
    }
    tasks: dict[str, list[Number]] = {}
    for trial, used in _with_amount(trials, amount):
        if trial.task in scored:
            tasks.setdefault(trial.task, []).append(used)
    if not tasks:
        return Undefined(f"no trial with rewards says its {what}")
    means = [sum(map(Fraction, amounts), Fraction(0)) / len(amounts) for amounts in tasks.values()]
    scale = math.lcm(*{mean.denominator for mean in means})

    def again() -> Repeats:
        rows = [(task, each) for task, said in tasks.items() for each in said]
        return replace(repeats([task for task, _ in rows], [n for _, n in rows]), by_task=True)

    numerators = [int(mean * scale) for mean in means]
    by_task = Tasks(list(tasks), numerators, None, scale)
    units = Units(
        numerators, None, scale, rewards=Range.POSITIVE, inside=again, tasks=lambda: by_task
    )
    return estimate(units, n=len(means), over=(sum(map(len, tasks.values())), len(means)))


def _per_solved(trials: Table, of: str, key: str | None, threshold: float) -> Number | Undefined:
    keys = list(trials.columns)
    if key is None and len(keys) > 1:
        return Undefined(f"trials have {len(keys)} rewards; `key` says which one solves a task")
    total = _total(trials, of)
    if isinstance(total, Undefined):
        return total
    name = key if key is not None else keys[0] if keys else ""
    passes = trials.column(name, "skip").passes(threshold)
    solved = sum(times for (_, passed), times in passes.items() if passed)
    if not solved:
        return Undefined("undefined ratio: no task is solved")
    value = exact.rounded(Fraction(total.value) / solved)
    return Undefined(BEYOND) if value is None else value
