"""`compute` on jobs and on a rewards file, against the limit and against plain ways to do it."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import uuid
from pathlib import Path

from timing import OURS, compare, peak_memory

READ_ONLY = """
import os, sys
def read(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return len(os.read(descriptor, 65536))
    finally:
        os.close(descriptor)
with os.scandir(sys.argv[1]) as entries:
    print(sum(read(f"{e.path}/result.json") for e in entries if e.is_dir()))
"""
PLAIN_JSON = """
import json, sys
rewards = [json.loads(line) for line in open(sys.argv[1])]
print(sum(0 if r is None else r["reward"] for r in rewards) / len(rewards))
"""
HARBOR = """
import sys
from pathlib import Path
from harbor.metrics.factory import MetricFactory
from harbor.models.job.result import JobStats
from harbor.models.metric.type import MetricType
from harbor.models.trial.result import TrialResult
from harbor.utils.pass_at_k import compute_pass_at_k_by_evals
trials = [
    TrialResult.model_validate_json((folder / "result.json").read_text())
    for folder in Path(sys.argv[1]).iterdir() if folder.is_dir()
]
rewards = [t.verifier_result.rewards if t.verifier_result else None for t in trials]
print(MetricFactory.create_metric(MetricType.MEAN).compute(rewards))
JobStats.from_trial_results(trials, n_total_trials=len(trials))
compute_pass_at_k_by_evals(trials)
"""


def write_job(folder: Path, n: int) -> None:
    """A job of n trials of about 7 KB, one in ten with a long traceback."""
    jobs = Path(__file__).parent.parent / "tests" / "jobs" / "single"
    template = json.loads(next(jobs.glob("task-000__*/result.json")).read_text())
    rng = random.Random(1)
    folder.mkdir()
    for i in range(n):
        name = f"task-{i // 5:04d}"
        trial = {
            **template,
            "id": str(uuid.UUID(int=i)),
            "task_name": name,
            "trial_name": f"{name}__{i:06d}",
        }
        trial["verifier_result"] = {"rewards": {"reward": float(rng.random() < 0.5)}}
        if i % 10 == 0:
            trial["exception_info"] = {
                "exception_type": "AgentTimeoutError",
                "exception_message": "late",
                "exception_traceback": "x" * 12_000,
                "occurred_at": "2026-11-20T19:48:31.011948",
            }
        trial["agent_result"] = {**template["agent_result"], "metadata": {"notes": "y" * 1_300}}
        (folder / trial["trial_name"]).mkdir()
        (folder / trial["trial_name"] / "result.json").write_text(json.dumps(trial, indent=4))


def write_rewards(path: Path, n: int) -> None:
    """45 % ones, 35 % zeros, 10 % null, 10 % with seventeen digits."""
    rng = random.Random(1)
    kinds = ['{"reward": 1.0}', '{"reward": 0.0}', "null", ""]
    with path.open("w") as file:
        for kind in rng.choices(kinds, [45, 35, 10, 10], k=n):
            file.write(f"{kind or json.dumps({'reward': rng.random()})}\n")


def main(harbor: str | None) -> None:
    bare = (sys.executable, "-c", "pass")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_job(folder / "500", 500)
        write_job(folder / "10000", 10_000)
        write_rewards(folder / "rewards.jsonl", 1_000_000)
        small, large, rewards = (str(folder / n) for n in ("500", "10000", "rewards.jsonl"))
        compare("--version, bare python", (*OURS, "--version"), bare, "at most 5x")
        compare("500 trials, bare python", (*OURS, "compute", small), bare, "at most 10x")
        limit = (sys.executable, "-c", READ_ONLY, large)
        compare("10,000 trials, reading only", (*OURS, "compute", large), limit, "at most 3.5x")
        peak_memory("10,000 trials", (*OURS, "compute", large), "at most 80 MB")
        if harbor:
            peer = (harbor, "-c", HARBOR, large)
            compare("10,000 trials, Harbor's classes", (*OURS, "compute", large), peer, "1/15x")
        plain = (sys.executable, "-c", PLAIN_JSON, rewards)
        compare("1,000,000 rewards, json.loads", (*OURS, "compute", rewards), plain, "1/5x")
        peak_memory("1,000,000 rewards", (*OURS, "compute", rewards), "at most 150 MB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
