"""A program is ended with all that it started: processes that grow again faster than found, too."""

from __future__ import annotations

import ast
import fcntl
import os
import platform
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import landlock
from harbor_metrics.confinement.kernel import call
from harbor_metrics.confinement.workplace import Workplace

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

# Seconds after which heads end by themselves, whatever becomes of the test.
LIFE = 40
# Locks a file for itself and all that it starts, and lets the first head grow.
STARTS = """
import fcntl, os, sys, time
held = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(held, fcntl.LOCK_EX)
os.dup2(held, 100)
if os.fork() == 0:
    os.execv(sys.argv[2], ["hydra"])
time.sleep(float(sys.argv[3]))
"""


def hydra(deadline: int) -> bytes:
    """A program for x86-64: each head grows three more and ends; more than twelve do not live.

    head: if time() > deadline: exit; for slot in range(12): if fcntl(100, F_SETLK, slot) == 0:
    break; else: exit; setsid(); for _ in range(3): if fork() == 0: go to head; exit
    """
    code = bytes.fromhex(
        "b8c900000031ff0f053d" + struct.pack("<I", deadline).hex() + "7f5641bc0c00000041ffcc784b"
        "48c70424010000004c8964240848c744241001000000bf64000000be060000004889e2b8480000000f0585c075"
        "cdb8700000000f0541bd03000000b8390000000f0585c0749f41ffcd75f0b83c00000031ff0f05"
    )
    size, at = 120 + len(code), 0x400000
    head = struct.pack("<4s4B8x", b"\x7fELF", 2, 1, 1, 0)
    head += struct.pack("<2HI3QI6H", 2, 62, 1, at + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<2I6Q", 1, 5, 0, at, at, size, size, 4096) + code


def is_held(path: Path) -> bool:
    """Whether a process lives that holds the file, or one that it started."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def command(tmp_path: Path) -> Iterator[list[str]]:
    """What lets a hydra grow: a command, but for how long it goes on itself."""
    if platform.machine() != "x86_64":
        pytest.skip("the hydra is a program for x86-64")
    (tmp_path / "hydra").write_bytes(hydra(int(time.time()) + LIFE))
    (tmp_path / "hydra").chmod(0o755)
    (tmp_path / "held").mkdir()
    held = tmp_path / "held" / "file"
    held.touch()
    yield [sys.executable, "-I", "-S", "-c", STARTS, str(held), str(tmp_path / "hydra")]
    while is_held(held):
        time.sleep(0.1)


# Nobody is found by a search: what is ended is ended without one.
RUN = """
import sys
from harbor_metrics.confinement import descendants, supervisor
from harbor_metrics.confinement.workplace import Confinement, Workplace
supervisor.descendants = descendants.descendants = descendants.children_of = lambda *_: set()
folder, layers, *command = sys.argv[1:]
readable = (sys.prefix, sys.base_prefix, folder)
confined = Confinement(
    layers=tuple(layers.split()), filtered=False, readable=readable, writable=(folder + "/held",)
)
with Workplace() as place:
    done = place.run(command, env={}, cwd="/", timeout=1, confinement=confined)
    with open(folder + "/held/file") as file:
        free = not __import__("fcntl").flock(file, 6)
print((free, done.timed_out, done.exceeded, done.stderr))
"""


def keeps_signals_in() -> bool:
    """Whether the system has a Landlock that does."""
    try:
        return call(444, None, 0, 1) >= landlock.SIGNALS
    except OSError:
        return False


@linux
@pytest.mark.parametrize("seconds", [0.1, 60])
@pytest.mark.parametrize("layers", ["landlock", "landlock namespaces", ""])
def test_what_grows_again_ends_with_the_program(
    layers: str, seconds: float, command: list[str], tmp_path: Path
) -> None:
    """Whether that ends by itself or for its time."""
    if not keeps_signals_in():
        pytest.skip("this system's Landlock keeps no signals in")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), layers, *command, f"{seconds}"],
        capture_output=True,
        text=True,
        timeout=LIFE,
    )
    assert done.stderr == ""
    assert ast.literal_eval(done.stdout) == (True, seconds > 1, "", b"")


@linux
def test_what_grows_again_ends_with_a_supervisor_that_is_killed(
    command: list[str], tmp_path: Path
) -> None:
    if not keeps_signals_in():
        pytest.skip("this system's Landlock keeps no signals in")
    with Workplace() as place:
        # Killed before there is a folder, it would be another failure.
        assert place.folder
        threading.Timer(0.5, os.kill, (place._pid, signal.SIGKILL)).start()
        assert place.run([*command, "60"], env={}, cwd="/", timeout=30).lost
    until = time.monotonic() + LIFE / 4
    while is_held(tmp_path / "held" / "file") and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_held(tmp_path / "held" / "file")


# A process that nobody ends, and that ends by itself. Whoever started it waits until it is of
# another group: it would be ended with its own.
LEAVES = """
import os, time
gone, go = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.close(1)
    os.close(2)
    os.write(go, b"!")
    time.sleep(5)
else:
    os.read(gone, 1)
"""
NOBODY_ENDS = f"""
import os, sys
from harbor_metrics.confinement import descendants, ending, supervisor
from harbor_metrics.confinement.finished import ending as words
from harbor_metrics.confinement.workplace import Workplace
ending.keep_together = lambda **how: False
descendants.signal = lambda pid, number: None
supervisor.PERSEVERANCE = 0.2
with Workplace() as place:
    folder = place.folder
    done = place.run([sys.executable, "-c", {LEAVES!r}], env={{}}, cwd="/", timeout=30)
    print((done.exceeded, done.timed_out, words(done, 1), place.alive))
print(os.path.exists(folder))
"""


@linux
def test_program_of_which_some_cannot_be_ended_says_so_and_its_folder_stays(tmp_path: Path) -> None:
    """Whoever goes on could put something else into the way of what is removed."""
    done = subprocess.run(
        [sys.executable, "-c", NOBODY_ENDS],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIFE,
    )
    assert done.stderr == ""
    said, exists = map(ast.literal_eval, done.stdout.splitlines())
    assert said == ("remaining", False, "left processes that could not be ended", False)
    assert exists


@linux
def test_program_that_is_not_confined_reaches_nobody_outside_with_a_signal() -> None:
    """So nobody can keep it from being ended with all that it started."""
    if not keeps_signals_in():
        pytest.skip("this system's Landlock keeps no signals in")
    code = """
import os
watcher = os.getppid()
supervisor = int(open(f"/proc/{watcher}/stat").read().rpartition(")")[2].split()[1])
for pid in (watcher, supervisor):
    try: os.kill(pid, 0); print("reached")
    except PermissionError: pass
print(os.kill(os.getpid(), 0))
"""
    with Workplace() as place:
        done = place.run([sys.executable, "-c", code], env={}, cwd="/", timeout=30)
    assert (done.code, done.stdout) == (0, b"None\n")
