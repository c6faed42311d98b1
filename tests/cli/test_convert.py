"""`harbor-metrics convert`."""

from __future__ import annotations

from pathlib import Path

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
