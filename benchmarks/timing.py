"""Whole commands timed in turn, A B A B …, so that a ratio holds when the machine drifts."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

Command = Sequence[str]
OURS = (sys.executable, "-m", "harbor_metrics")
ROUNDS = 7


# In a small process of its own: what is started from a large one seems to take as much memory.
MEASURE = """
import os, resource, subprocess, sys, time
if sys.argv[1] == "one":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
started = time.perf_counter()
done = subprocess.run(sys.argv[2:], stdout=-3, stderr=subprocess.PIPE)
wall = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_utime + used.ru_stime, wall, used.ru_maxrss)
sys.stderr.write(done.stderr.decode("utf-8", "replace")[-300:])
"""


class Cost(NamedTuple):
    """What a command and all that it started took, in seconds and bytes, and how it ended.

    `peak` is of the process that took most.
    """

    cpu: float
    wall: float
    peak: int
    code: int
    said: str


def cost(command: Command, folder: Path, *, processors: str = "all") -> Cost:
    """What a command takes, with all processors or with `one`."""
    done = subprocess.run(
        (sys.executable, "-c", MEASURE, processors, *command),
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    code, cpu, wall, peak = done.stdout.split()
    return Cost(float(cpu), float(wall), int(peak) << 10, int(code), done.stderr)


def seconds(command: Command) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    took = time.perf_counter() - started
    if done.returncode != 0 and b"Found" not in done.stdout:
        raise SystemExit(f"{command}: {done.stderr.decode()}")
    return took


def compare(what: str, ours: Command, other: Command, target: str) -> None:
    """Print the median of both and of the ratio pair by pair."""
    seconds(ours), seconds(other)
    pairs = [(seconds(ours), seconds(other)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    text = f"{ratio:.2f}x" if ratio >= 1 else f"1/{1 / ratio:.2f}x"
    print(f"{what:<42} {mine * 1e3:8.0f} ms  against {theirs * 1e3:8.0f} ms  {text:>9}  {target}")


def peak_memory(what: str, command: Command, target: str) -> None:
    """Print the most memory that the command takes."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3);"
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True)
    print(f"{what:<42} {int(done.stdout) / 1024:8.0f} MB  {target}")
