"""Metrics of files of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from catalogue.page_of_plugins import WORST
from conftest import Run
from printed import outcomes


def test_function_of_a_file_is_a_metric(cli: Run, rewards: Path, tmp_path: Path) -> None:
    (tmp_path / "worst.py").write_text(WORST)
    asked = '{"type": "worst.py:worst_task", "kwargs": {"skip": 1}}'
    done = cli(
        "compute", rewards, "--metric", "worst.py:worst_task", "--metric", asked,
        "--format", "json",
    )  # fmt: skip
    _, first, second = outcomes(done)
    assert first["values"] == {"worst.py:worst_task": 0.625}
    assert first["script"]["path"] == "worst.py"
    assert len(first["script"]["sha256"]) == 64
    assert second["kwargs"] == {"skip": 1}
    wrong = cli("compute", rewards, "--metric", asked.replace("skip", "skp"))
    assert wrong.returncode == 2
    assert "did you mean `skip`" in wrong.stderr


@pytest.mark.parametrize(
    ("code", "code_is", "words"),
    [
        ("def f(", 2, "line 1: SyntaxError"),
        ("\nraise ValueError('no')", 2, "line 2: ValueError: no"),
        ("def g(): pass", 2, "has no function `f`; it has g"),
        ("def f(x): pass", 2, "is no metric"),
        (None, 3, "No such file"),
    ],
)
def test_file_without_that_metric_is_refused(
    cli: Run, rewards: Path, tmp_path: Path, code: str | None, code_is: int, words: str
) -> None:
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    done = cli("compute", rewards, "--metric", "mine.py:f")
    assert done.returncode == code_is
    assert words in done.stderr


def test_registry_never_runs_a_file(cli: Run, rewards: Path, tmp_path: Path) -> None:
    (tmp_path / "worst.py").write_text(f"open('ran', 'w')\n{WORST}")
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    entry = {"type": "worst.py:worst_task"}
    (tmp_path / "r.json").write_text(json.dumps([{**dataset, "extra_metrics": [entry]}]))
    done = cli("compute", rewards, "--registry", "r.json", "--dataset", "d", "--format", "json")
    assert outcomes(done)[1]["status"] == "failed"
    assert cli("validate", "r.json").returncode == 1
    assert not (tmp_path / "ran").exists()
