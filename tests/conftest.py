"""What tests share: the command line as a user runs it, and trials made by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from metric_scripts import metric
from pages import warm

# Timings belong to benchmarks/: a busy machine makes no test fail.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

HERE = Path(__file__).parent
ROOT = HERE.parent
JOBS = HERE / "jobs"
LOGS = HERE / "logs"

# The cases of each metric that give values, by its type.
CASES: dict[str, list[dict[str, Any]]] = {
    path.stem: [case for case in json.loads(path.read_text()) if "values" in case]
    for path in sorted((HERE / "metrics").glob("*.json"))
}

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


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `harbor-metrics` that starts at once."""
    folder = tmp_path_factory.mktemp("programs")
    place = f"{folder}/socket"
    warm.client(folder / "harbor-metrics", place)
    server = [sys.executable, warm.__file__, place]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield folder
        assert process.stdin is not None
        process.stdin.close()


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
def own_caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the tests stays in the caches of who runs them."""
    folder = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "uv"))


@pytest.fixture
def outcomes(cli: Run, own_caches: None, tmp_path: Path):
    """Runs scripts, by their texts, over two trials: the outcomes, and what was printed."""

    def run(*texts: str, arguments: tuple[str, ...] = (), **options: Any):
        for i, text in enumerate(texts):
            (tmp_path / f"m{i}.py").write_text(text)
        if not (tmp_path / "r.jsonl").exists():
            (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
        metrics = [part for i in range(len(texts)) for part in ("--metric", metric(f"m{i}.py"))]
        done = cli("compute", "r.jsonl", *metrics, "--format", "json", *arguments, **options)
        (group,) = json.loads(done.stdout)["groups"]
        return group["metrics"][1:], done

    return run


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Ten trials of five tasks, one of them without rewards."""
    trials = [
        trial(f"task-{i % 5}", None if i == 7 else {"reward": float(i % 2)}, i) for i in range(10)
    ]
    return write_job(tmp_path / "job", trials)


REGISTRIES = {
    "single": "ds", "interrupted": "ds", "two-models": "ds", "multi": "ds-multi",
    "graded": "ds-graded", "script": "ds-script",
}  # fmt: skip


def registry_of_job(name: str) -> str:
    """The registry of one of tests/jobs."""
    return str(JOBS / "datasets" / f"{REGISTRIES[name]}.registry.json")


@pytest.fixture
def rewards(tmp_path: Path) -> Path:
    """A trials file: two attempts at each of two tasks."""
    path = tmp_path / "trials.jsonl"
    rows = [("a", 1.0), ("a", 0.25), ("b", 0.5), ("b", 0.75)]
    path.write_text(
        "".join(json.dumps({"task": t, "rewards": {"reward": r}}) + "\n" for t, r in rows)
    )
    return path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected texts")
    parser.addoption(
        "--every-configuration",
        action="store_true",
        help="all hostile scripts with each layer of the sandbox, and as another user",
    )
