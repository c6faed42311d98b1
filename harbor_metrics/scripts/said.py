"""What a program said last, fit to be shown anywhere."""

from __future__ import annotations

import re

from ..syntax import printable

LINES = 12
WIDTH = 300


def said(stderr: bytes) -> str:
    """The last lines, quoted so that no terminal and no CI system takes them for commands."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-LINES:]
    if not lines:
        return ""
    return ": it said\n" + "\n".join(f"  | {_no_command(line[:WIDTH])}" for line in lines)


def _no_command(line: str) -> str:
    """A line in which GitHub's runner finds none, wherever it is folded."""
    return re.sub(r"(?<!\S)::", r"\\x3a:", printable(line)).replace("##[", r"##\x5b")


def first_line(stdout: bytes) -> str:
    """The first line of what was printed, shortened."""
    lines = stdout.decode("utf-8", "backslashreplace").strip().splitlines()
    return printable(lines[0][:80]) if lines else ""
