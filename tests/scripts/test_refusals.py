"""What a script was refused is written down, and the script runs as it would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_file import Script
from harbor_metrics.scripts import refusals
from harbor_metrics.scripts.startup import startup_code

pytestmark = linux
# The system refuses the first three to root, too.
SCRIPT = """
import os, sys
def attempt(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        print(type(error).__name__)
attempt(os.chmod, "/proc/self/stat", 0)
attempt(os.link, "/proc/self/stat", "here")
attempt(os.chmod, "/proc/self/stat", 0)
attempt(open, "gone")
print(__name__, __file__, sys.argv[1:], sys.path[0])
sys.exit(3)
"""


@pytest.fixture
def done(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "copy").write_text(SCRIPT)
    (tmp_path / "modules").mkdir()
    script = Script("/there/m.py", Content(SCRIPT.encode()))
    code = startup_code(script, is_shown_the_copy=False)
    given = [refusals.__file__, "log", code, str(tmp_path / "copy"), script.path, "-i", "x"]
    command = [sys.executable, "-I", *given]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_script_runs_as_it_would(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "PermissionError",
        "OSError",
        "PermissionError",
        "FileNotFoundError",
        "__main__ /there/m.py ['-i', 'x'] /there",
    ]


@pytest.mark.usefixtures("done")
def test_refusal_is_written_down_once_and_a_missing_file_is_not_one(tmp_path: Path) -> None:
    assert (tmp_path / "log").read_text().splitlines() == [
        "chmod /proc/self/stat: Operation not permitted",
        "link /proc/self/stat here: Invalid cross-device link",
    ]
