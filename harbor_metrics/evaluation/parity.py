"""What Harbor itself reports beside the metrics, in its own arithmetic."""

from __future__ import annotations

import math

from ..trials.table import Table

# A table of all k has a line for each fifth attempt: one task in 2 kB of Parquet can have billions.
_MOST_OF_K = 10_000


def evals_key(agent: str | None, model: str | None, dataset: str | None) -> str | None:
    """The key of Harbor's `stats.evals`; for people, never split."""
    if agent is None:
        return None
    parts = [agent, dataset or "adhoc"] if model is None else [agent, model, dataset or "adhoc"]
    return "__".join(parts)


def pass_at_k(table: Table) -> dict[str, float]:
    """Harbor's `pass_at_k`: k -> chance that one of k attempts passes, rounded as Harbor rounds.

    Empty unless every reward is a single 0 or 1 and each task has two attempts or more. A trial
    without rewards is a failed attempt. k is 2, 4, 8, … and 5, 10, 15, … up to the fewest attempts,
    and to 10,000.
    """
    outcomes = table.task_passes()
    if outcomes is None:
        return {}
    fewest = min((n for n, _ in outcomes), default=0)
    choices = _choices_of_k(min(fewest, _MOST_OF_K))
    chances = [(_passing(n, c, choices), tasks) for (n, c), tasks in outcomes.items()]
    n_tasks = outcomes.total()
    return {
        str(k): math.fsum(of_task[i] for of_task, tasks in chances for _ in range(tasks)) / n_tasks
        for i, k in enumerate(choices)
    }


def _choices_of_k(most: int) -> list[int]:
    powers = {2**i for i in range(1, most.bit_length())}
    return sorted(powers | set(range(5, most + 1, 5)))


def _passing(n: int, c: int, choices: list[int]) -> list[float]:
    """The chance of each k, in the order of Harbor's multiplications: that of one k goes on."""
    chances = []
    missed, done = 1.0, 0
    for k in choices:
        for i in range(done, min(k, n - c)):
            missed *= (n - c - i) / (n - i)
        done = k
        chances.append(1.0 if n - c < k else 1.0 - missed)
    return chances
