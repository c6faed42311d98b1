"""What long work says on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = """
import time
from harbor_metrics import Column
def slow(rewards: Column) -> float:
    time.sleep(1.5)
    return 1
"""


def said(folder: Path, *arguments: str, terminal: bool) -> str:
    """What a command writes to standard error."""
    (folder / "slow.py").write_text(SLOW)
    (folder / "r.jsonl").write_text('{"reward": 1}\n' * 12)
    command = [sys.executable, "-m", "harbor_metrics", *arguments]
    if not terminal:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        return done.stderr
    ours, theirs = pty.openpty()
    options = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": theirs}
    with subprocess.Popen(command, **options) as process:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:
            pass
    os.close(ours)
    assert process.returncode == 0, text
    return text.decode()


@pytest.mark.parametrize(
    ("command", "label"),
    [
        (("compute", "r.jsonl", "--metric", "slow.py:slow"), "computing"),
        (
            ("report", "r.jsonl", "--metric", "slow.py:slow", "-o", "p.html"),
            "reading and computing",
        ),
    ],
)
def test_a_terminal_is_told_what_takes_long(
    tmp_path: Path, command: tuple[str, ...], label: str
) -> None:
    assert f"{label}  [" in said(tmp_path, *command, terminal=True)
    assert label not in said(tmp_path, *command, terminal=False)


def test_what_is_quick_says_nothing(tmp_path: Path) -> None:
    assert "[" not in said(tmp_path, "compute", "r.jsonl", terminal=True)
