"""The end of all that a program started, by the process that watches over it.

Where that is not the first of a set of processes, it enters a Landlock domain that keeps signals
in. Whatever it starts is of the domain, so one call reaches all of it at once: a chain of
processes, too, each of which starts the next and is gone before anybody sees it.
"""

from __future__ import annotations

import os
import select
import struct

from . import landlock, sandbox
from .kernel import LIBC, checked

# What a result says of a program that left processes which could not be ended.
REMAINING = "remaining"
_KILL, _CHILD_ENDED, _CLOSE_ON_EXEC = 9, 17, 0o2000000
_SIGNALS = struct.pack("=Q", 1 << (_CHILD_ENDED - 1)).ljust(sandbox.SIGNAL_SET, b"\0")


def keep_together(*, moving: bool) -> bool:
    """From here on no signal of this process, or of what it starts, reaches any other process.

    And of all that it starts it becomes the parent when their own parents end. Whether both are so
    is returned; `moving` as in `landlock.keep_signals_in`.
    """
    parent = os.getppid()
    try:
        # Who was out of reach before, for another reason, would prove nothing.
        os.kill(parent, 0)
        landlock.keep_signals_in(moving=moving)
        sandbox.adopt_orphans()
    except OSError:
        return False
    try:
        os.kill(parent, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        pass
    return False


def attend(program: int, go: int) -> int | None:
    """The status with which a child ended; None when nobody waits for it: the pipe was closed.

    Signals are blocked, and children that become this process's meanwhile are awaited, too.

    Raises:
        OSError: the system has no descriptor for it.
    """
    ended = checked(LIBC.signalfd(-1, _SIGNALS, _CLOSE_ON_EXEC))
    poll = select.poll()
    for descriptor in (go, ended):
        poll.register(descriptor, select.POLLIN)
    while True:
        found, status = os.waitpid(-1, os.WNOHANG)
        if found == program:
            return status
        # Between any two: there may be no end of them.
        for descriptor, _ in poll.poll(0 if found else None):
            if descriptor == go:
                return None
            os.read(ended, 128)


def end_all() -> None:
    """Kill and await everybody that a signal of this process reaches.

    For the first of a set of processes, or after `keep_together`, and for nobody else: it would be
    everybody of this user.
    """
    try:
        os.kill(-1, _KILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        pass
