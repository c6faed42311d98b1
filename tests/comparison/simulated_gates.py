"""Runs drawn from known populations, compared from files as anybody would: gates that err."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from comparison.simulated import NULLS, SHAPES, attempts

from harbor_metrics import Comparison, compare
from harbor_metrics.numbers.distributions import t_quantile, t_tails

Run = list[list[float]]
# By the base's chance at a task and a strength from 0 to 1: the candidate's, with their odds.
Gain = Callable[[float, float], list[tuple[float, float]]]
GAINS: dict[str, Gain] = {
    "even": lambda chance, strength: [(1.0, chance + strength * (1 - chance))],
    "few": lambda chance, strength: [
        (strength, 1 - (1 - chance) / 10),
        (1 - strength, chance),
    ],
}
_DRAWS, _TASKS, _HALVINGS, _POWER = 50_000, 50_000, 20, 0.8


def written(path: Path, run: Run) -> Path:
    """A trials file of a run."""
    path.write_text(
        "".join(
            f'{{"task":"t{i:04}","attempt":{j},"rewards":{{"reward":{reward:.0f}}},'
            f'"agent":"{path.name}"}}\n'
            for i, rewards in enumerate(run)
            for j, reward in enumerate(rewards)
        )
    )
    return path


def compared(folder: Path, runs: Sequence[Run], **asked: Any) -> Comparison:
    """The runs, by the public function."""
    return compare(*(written(folder / f"run-{i}", run) for i, run in enumerate(runs)), **asked)


def _pairs(shape: str, n: int, k: int, runs: int, seed: str, change: Any) -> Iterator[list[Run]]:
    rng = random.Random(f"{shape} {n} {k} {seed}")
    for _ in range(runs):
        chances = [SHAPES[shape](rng) for _ in range(n)]
        others = [change(chance, rng) for chance in chances]
        yield [[attempts(p, k, rng) for p in side] for side in (chances, others)]


def false_alarms(folder: Path, shape: str, n: int, k: int, runs: int) -> float:
    """How often `--no-worse` fails between two agents that are alike on average."""
    failed = 0
    for null in ("equal", "redrawn"):
        change = NULLS[null]

        def changed(chance: float, rng: random.Random, change: Any = change) -> float:
            moved: float = change(chance, SHAPES[shape], rng)
            return moved

        for pair in _pairs(shape, n, k, runs // 2, null, changed):
            failed += compared(folder, pair, no_worse="mean").gates[0].outcome == "failed"
    return failed / (2 * (runs // 2))


def _losing(chance: float, rng: random.Random) -> float:
    """A tenth of the tasks lose nine tenths of their chance."""
    return chance / 10 if rng.random() < 0.1 else chance


@cache
def _loss(shape: str) -> float:
    rng = random.Random(f"loss of {shape}")
    return 0.09 * sum(SHAPES[shape](rng) for _ in range(_DRAWS)) / _DRAWS


def wrongly_passed(folder: Path, shape: str, n: int, k: int, runs: int) -> float:
    """How often `--non-inferior` passes a candidate that loses exactly the margin."""
    gate = f"mean:{_loss(shape)}"
    passed = 0
    for pair in _pairs(shape, n, k, runs, "losing", _losing):
        passed += compared(folder, pair, non_inferior=gate).gates[0].outcome == "passed"
    return passed / runs


def family(folder: Path, shape: str, n: int, k: int, several: int, runs: int) -> float:
    """How often any two of several equal agents are called different, or one is ranked."""
    rng = random.Random(f"family {shape} {n} {k} {several}")
    erred = 0
    for _ in range(runs):
        chances = [SHAPES[shape](rng) for _ in range(n)]
        drawn = [[attempts(p, k, rng) for p in chances] for _ in range(several)]
        found = compared(folder, drawn, pairs="all")
        shown = any((pair.rows[0].p_adjusted or 0) < 0.05 for pair in found.comparisons)
        ranked = any((rank.low, rank.high) != (1, several) for rank in found.ranks)
        assert shown == ranked
        erred += shown
    return erred / runs


def power_beyond_analytic(folder: Path, shape: str, gain: str, n: int, k: int, runs: int) -> float:
    """How often a true gain is shown, less the 0.8 that the formula says of it."""
    strength = _strength(shape, gain, n, k)

    def gained(chance: float, rng: random.Random) -> float:
        odds, others = zip(*GAINS[gain](chance, strength), strict=True)
        return float(rng.choices(others, odds)[0])

    shown = 0
    for pair in _pairs(shape, n, k, runs, f"{gain} {strength}", gained):
        shown += compared(folder, pair).comparisons[0].rows[0].verdict == "better"
    return shown / runs - _POWER


def _strength(shape: str, gain: str, n: int, k: int) -> float:
    """The strength with which the formula gives that power, by the variance of single tasks."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _analytic(shape, gain, n, k, middle) < _POWER:
            low = middle
        else:
            high = middle
    return high


def _analytic(shape: str, gain: str, n: int, k: int, strength: float) -> float:
    rng = random.Random(f"tasks of {shape}")
    total = squares = 0.0
    for _ in range(_TASKS):
        chance = SHAPES[shape](rng)
        for odds, other in GAINS[gain](chance, strength):
            total += odds * (other - chance)
            # Of one task: its own change, and what the attempts on both sides add.
            within = (chance * (1 - chance) + other * (1 - other)) / k
            squares += odds * ((other - chance) ** 2 + within)
    mean = total / _TASKS
    error = max(1e-12, (squares / _TASKS - mean**2) / n) ** 0.5
    beyond = mean / error - t_quantile(0.975, n - 1)
    tail = t_tails(abs(beyond), n - 1) / 2
    return 1 - tail if beyond > 0 else tail
