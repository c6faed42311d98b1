"""What the README promises for macOS, in a Python that lacks what only Linux has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HERE, trial, write_job

pytestmark = pytest.mark.one_python

SCRIPT = """\
import argparse, json, pathlib, sys
p = argparse.ArgumentParser()
p.add_argument("-i"); p.add_argument("-o")
a = p.parse_args()
"""
ANSWERS = 'pathlib.Path(a.o).write_text(json.dumps({"n": len(open(a.i).readlines())}))'
NEVER_ENDS = "while True: pass"


def on_macos(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "as_on_macos.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def has_ended(pid: int) -> bool:
    """Whether there is no such process, which its new parent learns a moment after its end."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    dataset = {"name": "demo", "version": "1", "description": "", "tasks": [], "metrics": []}
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([dataset], indent=2))
    return path


def test_a_large_job_and_a_long_file(tmp_path: Path) -> None:
    write_job(tmp_path / "job", [trial(f"t-{i}", {"reward": i % 2}, i) for i in range(2_000)])
    (tmp_path / "r.jsonl").write_text('{"reward": 0.25, "b": 1.5}\n' * 200_000)
    for source, mean in (("job", {"mean": 0.5}), ("r.jsonl", {"reward": 0.25, "b": 1.5})):
        done = on_macos("compute", source, "--format", "json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        (group,) = json.loads(done.stdout)["groups"]
        assert group["metrics"][0]["values"] == mean


def test_a_registry_is_changed_and_validated(registry: Path, tmp_path: Path) -> None:
    assert on_macos("add", registry, "demo", "mean", folder=tmp_path).returncode == 0
    assert json.loads(registry.read_text())[0]["metrics"] == [{"type": "mean"}]
    assert on_macos("validate", registry, folder=tmp_path).returncode == 0
    assert on_macos("remove", registry, "demo", "mean", folder=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("body", "values", "message"),
    [
        (ANSWERS, {"n": 2}, ""),
        ("sys.exit('no data')", {}, "ended with exit code 1: it said\n  | no data"),
        (NEVER_ENDS, {}, "timed out: it did not end within 1 s"),
    ],
    ids=["answers", "fails", "never ends"],
)
def test_a_script_runs_without_a_sandbox(
    body: str, values: dict[str, int], message: str, tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text(SCRIPT + body)
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "m.py"}})
    arguments = ("compute", "r.jsonl", "--metric", metric, "--format", "json")
    done = on_macos(*arguments, "--script-timeout", "1", folder=tmp_path)
    (group,) = json.loads(done.stdout)["groups"]
    outcome = group["metrics"][1]
    assert outcome["values"] == values
    assert message in outcome.get("error", {}).get("message", "")
    assert "only Linux has it" in done.stderr


def test_a_sandbox_that_is_required_is_refused_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SCRIPT + ANSWERS)
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "m.py"}})
    arguments = ("compute", "r.jsonl", "--metric", metric, "--format", "json")
    done = on_macos(*arguments, "--sandbox", "require", folder=tmp_path)
    assert done.returncode == 1
    outcome = json.loads(done.stdout)["groups"][0]["metrics"][1]
    assert outcome["error"]["rule"] == "script-sandbox"
    assert "landlock: only Linux has it; namespaces: only Linux has it" in done.stdout


def test_nothing_of_a_script_lives_on(tmp_path: Path) -> None:
    body = """
import os, time
child = os.fork()
if child == 0:
    time.sleep(600)
pathlib.Path(a.o).write_text(json.dumps({"child": child}))
"""
    (tmp_path / "m.py").write_text(SCRIPT + body)
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "m.py"}})
    arguments = ("compute", "r.jsonl", "--metric", metric, "--format", "json")
    done = on_macos(*arguments, folder=tmp_path)
    child = json.loads(done.stdout)["groups"][0]["metrics"][1]["values"]["child"]
    assert has_ended(child)
