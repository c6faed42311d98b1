"""The script to begin with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run


@pytest.mark.parametrize("rewards", ['{"a": 1, "b": 0.5}\nnull\n{}\n', "null\n", '{"r": 1}\n'])
def test_new_script_validates_and_computes(rewards: str, cli: Run, tmp_path: Path) -> None:
    dataset = {
        "name": "a",
        "version": "1",
        "description": "",
        "tasks": [{"name": "t", "path": "p"}],
    }
    (tmp_path / "registry.json").write_text(json.dumps([dataset], indent=2))
    done = cli("add", "registry.json", "a", "uv-script", "-k", "script_path=m.py", "--new")
    assert done.returncode == 0
    assert cli("validate", "registry.json").stdout == "No mistakes in 1 file, 1 dataset.\n"
    (tmp_path / "r.jsonl").write_text(rewards)
    computed = cli("compute", "r.jsonl", "--registry", "registry.json", "--format", "json")
    (metric,) = json.loads(computed.stdout)["groups"][0]["metrics"]
    assert metric["status"] == "ok"
    again = cli("add", "registry.json", "a", "uv-script", "-k", "script_path=m.py", "--new")
    assert again.returncode == 3
    assert cli("add", "registry.json", "a", "mean", "--new").returncode == 2
    failed = cli("add", "registry.json", "zz", "uv-script", "-k", "script_path=n.py", "--new")
    assert failed.returncode == 1
    assert not (tmp_path / "n.py").exists()
