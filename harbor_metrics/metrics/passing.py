"""Whether attempts pass: rates, and chances of k attempts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from ..column import Column
from ..estimate import Estimate, Undefined, Units, estimate, ratio_units, units
from ..parameters import Attempts, Fewer, Higher, Highers, Ks, Threshold
from ..passing import at_k, hat_k
from .moments import NO_VALUES

# From how many attempts of a task, how many of them passed and k to the task's value.
_Chance = Callable[[int, int, int], Fraction]


def pass_rate(rewards: Column, *, threshold: Threshold = 1.0) -> Higher:
    """Share of all attempts that pass (pooled): those with a reward of at least the threshold.

    Tasks with more attempts weigh more. evsys's `pass_rate`.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    return estimate(ratio_units(rewards, _passes(rewards, threshold), None, 1))


def pass_at_k(rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0) -> Highers:
    """Chance that one of k attempts at a task passes, averaged over tasks.

    Estimated without bias from all n attempts of a task, of which c pass: 1 - C(n-c, k) / C(n, k)
    (Chen et al. 2021), in exact fractions, rounded once. A task with fewer than k attempts leaves
    it undefined, where Harbor's and the original code say 1. Harbor's own `pass_at_k` of a job
    stands in the result's field of that name; evsys's pass@k is `any-first-k`; Inspect's `pass_at`
    is a reducer, and leaves tasks with too few attempts out.
    """
    times = _histogram(rewards, threshold)
    return _of_each(k, lambda one: _mean_chance(rewards, times, one, at_k))


def pass_hat_k(rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0) -> Highers:
    """Chance that all of k attempts at a task pass, averaged over tasks.

    Estimated without bias from all n attempts of a task, of which c pass: C(c, k) / C(n, k)
    (tau-bench's pass^k), in exact fractions, rounded once. A task with fewer than k attempts leaves
    it undefined. evsys's pass^k is `all-first-k`; Inspect's `pass_k` is a reducer, and leaves tasks
    with too few attempts out.
    """
    times = _histogram(rewards, threshold)
    return _of_each(k, lambda one: _mean_chance(rewards, times, one, hat_k))


def at_least_k(
    rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which k or more attempts pass, of however many there are."""

    def reached(attempts: Sequence[int], k: int) -> bool:
        return sum(attempts) >= k

    return _of_each(k, lambda one: _share(rewards, one, threshold, method, reached))


def any_first_k(
    rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which any of the first k attempts passes.

    evsys's pass@k, which looks at fewer attempts where there are fewer: `method` `available`.
    `pass-at-k` estimates the same chance from all attempts, and so varies less.
    """

    def reached(attempts: Sequence[int], k: int) -> bool:
        return any(attempts[:k])

    return _of_each(k, lambda one: _share(rewards, one, threshold, method, reached))


def all_first_k(
    rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which all of the first k attempts pass.

    evsys's pass^k, which takes one attempt that passes for all where there is no other: `method`
    `available`. `pass-hat-k` estimates the same chance from all attempts, and so varies less.
    """

    def reached(attempts: Sequence[int], k: int) -> bool:
        return all(attempts[:k])

    return _of_each(k, lambda one: _share(rewards, one, threshold, method, reached))


def _of_each(k: Ks, value: Callable[[int], Estimate | Undefined]) -> Highers:
    if isinstance(k, int):
        return value(k)
    return {str(one): value(one) for one in k}


def _histogram(rewards: Column, threshold: float) -> Counter[tuple[int, int]]:
    """How many tasks have n attempts of which c pass, by (n, c)."""
    if rewards.tally is not None and set(rewards.tally) <= {0, 1} and 0 < threshold <= 1:
        # The tasks' sums, which other metrics need as well.
        tasks = units(rewards)
        sizes = tasks.denominators or [1] * len(tasks.numerators)
        times = tasks.times or [1] * len(tasks.numerators)
        histogram: Counter[tuple[int, int]] = Counter()
        for top, n, often in zip(tasks.numerators, sizes, times, strict=True):
            histogram[n, top // tasks.scale] += often
        return histogram
    passed = rewards.task_sums(_passes(rewards, threshold))
    return Counter(zip(rewards.sizes, passed, strict=True))


def _mean_chance(
    rewards: Column, times: Counter[tuple[int, int]], k: int, chance: _Chance
) -> Estimate | Undefined:
    if not rewards.values:
        return Undefined(NO_VALUES)
    few = _too_few(rewards, k)
    if few is not None:
        return few
    chances = [chance(n, c, k) for n, c in times]
    scale = math.lcm(*{each.denominator for each in chances})
    numerators = [each.numerator * (scale // each.denominator) for each in chances]
    tasks = Units(numerators, None, scale, list(times.values()))
    return estimate(tasks, n=rewards.n_tasks, notes=_unequal(rewards))


def _share(
    rewards: Column,
    k: int,
    threshold: float,
    method: Fewer,
    reached: Callable[[Sequence[int], int], bool],
) -> Estimate | Undefined:
    if not rewards.values:
        return Undefined(NO_VALUES)
    few = _too_few(rewards, k)
    if few is not None and method == "strict":
        return few
    tasks = [int(reached(task, k)) for task in _passed(rewards, threshold)]
    notes = _unequal(rewards)
    if few is not None:
        notes = (f"{few.reason}; those there are decide", *notes)
    return estimate(Units(tasks), n=rewards.n_tasks, notes=notes)


def _passed(rewards: Column, threshold: float) -> list[list[bool]]:
    """Of each task, which attempts pass."""
    passed = _passes(rewards, threshold)
    return [passed[a:b] for a, b in pairwise(rewards.ends)]


def _passes(rewards: Column, threshold: float) -> list[bool]:
    # In C: a comparison written out takes four times as long.
    return list(map(float(threshold).__le__, rewards.values))


def _too_few(rewards: Column, k: int) -> Undefined | None:
    short = sum(times for size, times in rewards.sizes_tally.items() if size < k)
    if not short:
        return None
    first = next(i for i, size in enumerate(rewards.sizes) if size < k)
    task = rewards.tasks[rewards.ends[first]]
    return Undefined(
        f"k={k} needs {k} attempts at each task, and {short} of {rewards.n_tasks} have fewer: "
        f"{task} has {rewards.sizes[first]}"
    )


def _unequal(rewards: Column) -> tuple[str, ...]:
    fewest, most = min(rewards.sizes_tally), max(rewards.sizes_tally)
    if fewest == most:
        return ()
    return (f"tasks have {fewest} to {most} attempts: the value is taken task by task",)
