"""Diagnostics with the lines that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics.documents.diagnostics import Diagnostic, Span
from harbor_metrics.render import text as module
from harbor_metrics.render.text import text


def test_carets_stand_below_wide_characters(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('[{"name":"日本語","versoin":"1"}]', encoding="utf-8")
    lines = cli("validate", "registry.json", "--select", "unknown-field").stdout.splitlines()
    assert lines[4] == "  |" + " " * 19 + "^" * 9 + " not a dataset field"


def test_passwords_of_a_line_are_looked_for_once_however_many_mistakes_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = '[{"git_url": "https://me:secret@example.org/a"}' + ", 1" * 50 + "]"
    looked_at: list[str] = []
    hide = module.quoted_line

    def noted(row: str) -> str:
        looked_at.append(row)
        return hide(row)

    monkeypatch.setattr(module, "quoted_line", noted)
    mistakes = [
        Diagnostic(rule="a", message="m", path="x.json", span=Span(1, column, 1, column + 1))
        for column in range(16, 60)
    ]
    said = text(mistakes, {"x.json": line})
    assert looked_at == [line]
    assert said.count("https://*********@example.org") > 1
    assert "secret" not in said
