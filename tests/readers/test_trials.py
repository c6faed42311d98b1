"""Trials files."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Run
from printed import group, values


def test_trials_are_grouped_by_agent_and_a_bad_line_is_named(cli: Run, tmp_path: Path) -> None:
    rows = [
        {"task": "a", "attempt": 1, "agent": "x", "dataset": "d", "rewards": {"r": 1.0}},
        {"task": "a", "attempt": 2, "agent": "x", "dataset": "d", "rewards": None, "error": "E"},
        {"task": "a", "attempt": 1, "agent": "y", "dataset": "d", "rewards": {"r": 0.0}},
    ]
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows) + '{"task": 1}\n'
    )
    done = cli("compute", "t.jsonl", "--format", "json")
    assert values(done) == [{"mean": 0.5}, {"mean": 0.0}]
    assert done.returncode == 1
    assert "t.jsonl:4" in done.stderr


def test_unread_line_of_a_trials_file_is_counted(cli: Run, tmp_path: Path) -> None:
    rows = '{"task": "a", "rewards": {"r": 1}}\n{"task": "b", "rewards": {"r": true}}\n'
    (tmp_path / "t.jsonl").write_text(rows)
    assert group(cli("compute", "t.jsonl", "--format", "json"))["counts"]["unread"] == 1
