"""Trials files."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from printed import group, values

from harbor_metrics.readers import trials
from harbor_metrics.readers.files.lines import split
from harbor_metrics.trials.trial import Trial


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


def test_attempt_that_a_data_frame_wrote_as_a_float_is_read(cli: Run, tmp_path: Path) -> None:
    """A column with gaps has floats in pandas, and JSON Schema takes 1.0 for an integer."""
    (tmp_path / "t.jsonl").write_text(
        '{"task": "a", "attempt": 2.0, "rewards": {"r": 0}}\n'
        '{"task": "a", "attempt": 1.0, "reward": 1}\n'
        '{"task": "a", "attempt": null, "rewards": {"r": 1}}\n'
    )
    (tmp_path / "t.csv").write_text("task,attempt,reward\na,2.0,0\na,1.0,1\na,,1\n")
    for name in ("t.jsonl", "t.csv"):
        assert cli("convert", name, "-o", "out.jsonl").returncode == 0
        lines = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
        assert [line.get("attempt") for line in lines] == [1, 2, None]
    (tmp_path / "t.jsonl").write_text('{"task": "a", "attempt": 1.5, "rewards": {"r": 0}}\n')
    for command in ("compute", "validate"):
        done = cli(command, "t.jsonl")
        assert done.returncode != 0
        assert "attempt" in done.stderr + done.stdout


PIECES = [
    b'{"task": "a", "rewards": null}',
    b'{"task": "b", "rewards": {"r": 1}}',
    b'{"task": "}", "rewards": null, "labels": {"k": "{"}} ',
    b'{"task": "a", "rewards": null}{"task": "b", "rewards": null}',
    b'{"task": "a", "rewards": {"r": 1}',
    b"}",
    b'{"task": "a", "rewards":',
    b'{"r": 1}}',
    b"",
    b" ",
    b"null",
]


@given(lines=st.lists(st.sampled_from(PIECES), min_size=1, max_size=5), end=st.booleans())
def test_trials_decoded_at_once_are_those_of_the_lines(lines: list[bytes], end: bool) -> None:
    block = b"\n".join(lines) + b"\n" * end
    try:
        at_once = trials._decoded_at_once(block)
    except msgspec.DecodeError:
        at_once = None
    if at_once is not None:
        of_lines = split(block)
        assert at_once == [msgspec.json.decode(line, type=Trial) for line in of_lines]
