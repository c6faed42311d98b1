"""Whether attempts are consistent, and what more of them would buy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import starmap
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.attempts import mean_of_tasks, too_few
from ..contract.estimate import Estimate, Undefined, units
from ..contract.parameters import Attempts, Higher, Lower
from ..numbers import exact
from ..numbers.exact import Number
from ..trials.column import Column, Kind
from .moments import BEYOND, NO_VALUES

_Threshold = Annotated[
    float | None,
    Meta(
        description="Attempts are alike where both or neither reach this reward; with null, where "
        "their rewards are equal."
    ),
]
_Method = Annotated[
    Literal["agreement", "hal"],
    Meta(description="The chance that two attempts agree, or HAL's (2p - 1)²."),
]
_Part = Annotated[
    Literal["all", "within", "between", "icc", "attempts-share", "one-more-attempt"],
    Meta(description="The only one of the components to give, or `all` of them."),
]
# How often each outcome stands among a task's attempts.
_Task = tuple[int, ...]


def consistency(
    rewards: Attempts, *, method: _Method = "agreement", threshold: _Threshold = None
) -> Higher:
    """Whether attempts are consistent: the chance that two attempts at a task agree.

    The mean over tasks of Σ over outcomes of c·(c - 1) / (n·(n - 1)), of n attempts of which c have
    that outcome, in exact fractions, rounded once (the mean agreement P of Fleiss 1971). `hal`:
    the mean of (2p - 1)², where p is the share of a task's attempts that pass (`threshold`, 1 if
    null), the outcome consistency of the HAL harness; it is too large for few attempts. A task that
    always fails is consistent too. A task with one attempt leaves it undefined.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    few = too_few(rewards, 2, "consistency")
    if few is not None:
        return few
    if method == "agreement":
        times = _tasks(rewards, threshold)
        values = {task: _agreement(task) for task in times}
        return mean_of_tasks(rewards, times, values, lambda: _by_task(rewards, threshold))
    passing = 1.0 if threshold is None else threshold
    times = _tasks(rewards, passing)
    values = {task: _squared_surplus(task) for task in times}
    return mean_of_tasks(rewards, times, values, lambda: _by_task(rewards, passing))


def _agreement(task: _Task) -> Fraction:
    n = sum(task)
    return Fraction(sum(c * (c - 1) for c in task), n * (n - 1))


def _squared_surplus(task: _Task) -> Fraction:
    """(2p - 1)², which is the same for the share that passes and the share that fails."""
    return Fraction(2 * task[0] - sum(task), sum(task)) ** 2


def flipped(rewards: Attempts, *, threshold: _Threshold = None) -> Lower:
    """Share of tasks whose attempts are not all alike: they pass one time and fail another.

    With a `threshold` whether they reach it is what must be alike, else the rewards. A task with
    one attempt leaves it undefined. More attempts find more tasks that flip; the chance that two
    attempts agree (`consistency`) does not depend on how many there are.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    times = _tasks(rewards, threshold)
    values = {task: Fraction(len(task) > 1) for task in times}
    return too_few(rewards, 2, "flipped") or mean_of_tasks(
        rewards, times, values, lambda: _by_task(rewards, threshold)
    )


def _tasks(rewards: Column, threshold: float | None) -> Counter[_Task]:
    """How many tasks have the same numbers of attempts of each outcome."""
    tasks: Counter[_Task] = Counter()
    if threshold is None:
        for kind, times in rewards.kinds.items():
            tasks[_of_kind(kind)] += times
        return tasks
    for (n, passed), times in rewards.passes(threshold).items():
        tasks[_of_passes(n, passed)] += times
    return tasks


def _by_task(rewards: Column, threshold: float | None) -> Iterable[_Task]:
    """The same of each task, in order."""
    if threshold is None:
        return map(_of_kind, rewards.kinds_by_task())
    return starmap(_of_passes, rewards.passes_by_task(threshold))


def _of_kind(kind: Kind) -> _Task:
    return tuple(sorted(often for _, often in kind))


def _of_passes(n: int, passed: int) -> _Task:
    return tuple(sorted(filter(None, (passed, n - passed))))


def variance_components(
    rewards: Attempts, *, part: _Part = "all"
) -> Number | Undefined | dict[str, Number | Estimate | Undefined]:
    """What one more attempt would buy in certainty: how rewards vary within tasks, and between.

    A mean is as sure as its standard error is small. What an attempt buys in solved tasks is the
    difference of `pass-at-k` at k and k + 1 (or of `best-at-k`, where rewards are graded).

    `within`: the variance of attempts at a task, MSW of a one-way analysis of variance; `between`:
    that of the tasks' own means, (MSB - MSW) / n₀ with n₀ = (N - Σn²/N) / (T - 1) attempts a task,
    not cut at 0; `icc`: between / (between + within), ICC(1), as pingouin's `intraclass_corr`.
    `attempts-share`: MSW / MSB, the share of the squared standard error of the mean that comes from
    attempts and would vanish with ever more of them (Miller 2024); the rest only more tasks can
    reduce. `one-more-attempt`: the share of the standard error itself that one more attempt at each
    task would take away, 1 - sqrt(1 - attempts-share / (n₀ + 1)). Where `between` is below 0, tasks
    differ by less than their attempts let expect: `icc` is below 0, `attempts-share` above 1, and
    `one-more-attempt` more than an attempt can truly take away. Exact, rounded once. For an error
    bar `bootstrap-stderr` takes one `part` of these.
    """
    components = _components(rewards)
    return components[part] if part != "all" else {**components}


def _components(rewards: Column) -> dict[str, Number | Undefined]:
    names = ("within", "between", "icc", "attempts-share", "one-more-attempt")
    if not len(rewards):
        return dict.fromkeys(names, Undefined(NO_VALUES))
    n, tasks = len(rewards), rewards.n_tasks
    if tasks < 2:
        return dict.fromkeys(names, Undefined("undefined for a single task"))
    if n == tasks:
        why = "undefined: no task has two attempts, so nothing is known of how they vary"
        return dict.fromkeys(names, Undefined(why))
    whole, alone = units(rewards), units(rewards, cluster=None)
    of_tasks = whole.squares_over_sizes
    within = (Fraction(alone.sums.nn, alone.scale**2) - of_tasks) / (n - tasks)
    overall = Fraction(whole.sums.n**2, n * whole.scale**2)
    among = (of_tasks - overall) / (tasks - 1)
    size = (n - Fraction(whole.sums.dd, n)) / (tasks - 1)
    between = (among - within) / size
    equal = Undefined("undefined ratio: all rewards are equal")
    same_means = Undefined("undefined ratio: all tasks have the same mean") if within else equal
    share = within / among if among else None
    return {
        "within": _rounded(within),
        "between": _rounded(between),
        "icc": _rounded(between / (between + within)) if between + within else equal,
        "attempts-share": same_means if share is None else _rounded(share),
        "one-more-attempt": same_means if share is None else _one_more(share / (size + 1)),
    }


def _one_more(part: Fraction) -> Number | Undefined:
    if part > 1:
        return Undefined("undefined: tasks differ by less than their attempts let expect")
    left = 1 - part
    root = exact.root(left.numerator, left.denominator)
    assert root is not None  # it is at most 1
    # 1 - root, without the cancellation.
    return float(part) / (1 + root)


def _rounded(value: Fraction) -> Number | Undefined:
    rounded = exact.rounded(value)
    return Undefined(BEYOND) if rounded is None else rounded
