"""`compare` beside evalstats, statsmodels and lm-eval's comparator on the same drawn runs.

`benchmarks/compare_peers.py [RUNS]` in a Python that has evalstats and statsmodels, with this
checkout on PYTHONPATH. For each cell: how often equal agents are called different at 5 %, how
often the 95 % interval holds the true difference, and CPU milliseconds a comparison.
"""

from __future__ import annotations

import math
import random
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np  # type: ignore[import-not-found,unused-ignore]
from evalstats import pairwise_differences  # type: ignore[import-not-found]
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-not-found]
from statsmodels.stats.weightstats import DescrStatsW  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from comparison import simulated  # type: ignore[import-not-found]  # of the tests

# p and the ends of the interval; None where the peer gives none.
Answer = tuple[float | None, tuple[float, float] | None]
Sides = list[list[list[float]]]


def ours(sides: Sides) -> Answer:
    row = simulated.compared(sides)
    return row.p, None if row.low is None else (row.low, row.high)


def evalstats(sides: Sides) -> Answer:
    scores = np.array(sides)
    found = pairwise_differences(scores, 1, 0, rng=np.random.default_rng(0))
    return found.p_value, (found.ci_low, found.ci_high)


def statsmodels_mcnemar(sides: Sides) -> Answer:
    base, new = np.array(sides)[:, :, 0]
    table = [[((base == a) & (new == b)).sum() for b in (1, 0)] for a in (1, 0)]
    return mcnemar(table, exact=True).pvalue, None


def statsmodels_t(sides: Sides) -> Answer:
    base, new = np.array(sides).mean(axis=2)
    moved = DescrStatsW(new - base)
    return moved.ttest_mean()[1], moved.tconfint_mean()


def lm_eval(sides: Sides) -> Answer:
    """Its z test of two accuracies with the standard errors of independent samples."""
    base, new = np.array(sides).reshape(2, -1)
    error = math.hypot(*(side.std(ddof=1) / math.sqrt(side.size) for side in (base, new)))
    moved = new.mean() - base.mean()
    p = math.erfc(abs(moved) / error / math.sqrt(2)) if error else 1.0
    return p, (moved - 1.96 * error, moved + 1.96 * error)


PEERS: dict[str, Callable[[Sides], Answer]] = {
    "harbor-metrics": ours,
    "evalstats": evalstats,
    "statsmodels McNemar": statsmodels_mcnemar,
    "statsmodels paired t": statsmodels_t,
    "lm-eval comparator": lm_eval,
}


def cell(shape: str, null: str, n: int, k: int, runs: int) -> None:
    """A line a peer."""
    rng = random.Random(f"{shape} {null} {n} {k}")
    truth = simulated.mean_change(shape) if null == "skewed" else 0.0
    drawn = []
    for _ in range(runs):
        chances = [simulated.SHAPES[shape](rng) for _ in range(n)]
        others = [simulated.NULLS[null](chance, simulated.SHAPES[shape], rng) for chance in chances]
        drawn.append([[simulated.attempts(p, k, rng) for p in side] for side in (chances, others)])
    for name, peer in PEERS.items():
        if name == "statsmodels McNemar" and k > 1:
            continue
        started = time.process_time()
        answers = [peer(sides) for sides in drawn]
        spent = 1000 * (time.process_time() - started) / runs
        rejected = sum(p is not None and p < 0.05 for p, _ in answers) / runs
        ends = [interval for _, interval in answers]
        held = [interval is not None and interval[0] <= truth <= interval[1] for interval in ends]
        covers = f"{sum(held) / runs:.3f}" if any(ends) else "-"
        alarms = f"{rejected:.3f}" if null != "skewed" else "-"
        line = f"{shape:<8} {null:<8} {n:>4} {k:>2}  {name:<21}{alarms:>7}{covers:>7}{spent:>8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print("shape    null     tasks k  peer                 type I covers      ms")
    for SHAPE in ("uniform", "bimodal"):
        for NULL in simulated.NULLS:
            for N, K in ((20, 1), (20, 5), (50, 1), (50, 5), (200, 1)):
                cell(SHAPE, NULL, N, K, RUNS)
