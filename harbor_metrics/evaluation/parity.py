"""What Harbor itself reports beside the metrics, in its own arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from itertools import compress

from ..trials.table import Table
from ..trials.trial import LineTrials


def evals_key(agent: str | None, model: str | None, dataset: str | None) -> str | None:
    """The key of Harbor's `stats.evals`; for people, never split."""
    if agent is None:
        return None
    parts = [agent, dataset or "adhoc"] if model is None else [agent, model, dataset or "adhoc"]
    return "__".join(parts)


def pass_at_k(table: Table) -> dict[str, float]:
    """Harbor's `pass_at_k`: k -> chance that one of k attempts passes, rounded as Harbor rounds.

    Empty unless every reward is a single 0 or 1 and each task has two attempts or more. A trial
    without rewards is a failed attempt. k is 2, 4, 8, … and 5, 10, 15, … up to the fewest attempts.
    """
    if isinstance(table.trials, LineTrials):
        return {}
    rewards = [trial.rewards for trial in table.trials]
    if any(reward is not None and len(reward) != 1 for reward in rewards):
        return {}
    values = [0 if reward is None else next(iter(reward.values())) for reward in rewards]
    if not set(values) <= {0, 1}:
        return {}
    attempts = Counter(table.tasks)
    passes = Counter(compress(table.tasks, values))
    outcomes = Counter((n, passes[task]) for task, n in attempts.items())
    return {
        str(k): math.fsum(
            _pass(n, c, k) for (n, c), tasks in outcomes.items() for _ in range(tasks)
        )
        / len(attempts)
        for k in _choices_of_k(min(attempts.values(), default=0))
    }


def _choices_of_k(most: int) -> list[int]:
    powers = {2**i for i in range(1, most.bit_length())}
    return sorted(powers | set(range(5, most + 1, 5)))


def _pass(n: int, c: int, k: int) -> float:
    if n - c < k:
        return 1.0
    missed = 1.0
    for i in range(k):
        missed *= (n - c - i) / (n - i)
    return 1.0 - missed
