"""The table of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run


def test_configuration_ignores_with_a_reason(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a__b", "version": "1", "description": "", "tasks": []}]'
    )
    table = '[tool.harbor-metrics.ignore]\nempty-dataset = "filled by a script"\n'
    table += 'name-breaks-results = "old"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    done = cli("validate", "registry.json")
    assert "ignored 1 x empty-dataset: filled by a script" in done.stdout
    assert done.stdout.endswith("No mistakes in 1 file, 1 dataset.\n")
    for wrong in (
        'ignore = ["x"]',
        'ignore = {"empty-dataset" = ""}',
        "more = 1",
        'select = ["zz"]',
    ):
        (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{wrong}\n")
        assert cli("validate", "registry.json").returncode == 2
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["empty-dataset"]\n')
    assert "name-breaks-results" not in cli("validate", "registry.json").stdout


@pytest.mark.parametrize("text", ["[tool.harbor-metrics\n", "[tool]\nharbor-metrics = 3\n"])
def test_broken_configuration_is_refused(text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "pyproject.toml").write_text(text)
    assert cli("validate", "registry.json").returncode == 2
