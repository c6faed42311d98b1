"""What tests share: the command line as a user runs it, and trials made by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
JOBS = HERE / "jobs"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run_cli(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **options.pop("env", {})}
    command = [sys.executable, "-m", "harbor_metrics", *map(str, args)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=120, env=env, **options
    )


@pytest.fixture
def cli(tmp_path: Path) -> Run:
    """Runs `harbor-metrics` in an empty directory; a traceback is always a failure."""

    def run(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
        options.setdefault("cwd", tmp_path)
        done = run_cli(*args, **options)
        assert "\nTraceback" not in f"\n{done.stderr}", done.stderr
        return done

    return run


def trial(task: str, rewards: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    """A trial result as Harbor writes it, without what is never read."""
    return {
        "id": more.pop("id", f"{task}-{number}"),
        "task_name": task,
        "trial_name": more.pop("trial_name", f"{task}__{number:07d}"),
        "source": more.pop("source", "demo"),
        "agent_info": {
            "name": "oracle",
            "version": "1",
            "model_info": {"name": "sail-1", "provider": "acme"},
        },
        "agent_result": None,
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": None,
        "started_at": f"2026-01-01T00:00:{number:02d}",
        "finished_at": f"2026-01-01T00:01:{number:02d}",
        **more,
    }


def write_job(folder: Path, trials: list[dict[str, Any]], **config: Any) -> Path:
    """A job directory of these trials."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"job_name": folder.name, "n_attempts": 1, "datasets": [{"name": "demo"}], **config}
    total = config.pop("n_total_trials", len(trials))
    (folder / "config.json").write_text(json.dumps(config))
    own = {"n_total_trials": total, "finished_at": "2026-01-01T01:00:00", "stats": {}}
    (folder / "result.json").write_text(json.dumps(own))
    for one in trials:
        path = folder / one["trial_name"]
        path.mkdir()
        (path / "result.json").write_text(json.dumps(one))
    return folder


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Ten trials of five tasks, one of them without rewards."""
    trials = [
        trial(f"task-{i % 5}", None if i == 7 else {"reward": float(i % 2)}, i) for i in range(10)
    ]
    return write_job(tmp_path / "job", trials)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected texts")
    parser.addoption(
        "--every-configuration",
        action="store_true",
        help="all hostile scripts with each layer of the sandbox, and as another user",
    )
