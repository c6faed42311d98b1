"""Pairs of runs drawn from known populations of tasks, and how often a comparison errs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from harbor_metrics.comparison.directions import Directions
from harbor_metrics.comparison.document import Row
from harbor_metrics.comparison.finding import Asked
from harbor_metrics.comparison.pairing import pair
from harbor_metrics.comparison.rows import rows_of
from harbor_metrics.comparison.settings import Settings
from harbor_metrics.evaluation.asked import plan_asked
from harbor_metrics.numbers import flips
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial, Usage

MEAN, COST = plan_asked("mean"), plan_asked("cost-per-task")
# How likely attempts at a task pass.
Chance = Callable[[random.Random], float]
SHAPES: dict[str, Chance] = {
    "uniform": lambda rng: rng.random(),
    "bimodal": lambda rng: rng.betavariate(0.3, 0.3),
    "hard": lambda rng: rng.betavariate(0.6, 2.4),
}
# By the base's chance at a task, the candidate's; on average they are the same.
NULLS: dict[str, Callable[[float, Chance, random.Random], float]] = {
    "equal": lambda chance, _shape, _rng: chance,
    "redrawn": lambda _chance, shape, rng: shape(rng),
    "skewed": lambda chance, _shape, rng: _lose_much_or_gain_little(chance, rng),
}


def _lose_much_or_gain_little(chance: float, rng: random.Random) -> float:
    """A tenth of tasks lose nine tenths of their chance, the others gain a tenth of theirs."""
    return chance * (0.1 if rng.random() < 0.1 else 1.1) if chance < 0.9 else chance


class Erring(NamedTuple):
    """How often 0 was rejected though it is true, and the interval held the true difference."""

    rejected: float
    held: float


def compared(sides: list[list[list[float]]], **settings: Any) -> Row:
    """The mean of two runs, each a list of tasks with the rewards of their attempts."""
    base, candidate = (
        Table(
            [
                Trial(task=f"t{i:04}", rewards={"reward": reward}, attempt=j)
                for i, attempts in enumerate(side)
                for j, reward in enumerate(attempts)
            ]
        )
        for side in sides
    )
    asked = Asked(MEAN, Settings(**settings), None, lambda *_: [], ("base", "new"), ["reward"])
    (row,) = rows_of(asked, pair(base, candidate))
    ((directed, _),) = Directions(is_only_reward=True).directed([(row, MEAN)], ["reward"])
    return directed


def attempts(chance: float, k: int, rng: random.Random) -> list[float]:
    return [float(rng.random() < chance) for _ in range(k)]


def erring(shape: str, null: str, n: int, k: int, runs: int, seed: int = 0) -> Erring:
    """Of runs of n tasks with k attempts, drawn anew each time."""
    rng = random.Random(f"{shape} {null} {n} {k} {seed}")
    truth = 0.0 if null != "skewed" else mean_change(shape)
    rejected = held = 0
    for _ in range(runs):
        chances = [SHAPES[shape](rng) for _ in range(n)]
        others = [NULLS[null](chance, SHAPES[shape], rng) for chance in chances]
        sides = [[attempts(p, k, rng) for p in side] for side in (chances, others)]
        row = compared(sides)
        low, high = (row.low, row.high) if row.low is not None else (0.0, 0.0)
        assert low is not None
        assert high is not None
        held += low <= truth <= high
        rejected += row.p is not None and row.p < 0.05
    return Erring(rejected / runs, held / runs)


def mean_change(shape: str, draws: int = 200_000) -> float:
    """What a task of the shape gains or loses on average where few lose much."""
    rng = random.Random(f"change of {shape}")
    total = 0.0
    for _ in range(draws):
        chance = SHAPES[shape](rng)
        total += _lose_much_or_gain_little(chance, rng) - chance
    return total / draws


def erring_again(shape: str, n: int, k: int, runs: int, seed: int = 0) -> float:
    """How often the interval over attempts holds the difference on tasks that stay the same."""
    rng = random.Random(f"again {shape} {n} {k} {seed}")
    chances = [SHAPES[shape](rng) for _ in range(n)]
    others = [SHAPES[shape](rng) for _ in range(n)]
    truth = math.fsum(others) / n - math.fsum(chances) / n
    held = 0
    for _ in range(runs):
        sides = [[attempts(p, k, rng) for p in side] for side in (chances, others)]
        again = compared(sides).attempts
        assert again is not None
        if again.low is not None and again.high is not None:
            held += again.low <= truth <= again.high
        else:
            held += 1
    return held / runs


def erring_ratios(n: int, k: int, runs: int, seed: int = 0) -> float:
    """How often the interval of a ratio of costs holds it; costs are skewed, a fifth is saved."""
    rng = random.Random(f"ratio {n} {k} {seed}")
    held = 0
    for _ in range(runs):
        sizes = [rng.lognormvariate(0, 0.8) for _ in range(n)]
        tables = [
            Table(
                [
                    Trial(
                        task=f"t{i:04}",
                        rewards={"reward": 1},
                        attempt=j,
                        usage=Usage(cost_usd=size * share * rng.lognormvariate(0, 0.4)),
                    )
                    for i, size in enumerate(sizes)
                    for j in range(k)
                ]
            )
            for share in (1.0, 0.8)
        ]
        asked = Asked(COST, Settings(), None, lambda *_: [], ("a", "b"), ["reward"])
        (row,) = rows_of(asked, pair(*tables))
        assert row.relative is not None
        held += row.relative.low <= -0.2 <= row.relative.high
    return held / runs


def rejecting_single(n: int, flipping: float) -> float:
    """How often the score test rejects, exactly, where each task turns either way alike."""
    total = 0.0
    for moved in range(n + 1):
        weight = math.comb(n, moved) * flipping**moved * (1 - flipping) ** (n - moved)
        for fixed in range(moved + 1):
            if flips.score_p(fixed, moved - fixed) < 0.05:
                total += weight * math.comb(moved, fixed) / 2**moved
    return total


def holding_single(n: int, fixing: float, breaking: float) -> float:
    """How often Tango's interval holds the difference, exactly."""
    truth, total = fixing - breaking, 0.0
    for fixed in range(n + 1):
        for broken in range(n - fixed + 1):
            ways = math.comb(n, fixed) * math.comb(n - fixed, broken)
            chance = ways * fixing**fixed * breaking**broken
            chance *= (1 - fixing - breaking) ** (n - fixed - broken)
            if chance > 1e-12:
                low, high = flips.interval(fixed, broken, n, 0.95)
                total += chance * (low <= truth <= high)
    return total
