"""How often `compare` errs, and how long it takes: `benchmarks/compare.py [RUNS|speed]`.

Every cell is drawn RUNS times (2,000 if not said; minutes), from seeds; single attempts are
enumerated exactly. A line says what was promised beside what was found.
"""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from comparison import simulated  # type: ignore[import-not-found]  # noqa: E402  # of the tests
from timing import OURS, compare  # noqa: E402

from harbor_metrics.numbers.sign_flip import sign_flip  # noqa: E402

SIZES = (20, 50, 200)


def line(what: str, found: list[float], low: float, high: float, runs: int | None = None) -> None:
    """What was found, from smallest to largest, and whether it is what was promised.

    Of so many runs what is found varies: three standard errors beyond the bounds are allowed.
    """
    slack = 3 * math.sqrt(0.05 * 0.95 / runs) if runs else 0
    holds = low - slack <= min(found) and max(found) <= high + slack
    verdict = "holds" if holds else "DOES NOT HOLD"
    spread = f"{min(found):.3f} to {max(found):.3f}"
    print(f"{what:<58} {spread:>16}   [{low:g}, {high:g}]  {verdict}", flush=True)


def of_several(runs: int) -> None:
    """t: three and five attempts at each task."""
    for n in SIZES:
        for null in simulated.NULLS:
            cells = [
                simulated.erring(shape, null, n, k, runs)
                for shape in simulated.SHAPES
                for k in (3, 5)
            ]
            if null != "skewed":
                rejected = [cell.rejected for cell in cells]
                line(f"t: rejects equal agents, {null}, {n} tasks", rejected, 0.035, 0.06, runs)
            held = [cell.held for cell in cells]
            low, high = (0.91, 0.975) if n < 50 else (0.93, 0.97)
            line(f"t: holds the difference, {null}, {n} tasks", held, low, high, runs)


def of_single() -> None:
    """score: one attempt at each task, exactly."""
    for n in SIZES:
        rejected = [simulated.rejecting_single(n, flips / n) for flips in (4, 5, 6, 8, 10, 15)]
        line(f"score: rejects equal agents, from 4 flips on, {n} tasks", rejected, 0.035, 0.06)
        fewer = [simulated.rejecting_single(n, flips / n) for flips in (0.5, 1, 2, 3)]
        line(f"score: the same, fewer flips, {n} tasks", fewer, 0, 0.06)
        shares = [(5, 0), (4, 1), (6, 4), (10, 0), (8, 6)]
        held = [simulated.holding_single(n, a / n, b / n) for a, b in shares]
        line(f"score: holds the difference, from 5 flips on, {n} tasks", held, 0.93, 0.98)


def of_the_rest(runs: int) -> None:
    """The same tasks again, and ratios of costs."""
    again = [
        simulated.erring_again(shape, n, k, runs)
        for shape in simulated.SHAPES
        for n in (20, 50)
        for k in (3, 5)
    ]
    line("attempts: holds the difference of these tasks", again, 0.94, 0.99, runs)
    ratios = [simulated.erring_ratios(n, 3, runs) for n in (20, 50)]
    line("relative: holds the ratio of costs", ratios, 0.94, 0.99, runs)


def write_job(folder: Path, tasks: int, attempts: int) -> None:
    """A job of Harbor, whose agents and rewards are those of the name of the folder."""
    rng = random.Random(folder.name)
    folder.mkdir()
    config = {"job_name": folder.name, "n_attempts": attempts, "datasets": [{"name": "demo"}]}
    ended = {"n_total_trials": tasks * attempts, "finished_at": "2026-01-01T01:00:00", "stats": {}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "result.json").write_text(json.dumps(ended))
    for i in range(tasks):
        for j in range(attempts):
            name = f"task-{i:05}__{folder.name}{j:03}"
            trial = {
                "id": name,
                "task_name": f"task-{i:05}",
                "trial_name": name,
                "source": "demo",
                "agent_info": {"name": folder.name, "version": "1", "model_info": None},
                "verifier_result": {"rewards": {"reward": float(rng.random() < (i % 10) / 9)}},
                "exception_info": None,
                "started_at": "2026-01-01T00:00:00",
                "finished_at": "2026-01-01T00:01:00",
            }
            (folder / name).mkdir()
            (folder / name / "result.json").write_text(json.dumps(trial))


def speed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old", "new")]
        for path in paths:
            write_job(path, 10_000, 5)
        compare(
            "compare two jobs of 50,000 trials, one computed",
            [*OURS, "compare", *map(str, paths)],
            [*OURS, "compute", str(paths[0])],
            "<= 2.3",
        )
    jobs = [str(ROOT / "registry" / "jobs" / name) for name in ("buoys", "buoys-sail-2")]
    bare = [sys.executable, "-c", "pass"]
    compare("compare the example of the registry, bare", [*OURS, "compare", *jobs], bare, "<= 7")
    rng = random.Random(0)
    passes = [sum(rng.random() < 0.5 for _ in range(5)) for _ in range(2000)]
    differences = [a - b for a, b in zip(passes[::2], passes[1::2], strict=True)]
    started = time.process_time()
    sign_flip(differences)
    print(f"exact sign flip of 1,000 tasks: {time.process_time() - started:.3f} s  <= 0.2")


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "2000"
    if asked != "speed":
        of_single()
        of_the_rest(int(asked))
        of_several(int(asked))
    speed()
