"""`harbor-metrics audit`."""

from __future__ import annotations

from pathlib import Path

from conftest import JOBS, LOGS, Run


def test_audit_counts_all_sources_and_names_those_that_report_nothing(
    cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    done = cli("audit", JOBS / "single", LOGS / "inspect" / "parts.eval", "r.jsonl")
    assert done.returncode == 0
    assert "r.jsonl reports no numbers of its own" in done.stderr
    assert done.stdout.rstrip().endswith("56 equal, 0 explained, 0 differ without an explanation")
    assert "numbers are equal (--all shows them)" in done.stdout
    everything = cli("audit", LOGS / "inspect" / "parts.eval", "--all").stdout
    assert "a1, mean: ci_lower" in everything
    assert max(map(len, done.stdout.splitlines())) <= 120
