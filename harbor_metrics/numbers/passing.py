"""Chances of k attempts, exactly, from how all attempts at a task went."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb


def at_k(n: int, passed: int, k: int) -> Fraction:
    """That at least one of k attempts passes, without bias: 1 - C(n-c, k) / C(n, k).

    Chen et al., Evaluating Large Language Models Trained on Code (2021), for k <= n.
    """
    return 1 - Fraction(comb(n - passed, k), comb(n, k))


def hat_k(n: int, passed: int, k: int) -> Fraction:
    """That all of k attempts pass, without bias: C(c, k) / C(n, k).

    Yao et al., tau-bench (2024), for k <= n.
    """
    return Fraction(comb(passed, k), comb(n, k))


def least_k(n: int, passed: int, k: int, least: int) -> Fraction:
    """That at least so many of k attempts pass: the upper tail of a hypergeometric distribution.

    Liu et al., Are Your LLMs Capable of Stable Reasoning? (2024), for k <= n.
    """
    ways = sum(comb(passed, j) * comb(n - passed, k - j) for j in range(least, k + 1))
    return Fraction(ways, comb(n, k))


def most_of_k(answers: Sequence[tuple[int, bool]], unanswered: int, k: int) -> Fraction:
    """That the most frequent answer of k attempts is right; of a tie, the share that is right.

    `answers` are how often each answer is given, and whether it is right. Over all C(n, k) choices
    of attempts, counted and not listed, for k <= n.
    """
    n = unanswered + sum(times for times, _ in answers)
    won = Fraction(0)
    for most in range(1, k + 1):
        # (attempts taken, answers given `most` times, right ones of those) -> ways to choose
        ways = {(taken, 0, 0): comb(unanswered, taken) for taken in range(min(unanswered, k) + 1)}
        for times, right in answers:
            grown: dict[tuple[int, int, int], int] = {}
            for (taken, tied, good), count in ways.items():
                for more in range(min(times, most, k - taken) + 1):
                    top = more == most
                    key = (taken + more, tied + top, good + (top and right))
                    grown[key] = grown.get(key, 0) + count * comb(times, more)
            ways = grown
        for (taken, tied, good), count in ways.items():
            if taken == k and good:
                won += Fraction(count * good, tied)
    return won / comb(n, k)
