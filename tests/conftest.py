"""What tests share: the command line as a user runs it, and trials made by hand."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from metric_scripts import metric
from pages import warm

# Timings belong to benchmarks/: a busy machine makes no test fail.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
# For a second Python: `pytest --hypothesis-profile brief`.
settings.register_profile("brief", settings.get_profile("patient"), max_examples=15)

# A mistake of ours ends a command in its traceback, which tests look for.
os.environ["HARBOR_METRICS_TRACEBACK"] = "1"

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


# What an interpreter reads when it starts, and what only another process can have; but for
# PYTHONPATH, which a fork can have, too.
AT_START = re.compile(r"PYTHON(?!PATH$)|LANG|LC_|LD_|TZ")


@cache
def _server() -> str:
    """Where `harbor-metrics` is answered without the time that it takes to start."""
    folder = tempfile.TemporaryDirectory()
    stack = ExitStack()
    atexit.register(stack.close)
    stack.enter_context(folder)
    place = f"{folder.name}/socket"
    stack.enter_context(warm.server(place))
    return place


def run_cli(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `harbor-metrics`, in a fork of a process that has it loaded where that is the same."""
    env, arguments = options.pop("env", {}), list(map(str, args))
    if options.keys() <= {"cwd", "input"} and not any(map(AT_START.match, env)):
        given = options.get("input", "").encode()
        folder = str(options.get("cwd", os.getcwd()))
        code, out, error = warm.run(_server(), arguments, folder, {**os.environ, **env}, given)
        return subprocess.CompletedProcess(arguments, code, out.decode(), error.decode())
    command = [sys.executable, "-m", "harbor_metrics", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **env},
        **options,
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
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `harbor-metrics` that starts at once."""
    folder = tmp_path_factory.mktemp("programs")
    warm.client(folder / "harbor-metrics", _server())
    return folder


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """As a user to whom folders can be shut, where this is root.

    He may not be able to import anything: what is called must have been called before.
    """
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def alone_in_memory() -> Iterator[None]:
    """No other test keeps anything in shared memory, which shuts it to scripts."""
    with open(
        os.path.join(tempfile.gettempdir(), f"harbor-metrics-tests-{os.getuid()}.lock"), "a"
    ) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def open_to_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, in which somebody else may look around."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        monkeypatch.chdir(folder)
        yield Path(folder)


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
    "graded": "ds-graded", "script": "ds-script", "left-out": "sails",
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
