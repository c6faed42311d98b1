"""How near the start of the commands is to that of what they cannot do without: CPU, in turn.

Byte-compile first: `python -m compileall -q` over the package and the site-packages.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import OURS, Command

ROUNDS = 15


def cpu_seconds(command: Command, folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(code: str) -> Command:
    return (sys.executable, "-c", code)


def job(folder: Path, n: int) -> None:
    """A job directory of n trials of a hundred tasks."""
    folder.mkdir()
    config = {"job_name": folder.name, "n_attempts": 1, "datasets": [{"name": "demo"}]}
    (folder / "config.json").write_text(json.dumps(config))
    ended = {"n_total_trials": n, "finished_at": "2026-01-01T01:00:00", "stats": {}}
    (folder / "result.json").write_text(json.dumps(ended))
    for i in range(n):
        name = f"task-{i % 100}__{i:07d}"
        trial = {
            "id": name,
            "task_name": f"task-{i % 100}",
            "trial_name": name,
            "source": "demo",
            "agent_info": {"name": "oracle", "version": "1", "model_info": None},
            "verifier_result": {"rewards": {"reward": float(i % 3 == 0)}},
            "exception_info": None,
            "started_at": "2026-01-01T00:00:00",
            "finished_at": "2026-01-01T00:01:00",
        }
        (folder / name).mkdir()
        (folder / name / "result.json").write_text(json.dumps(trial))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        job(folder / "job-1", 1)
        job(folder / "job-500", 500)
        commit = {"git_url": "https://example.invalid/tasks.git", "git_commit_id": "0" * 40}
        task = {"name": "t", "path": "t", **commit}
        dataset = {"name": "demo", "version": "1.0", "description": "d", "tasks": [task]}
        entry = {**dataset, "metrics": [{"type": "mean"}]}
        (folder / "registry.json").write_text(json.dumps([entry], indent=2))
        nothing, click = bare("pass"), bare("import click")
        rows: list[tuple[str, Command, Command, float]] = [
            ("--version; Python", (*OURS, "--version"), nothing, 2.0),
            ("--help; click", (*OURS, "--help"), click, 1.3),
            (
                "compute of one trial; click and msgspec",
                (*OURS, "compute", "job-1"),
                bare("import click, msgspec"),
                1.6,
            ),
            ("compute of 500 trials; Python", (*OURS, "compute", "job-500"), nothing, 7.0),
            (
                "validate a small registry; click, msgspec, jsonschema-rs",
                (*OURS, "validate", "registry.json"),
                bare("import click, msgspec, jsonschema_rs"),
                1.4,
            ),
        ]
        for title, ours, other, target in rows:
            cpu_seconds(ours, folder), cpu_seconds(other, folder)
            pairs = [(cpu_seconds(ours, folder), cpu_seconds(other, folder)) for _ in range(ROUNDS)]
            mine, theirs = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"{title:<58} {mine:6.1f} ms  {theirs:6.1f} ms  {ratio:5.2f}x  at most {target}x")


if __name__ == "__main__":
    main()
