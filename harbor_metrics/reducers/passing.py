"""Whether, or how probably, a task's attempts pass."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.estimate import Undefined
from ..contract.parameters import Fewer, K, Least, Threshold
from ..numbers.exact import Number
from ..numbers.passing import at_k, hat_k


def pass_at_k(
    attempts: Sequence[Number], *, k: K, threshold: Threshold = 1.0
) -> Number | Undefined:
    """Chance that one of k attempts passes, estimated without bias from all n attempts.

    1 - C(n-c, k) / C(n, k) for c of n attempts that pass (Chen et al. 2021), rounded once. With
    fewer than k attempts there is no value. Inspect's `pass_at`. What others call pass@k is often
    `any-first-k`.
    """
    if len(attempts) < k:
        return _too_few(attempts, k)
    return float(at_k(len(attempts), _passed(attempts, threshold), k))


def pass_hat_k(
    attempts: Sequence[Number], *, k: K, threshold: Threshold = 1.0
) -> Number | Undefined:
    """Chance that all of k attempts pass, estimated without bias from all n attempts.

    C(c, k) / C(n, k) for c of n attempts that pass (tau-bench's pass^k), rounded once. With fewer
    than k attempts there is no value. Inspect's `pass_k`; evsys's pass^k is `all-first-k`.
    """
    if len(attempts) < k:
        return _too_few(attempts, k)
    return float(hat_k(len(attempts), _passed(attempts, threshold), k))


def at_least_k(
    attempts: Sequence[Number], *, k: Least, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Number | Undefined:
    """1 when k or more of all attempts pass, else 0.

    Inspect's `at_least` is 0 where there are fewer than k attempts: `method` `available`.
    """
    if len(attempts) < k and method == "strict":
        return _too_few(attempts, k)
    return int(_passed(attempts, threshold) >= k)


def any_first_k(
    attempts: Sequence[Number], *, k: K, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Number | Undefined:
    """1 when any of the first k attempts passes, else 0.

    evsys's pass@k, which looks at fewer attempts where there are fewer: `method` `available`.
    `pass-at-k` uses all attempts, and so varies less.
    """
    if len(attempts) < k and method == "strict":
        return _too_few(attempts, k)
    return int(_passed(attempts[:k], threshold) > 0)


def all_first_k(
    attempts: Sequence[Number], *, k: K, threshold: Threshold = 1.0, method: Fewer = "strict"
) -> Number | Undefined:
    """1 when all of the first k attempts pass, else 0.

    evsys's pass^k, which takes one attempt that passes for all where there is no other: `method`
    `available`. `pass-hat-k` uses all attempts, and so varies less.
    """
    if len(attempts) < k and method == "strict":
        return _too_few(attempts, k)
    return int(_passed(attempts[:k], threshold) == len(attempts[:k]))


def _passed(attempts: Sequence[Number], threshold: float) -> int:
    return sum(reward >= threshold for reward in attempts)


def _too_few(attempts: Sequence[Number], k: int) -> Undefined:
    n = len(attempts)
    return Undefined(f"k={k} needs {k} attempts, and there {'is' if n == 1 else 'are'} {n}")
