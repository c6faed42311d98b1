"""Diagnostics with the lines that they are about."""

from __future__ import annotations

from pathlib import Path

from conftest import Run


def test_carets_stand_below_wide_characters(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('[{"name":"日本語","versoin":"1"}]', encoding="utf-8")
    lines = cli("validate", "registry.json", "--select", "unknown-field").stdout.splitlines()
    assert lines[4] == "  |" + " " * 19 + "^" * 9 + " not a dataset field"
