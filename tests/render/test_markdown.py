"""Results as Markdown."""

from __future__ import annotations

from pathlib import Path

from conftest import Run, trial, write_job


def test_markdown_escapes_names(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"a|b": 1, "c": 2})])
    done = cli("compute", job, "--format", "markdown")
    assert "| &emsp;a\\|b | 1 | — |" in done.stdout
