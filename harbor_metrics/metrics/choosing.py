"""The best, the worst, or the most frequent of k attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Annotated

from msgspec import Meta

from ..contract.attempts import for_each_k, mean_of_tasks, too_few
from ..contract.estimate import Estimate, Undefined
from ..contract.parameters import Attempts, Highers, Ks, Threshold
from ..errors import MetricFailure
from ..numbers.passing import most_of_k
from ..numbers.units import Range
from ..trials.column import Column, Kind
from ..trials.labelled import label_text
from ..trials.trial import Label
from .moments import NO_VALUES

_Prediction = Annotated[
    str, Meta(min_length=1, description="The name of the text or label that is an answer.")
]


def best_at_k(rewards: Attempts, *, k: Ks) -> Highers:
    """Expected reward of the best of k attempts at a task, averaged over tasks (best of k).

    Σ over the n rewards of a task, the smallest first, of r_i · C(i-1, k-1) / C(n, k): the mean
    largest reward over all choices of k attempts (Bagirov et al. 2025, arXiv 2510.23393), in exact
    fractions, rounded once. Of rewards that are 0 and 1 it is `pass-at-k`. scorio's `max_at_k`. A
    task with fewer than k attempts leaves it undefined.
    """
    return for_each_k(k, lambda size: _at_an_end(rewards, size, rising=True))


def worst_at_k(rewards: Attempts, *, k: Ks) -> Highers:
    """Expected reward of the worst of k attempts at a task, averaged over tasks.

    Σ over the n rewards of a task, the largest first, of r_i · C(i-1, k-1) / C(n, k): the mean
    smallest reward over all choices of k attempts, in exact fractions, rounded once. Of rewards
    that are 0 and 1 it is `pass-hat-k`. A task with fewer than k attempts leaves it undefined.
    """
    return for_each_k(k, lambda size: _at_an_end(rewards, size, rising=False))


def _at_an_end(rewards: Column, k: int, *, rising: bool) -> Estimate | Undefined:
    if not len(rewards):
        return Undefined(NO_VALUES)
    few = too_few(rewards, k)
    if few is not None:
        return few
    times = rewards.kinds
    values = {kind: _expected_end(kind if rising else kind[::-1], k) for kind in times}
    bounds = max(rewards.range, Range.SHARE)
    return mean_of_tasks(rewards, times, values, rewards.kinds_by_task, bounds)


def _expected_end(kind: Kind, k: int) -> Fraction:
    """The mean last reward, in this order, over all choices of k attempts."""
    total, n, before = Fraction(0), 0, 0
    for reward, times in kind:
        n += times
        # So many choices have nothing behind this reward.
        choices = comb(n, k)
        total += Fraction(reward) * (choices - before)
        before = choices
    return total / before


def majority_at_k(
    rewards: Attempts,
    *,
    k: Ks,
    prediction: _Prediction = "prediction",
    threshold: Threshold = 1.0,
) -> Highers:
    """Chance that the most frequent answer of k attempts at a task is right (self-consistency).

    Over all C(n, k) choices of a task's attempts, counted exactly, averaged over tasks, rounded
    once (Wang et al. 2022, arXiv 2203.11171). An answer is a text or a label, compared as it is
    written, and right where its reward reaches the `threshold`; of several that are as frequent,
    the share counts that is right. An attempt without an answer has no vote, and a choice without
    any is wrong. scorio's `maj_at_k` wants more than half of the answers to be right, and lighteval
    decides a tie by the first. A task with fewer than k attempts leaves it undefined.
    """
    if not len(rewards):
        return Undefined(NO_VALUES)
    # A label stands in for no text that others have.
    texts = [trial.texts.get(prediction) for trial in rewards.trials]
    answers = (
        list(map(_answer, texts))
        if any(text is not None for text in texts)
        else [_named(trial.labels.get(prediction)) for trial in rewards.trials]
    )
    if not any(answer is not None for answer in answers):
        raise MetricFailure(
            "missing-label", f"no trial has a text or a label `{prediction}`, which is its answer"
        )
    # Of each task how often each answer is given and whether it is right, and how many give none.
    votes: list[tuple[tuple[tuple[int, bool], ...], int]] = []
    for a, b in pairwise(rewards.ends):
        right: dict[str, bool] = {}
        for answer, reward in zip(answers[a:b], rewards.values[a:b], strict=True):
            passes = reward >= threshold
            if answer is not None and right.setdefault(answer, passes) != passes:
                return Undefined(
                    f"undefined: an answer of task {rewards.tasks[a]} is right in one attempt and "
                    f"wrong in another: {answer[:40]!r}"
                )
        given = Counter(answer for answer in answers[a:b] if answer is not None)
        counts = sorted((times, right[answer]) for answer, times in given.items())
        votes.append((tuple(counts), b - a - given.total()))
    times = Counter(votes)

    def chance(size: int) -> Estimate | Undefined:
        few = too_few(rewards, size)
        if few is not None:
            return few
        values = {vote: most_of_k(*vote, size) for vote in times}
        return mean_of_tasks(rewards, times, values, lambda: votes)

    return for_each_k(k, chance)


def _answer(text: str | Sequence[str] | None) -> str | None:
    return text if isinstance(text, str | None) else "\n".join(text)


def _named(label: Label) -> str | None:
    return None if label is None else label_text(label)
