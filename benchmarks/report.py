"""What a page costs beside its numbers, and how large it is: `benchmarks/report.py`."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from timing import OURS, compare, seconds


def write(path: Path, n_tasks: int, n_attempts: int, model: str, seed: int) -> None:
    """Trials of so many tasks, each of a chance of its own."""
    draw = random.Random(seed)
    with path.open("w") as file:
        for task in range(n_tasks):
            chance = draw.random()
            for attempt in range(n_attempts):
                trial = {
                    "task": f"task-{task:05d}",
                    "attempt": attempt + 1,
                    "trial": f"task-{task:05d}__{attempt}",
                    "agent": "oracle",
                    "model": model,
                    "dataset": "big",
                    "rewards": {"reward": float(draw.random() < chance)},
                    "usage": {"cost_usd": round(draw.random(), 4)},
                }
                file.write(json.dumps(trial) + "\n")


def size(what: str, page: Path, most: int) -> None:
    """How large a page is."""
    print(f"{what:<42} {page.stat().st_size / 1000:8.1f} kB  at most {most} kB")


def main() -> None:
    """Run all."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        page, many = here / "page.html", here / "many.jsonl"
        write(many, 20_000, 5, "sail-1", 1)
        ours = (*OURS, "report", str(many), "-o", str(page))
        compare("100,000 trials: report", ours, (*OURS, "compute", str(many)), "compute, <= 1.3x")
        size("100,000 trials", page, 300)
        runs = [here / name for name in ("one.jsonl", "other.jsonl")]
        for seed, run in enumerate(runs):
            write(run, 89, 5, run.stem, seed)
        seconds((*OURS, "report", *map(str, runs), "-o", str(page)))
        size("two runs of 89 tasks x 5", page, 80)


if __name__ == "__main__":
    main()
