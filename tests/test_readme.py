"""Every command and output of the README."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
COMMANDS = [block for block in BLOCKS if "pytest" not in block]
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SET_UP = "python3 -m pip install uv && python3 -m uv run "


@pytest.mark.parametrize("block", COMMANDS, ids=lambda b: b.split("\n")[0][:60])
def test_command_prints_what_the_readme_says(block: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "registry", tmp_path / "registry")
    (tmp_path / "worst.py").write_text(next(c for c in PYTHON if c.startswith("# worst.py")))
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    expected = "".join(f"{line}\n" for line in block.splitlines() if not line.startswith("$ "))
    ours = f"{shlex.quote(sys.executable)} -m harbor_metrics"
    printed = ""
    for command in commands:
        line = command.removeprefix(SET_UP).replace("harbor-metrics", ours, 1)
        allowed = (0, 1) if " validate - " in line else (0,)
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode in allowed, done.stderr
        printed += done.stdout
    assert printed == expected


def test_python_example_prints_what_it_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "registry", tmp_path / "registry")
    code = PYTHON[0]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == code.split("# ")[1].split("\n")[0]
    assert (tmp_path / "result.json").exists()


def test_test_command_is_what_ci_runs() -> None:
    (block,) = (block for block in BLOCKS if "pytest" in block)
    command = block.removeprefix("$ " + SET_UP).strip()
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_map_in_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in (ROOT / "harbor_metrics").iterdir():
        if not path.name.startswith("_") and path.suffix in ("", ".py"):
            assert path.name in text, path.name
