"""Whether attempts pass: rates, and chances of k attempts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta

from ..contract.attempts import for_each_k, mean_of_tasks, shortage, too_few, unequal
from ..contract.estimate import Estimate, Undefined, estimate
from ..contract.parameters import Attempts, Fewer, Higher, Highers, Ks, Leasts, Threshold
from ..numbers.attempts import Powers, Repeats
from ..numbers.passing import at_k, hat_k, least_k
from ..numbers.units import Range, Tasks, Units
from ..trials.column import Column
from .moments import NO_VALUES

_Tau = Annotated[
    Annotated[float, Meta(ge=0, le=1)] | Literal["mean"],
    Meta(
        description="The share of the k attempts that must pass, at least one; `mean` takes the "
        "mean over all shares above a half.",
        examples=[0.5],
    ),
]
# From how many attempts of a task, how many of them passed and k to the task's value.
_Chance = Callable[[int, int, int], Fraction]


def pass_rate(rewards: Column, *, threshold: Threshold = 1.0) -> Higher:
    """Share of all attempts that pass (pooled): those with a reward of at least the threshold.

    Tasks with more attempts weigh more. evsys's `pass_rate`.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    times = rewards.passes(threshold)
    often = list(times.values())

    def again() -> Repeats:
        # Of 0 and 1 the squares and cubes are the numbers themselves.
        return Repeats([Powers(n, c, c, c) for n, c in times], often, 1, by_task=False)

    sizes = [n for n, _ in times]
    single = set(sizes) == {1}
    inside = again if rewards.attempts is None else None
    passed = [c for _, c in times]

    def tasks() -> Tasks:
        attempts, hits = zip(*rewards.passes_by_task(threshold), strict=True)
        return Tasks(rewards.names, hits, attempts, 1)

    denominators = None if single else sizes
    return estimate(Units(passed, denominators, 1, often, Range.BINARY, inside, tasks=tasks))


def pass_at_k(rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0) -> Highers:
    """Chance that one of k attempts at a task passes, averaged over tasks.

    Estimated without bias from all n attempts of a task, of which c pass: 1 - C(n-c, k) / C(n, k)
    (Chen et al. 2021), in exact fractions, rounded once. A task with fewer than k attempts leaves
    it undefined, where Harbor's and the original code say 1. Harbor's own `pass_at_k` of a job
    stands in the result's field of that name; evsys's pass@k is `any-first-k`; Inspect's `pass_at`
    is a reducer, and leaves tasks with too few attempts out.
    """
    return for_each_k(k, lambda size: _mean_chance(rewards, threshold, size, at_k))


def pass_hat_k(rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0) -> Highers:
    """Chance that all of k attempts at a task pass, averaged over tasks.

    Estimated without bias from all n attempts of a task, of which c pass: C(c, k) / C(n, k)
    (tau-bench's pass^k), in exact fractions, rounded once. A task with fewer than k attempts leaves
    it undefined. evsys's pass^k is `all-first-k`; Inspect's `pass_k` is a reducer, and leaves tasks
    with too few attempts out.
    """
    return for_each_k(k, lambda size: _mean_chance(rewards, threshold, size, hat_k))


def g_pass_at_k(rewards: Attempts, *, k: Ks, tau: _Tau, threshold: Threshold = 1.0) -> Highers:
    """Chance that most of k attempts at a task pass, at least a share `tau` of them: stable skill.

    Σ over j >= max(1, ⌈tau·k⌉) of C(c, j)·C(n-c, k-j) / C(n, k) for n attempts of which c pass,
    averaged over tasks, in exact fractions, rounded once (G-Pass@k, Liu et al. 2024,
    arXiv 2412.13147); from pass@k at a `tau` near 0 to pass^k at 1. `tau` `mean` is mG-Pass@k,
    2/k · Σ over i from ⌈k/2⌉ + 1 to k of that at tau i/k, which for an odd k is below 1 even where
    all attempts pass, and is undefined for k = 1. Shares are rounded as `tau` is: 0.7 of ten
    attempts are seven. scorio's `g_pass_at_k_tau` and `mg_pass_at_k`. A task with fewer than k
    attempts leaves it undefined.
    """

    def stable(size: int) -> Estimate | Undefined:
        if tau != "mean":
            # Shares are rounded as tau is, so that 0.7 of ten attempts are seven.
            least = 1 + bisect_left(range(1, size), tau, key=lambda passed: passed / size)
            return _mean_chance(rewards, threshold, size, lambda n, c, k: least_k(n, c, k, least))
        if size == 1:
            return Undefined("undefined for k=1: there is no share of one attempt above a half")
        return _mean_chance(rewards, threshold, size, _mean_above_half)

    return for_each_k(k, stable)


