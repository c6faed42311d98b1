"""Run another program: time limit, capped output, nothing left behind; the only subprocess."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# How much of what a program prints is kept, from its end.
KEPT = 65_536
# Seconds between asking a process group to end and ending it.
GRACE = 2.0
# Seconds to read on when the program has ended but something it started holds the pipe.
LINGER = 0.2


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: exit code (negative: the signal), and the tails of what it printed."""

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, timeout: float) -> Finished:
    """Run to the end, or to the limit of `timeout` seconds, then end the whole process group.

    Raises:
        OSError: the program cannot be started.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    tails = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    try:
        timed_out = not _drain(process, tails, started + timeout)
        if timed_out:
            _end_group(process)
            _drain(process, tails, time.monotonic() + LINGER)
    finally:
        _signal_group(process, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
    out, err = (bytes(tail) for tail in tails.values())
    return Finished(process.returncode, out, err, timed_out, time.monotonic() - started)


def _drain(process: subprocess.Popen[bytes], tails: dict[int, bytearray], deadline: float) -> bool:
    """Read both pipes until the program has ended; whether it did so before the deadline."""
    with selectors.DefaultSelector() as selector:
        for descriptor in tails:
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None
            if ended:
                deadline = min(deadline, time.monotonic() + LINGER)
            left = deadline - time.monotonic()
            if left <= 0 or not selector.get_map():
                break
            for key, _ in selector.select(min(left, 0.05)):
                if not _keep(key.fd, tails[key.fd]):
                    selector.unregister(key.fd)
    if process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
    return process.poll() is not None


def _keep(descriptor: int, tail: bytearray) -> bool:
    data = os.read(descriptor, KEPT)
    tail += data
    del tail[:-KEPT]
    return bool(data)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _signal_group(process, signal.SIGKILL)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def ending(finished: Finished, timeout: float) -> str:
    """How the program ended, in words."""
    if finished.timed_out:
        return f"did not end within {timeout:g} s"
    if finished.code < 0:
        try:
            name = signal.Signals(-finished.code).name
        except ValueError:
            name = f"signal {-finished.code}"
        return f"was ended by {name}"
    return f"ended with exit code {finished.code}"
