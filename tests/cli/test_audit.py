"""`harbor-metrics audit`."""

from __future__ import annotations

import shutil
from pathlib import Path

from conftest import JOBS, LOGS, Run


def test_audit_counts_all_sources_and_names_those_that_report_nothing(
    cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    done = cli("audit", JOBS / "single", LOGS / "inspect" / "parts.eval", "r.jsonl")
    assert done.returncode == 1
    assert "r.jsonl reports no numbers of its own; --allow-unverified accepts that" in done.stderr
    assert done.stdout.rstrip().endswith(
        "60 equal, 0 explained, 0 unverified, 0 differ without an explanation"
    )
    sources = (JOBS / "single", LOGS / "inspect" / "parts.eval", "r.jsonl")
    assert cli("audit", *sources, "--allow-unverified").returncode == 0
    assert "numbers are equal (--all shows them)" in done.stdout
    everything = cli("audit", LOGS / "inspect" / "parts.eval", "--all").stdout
    assert "a1, mean: ci_lower" in everything
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_audit_fails_where_nothing_of_a_source_could_be_verified(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    for folder in (tmp_path / "job").glob("task-*"):
        shutil.rmtree(folder)
    done = cli("audit", "job")
    assert done.returncode == 1
    assert "nothing that job reports could be verified" in done.stderr
    assert " 0 equal, 0 explained, 18 unverified, 0 differ" in done.stdout
    assert cli("audit", "job", "--allow-unverified").returncode == 0


def test_audit_takes_the_options_that_its_advice_names(cli: Run) -> None:
    help_ = cli("audit", "--help").stdout
    for option in ("--script-timeout", "--sandbox", "--allow-outside", "--most-draws"):
        assert option in help_


def test_error_beyond_the_most_draws_is_unverified_with_its_distance(cli: Run) -> None:
    (path,) = (LOGS / "lm_eval" / "found" / "choices").glob("samples_fr_mc2_*")
    done = cli("audit", path, "--most-draws", "500")
    assert done.returncode == 0
    assert "16 equal, 0 explained, 2 unverified" in done.stdout
    assert "Monte Carlo errors away [1]" in done.stdout
    assert "500 of its 1,000 draws were replayed (--most-draws)" in done.stdout
    assert "18 equal" in cli("audit", path).stdout
