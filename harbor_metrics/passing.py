"""The chances that attempts pass, exactly, from how many of a task's attempts did."""

from __future__ import annotations

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
