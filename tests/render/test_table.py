"""Results as a table."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import Run, trial, write_job
from metric_scripts import metric as script


def test_table_fits_eighty_columns(cli: Run, tmp_path: Path) -> None:
    long = "x" * 130
    late = {"exception_type": long}
    job = write_job(tmp_path / "job", [trial("t", {"r": 1}, exception_info=late, source=long)])
    done = cli("compute", job, "--metric", script("gone.py"))
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "1 trial, 1 task" in done.stdout


def test_a_reward_key_is_not_a_command_to_a_runner(cli: Run, tmp_path: Path) -> None:
    rewards = {"##[error]no": 1, "::error::no": 0}
    job = write_job(tmp_path / "job", [trial("t", rewards)])
    table = cli("compute", job, "--level", "off").stdout
    assert r"##\x5berror]no" in table
    assert not re.search(r"##\[|^\s*::", table, re.MULTILINE)
