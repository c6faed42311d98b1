"""The supervisors of this process: starting one, and ending what one leaves that was killed."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from typing import NoReturn

from .kernel import fork
from .supervisor import serve

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Our package without its __init__, which takes longer to import than the supervisor.
_SERVE = (
    # Who started us may ignore the ends of children, and so would it.
    f"import sys, _signal; _signal.signal({signal.SIGCHLD:d}, _signal.SIG_DFL);"
    "package = sys.modules['harbor_metrics'] = type(sys)('harbor_metrics');"
    f"package.__path__ = [{_HERE!r}]; from harbor_metrics.confinement.supervisor import serve;"
    "serve(sys.argv[1])"
)
# What an interpreter may need to start at all.
_SUPERVISOR_ENV = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
# Who is a child of ours on purpose; none is made while others are looked for.
SUPERVISORS: set[int] = set()
# Those of them that have done all, and need not have ended.
_ENDING: set[int] = set()
FORKING = threading.Lock()


def start(folder: str) -> tuple[int, int, int]:
    """A supervisor's process, where to write requests, and where to read answers.

    A copy of us is one in a tenth of the time that a new Python takes. But only a process without
    other threads can be copied, and only on Linux is it sure that nothing of the system's has any.
    """
    _forget_the_ended()
    reading, requests = os.pipe()
    answers, writing = os.pipe()
    try:
        if sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1:
            pid = fork()
            if pid == 0:
                _serve(folder, reading, writing)
        else:
            pid = _new(folder, reading, writing)
    except OSError:
        os.close(requests)
        os.close(answers)
        raise
    finally:
        os.close(reading)
        os.close(writing)
    return pid, requests, answers


def let_end(pid: int) -> None:
    """Do not await a supervisor that has done all: its end takes as long as its start."""
    _ENDING.add(pid)


def _forget_the_ended() -> None:
    for pid in list(_ENDING):
        try:
            ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:
            ended = True  # somebody else awaited it
        if ended:
            _ENDING.discard(pid)
            SUPERVISORS.discard(pid)


def _serve(folder: str, reading: int, writing: int) -> NoReturn:
    """In the copy: let go of everything that is ours, and be a supervisor."""
    try:
        gc.disable()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for old, new in ((reading, 0), (writing, 1), (nothing, 2)):
            os.dup2(old, new)
        # More than may be opened now can be open already.
        os.closerange(3, max(map(int, os.listdir("/proc/self/fd"))) + 1)
        serve(folder)
    finally:
        os._exit(1)


def _new(folder: str, reading: int, writing: int) -> int:
    # For weight: on Linux a copy of this process is the supervisor.
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _SERVE, folder],
        env={name: os.environ[name] for name in _SUPERVISOR_ENV if name in os.environ},
        cwd="/",
        stdin=reading,
        stdout=writing,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # We await it ourselves.
    process.returncode = 0
    return process.pid


def end_session(leader: int, folder: str) -> None:
    """Kill what a killed supervisor leaves: its session, and whatever has its folder for a home."""
    for pid in _with_home(folder) | {leader}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    until = time.monotonic() + 5
    while (left := _with_home(folder)) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def end_adopted() -> None:
    """Kill the children that are no supervisors, and theirs, which become ours by that."""
    until = time.monotonic() + 5
    with FORKING:
        # Not for ever: where /proc is that of other processes, it names as ours who is not.
        while (strangers := _children() - SUPERVISORS) and time.monotonic() < until:
            for pid in strangers:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _children() -> set[int]:
    children = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # After the name, which may hold anything: state, parent.
            state, parent, *_ = file.read().rpartition(b")")[2].split()
            if int(parent) == os.getpid() and state != b"Z":
                children.add(int(name))
    return children


def _with_home(folder: str) -> set[int]:
    processes = set()
    mark = os.fsencode(folder)
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read():
                        processes.add(int(name))
            except OSError:
                continue
    return processes
