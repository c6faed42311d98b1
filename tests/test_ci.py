"""The hook and the action that others use this by."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

from conftest import ROOT


def test_hook_matches_registries_and_manifests_only() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (\S+)", text)[1]
    assert re.search(pattern, "a/registry.json")
    assert re.search(pattern, "dataset.toml")
    assert not re.search(pattern, "a/dataset.tomlx")
    assert not re.search(pattern, "a/my-registry.json")


def test_action_annotates_the_mistakes_and_summarises_them(tmp_path: Path) -> None:
    """The second step, as a runner would start it, with the tool in place of the installed one."""
    text = (ROOT / "action.yml").read_text()
    script = text.split("run: |")[2].replace("\n        ", "\n")
    tool = tmp_path / "harbor-metrics" / "bin" / "harbor-metrics"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harbor_metrics "$@"\n')
    tool.chmod(0o755)
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    env = {**os.environ, "RUNNER_TEMP": str(tmp_path), "FILES": "*.json\nregistry.json"}
    env["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error ")
    assert "error[missing-field]" in (tmp_path / "summary.md").read_text()


def test_each_dependency_has_its_weight_licence_and_reason_in_contributing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = {re.match(r"[\w.-]+", text)[0] for text in chain(project["dependencies"], *extras)}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("## What is installed, and why")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    rows = [row for row in rows if len(row) == 4][2:]
    assert {row[0].partition(" ")[0] for row in rows} == wanted
    assert all(float(row[1]) > 0 and row[2] and row[3] for row in rows)