def _mean_above_half(n: int, passed: int, k: int) -> Fraction:
    shares = range(k // 2 + k % 2 + 1, k + 1)
    chances = (least_k(n, passed, k, least) for least in shares)
    return sum(chances, Fraction(0)) * Fraction(2, k)


def at_least_k(
    rewards: Attempts, *, k: Leasts, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which k or more attempts pass, of however many there are."""

    def reached(k: int) -> Units:
        times = rewards.passes(threshold)
        often = list(times.values())

        def tasks() -> Tasks:
            hits = [int(c >= k) for _, c in rewards.passes_by_task(threshold)]
            return Tasks(rewards.names, hits, None, 1)

        hits = [int(c >= k) for _, c in times]
        return Units(hits, None, 1, often, Range.BINARY, tasks=tasks)

    return for_each_k(k, lambda size: _share(rewards, size, method, reached))


def any_first_k(
    rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which any of the first k attempts passes.

    evsys's pass@k, which looks at fewer attempts where there are fewer: `method` `available`.
    `pass-at-k` estimates the same chance from all attempts, and so varies less.
    """

    def reached(k: int) -> Units:
        return _of_first(rewards, threshold, lambda attempts: any(attempts[:k]))

    return for_each_k(k, lambda size: _share(rewards, size, method, reached))


def all_first_k(
    rewards: Attempts, *, k: Ks, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Highers:
    """Share of tasks of which all of the first k attempts pass.

    evsys's pass^k, which takes one attempt that passes for all where there is no other: `method`
    `available`. `pass-hat-k` estimates the same chance from all attempts, and so varies less.
    """

    def reached(k: int) -> Units:
        return _of_first(rewards, threshold, lambda attempts: all(attempts[:k]))

    return for_each_k(k, lambda size: _share(rewards, size, method, reached))


def _mean_chance(
    rewards: Column, threshold: float, k: int, chance: _Chance
) -> Estimate | Undefined:
    if not len(rewards):
        return Undefined(NO_VALUES)
    few = too_few(rewards, k)
    if few is not None:
        return few
    times = rewards.passes(threshold)
    values = {(n, c): chance(n, c, k) for n, c in times}
    return mean_of_tasks(rewards, times, values, lambda: rewards.passes_by_task(threshold))


def _share(
    rewards: Column,
    k: int,
    method: Fewer,
    reached: Callable[[int], Units],
) -> Estimate | Undefined:
    if not len(rewards):
        return Undefined(NO_VALUES)
    few = too_few(rewards, k)
    if few is not None and method == "strict":
        return few
    notes = unequal(rewards)
    if few is not None:
        notes = (f"{shortage(rewards, k)}; those there are decide", *notes)
    return estimate(reached(k), n=rewards.n_tasks, notes=notes)


def _of_first(
    rewards: Column, threshold: float, reached: Callable[[Sequence[bool]], bool]
) -> Units:
    """A unit a task, 1 where its attempts, in order, reach what they must."""
    # In C: a comparison written out takes four times as long.
    passed = list(map(float(threshold).__le__, rewards.values))
    hits = [int(reached(passed[a:b])) for a, b in pairwise(rewards.ends)]
    tasks = Tasks(rewards.names, hits, None, 1)
    return Units(hits, rewards=Range.BINARY, tasks=lambda: tasks)
