"""`harbor-metrics convert`."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import LOGS, Run


def test_converted_trials_are_written_printed_and_valid(cli: Run, tmp_path: Path) -> None:
    source = LOGS / "inspect" / "parts.eval"
    done = cli("convert", source, "-o", "t.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote 16 trials to t.jsonl" in done.stderr
    assert "2 unscored, 2 without a score" in done.stderr
    printed = cli("convert", source)
    assert printed.stdout == (tmp_path / "t.jsonl").read_text()
    assert cli("validate", "t.jsonl").returncode == 0
    again = cli("convert", "t.jsonl")
    assert again.stdout == printed.stdout


def test_trials_that_cannot_be_read_are_named_and_left_out(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r").write_text('{"r": 1}\n{"r": "x"}\n')
    done = cli("convert", "r", "-o", "t.jsonl")
    assert done.returncode == 1
    assert "line 2" in done.stderr or "r:2:" in done.stderr
    assert (tmp_path / "t.jsonl").read_text() == '{"task":"line:1","rewards":{"r":1}}\n'


def test_the_input_is_never_replaced(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r").write_text('{"r": 1}\n')
    done = cli("convert", "r", "-o", "r")
    assert done.returncode == 2
    assert (tmp_path / "r").read_text() == '{"r": 1}\n'


def test_csv_with_mapped_columns_is_converted(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,points\na,0.25\n")
    done = cli("convert", "t.csv", "--columns", "task=n,reward=points")
    assert done.stdout == '{"task":"a","rewards":{"reward":0.25}}\n'


@pytest.mark.parametrize(
    ("name", "text", "is_said"),
    [
        ("r.jsonl", '{"r": 1}\n{"r": 0}\n', True),
        ("r.csv", "reward\n1\n0\n", True),
        ("r.json", "[[1, 0], [0]]", True),
        ("t.csv", "task,reward\na,1\n", False),
        ("t.jsonl", '{"task": "a", "rewards": null}\n', False),
        ("e.json", '{"a": [1, 0]}', False),
    ],
)
@pytest.mark.parametrize("output", ["t.parquet", "written.jsonl"])
def test_tasks_that_only_places_name_are_noted(
    name: str, text: str, is_said: bool, output: str, cli: Run, tmp_path: Path
) -> None:
    """Two files of rewards have a task a line together, and were attempts at one when converted."""
    (tmp_path / name).write_text(text)
    done = cli("convert", name, "-o", output)
    assert done.returncode == 0
    assert ("note[tasks-by-place]" in done.stderr) == is_said
