"""A second process for half of a long reading: decoders hold the lock, threads would not help."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable


def pays() -> bool:
    """Whether this process may be doubled, and there is a processor for the second one."""
    threading = sys.modules.get("threading")
    alone = threading is None or threading.active_count() == 1
    return alone and hasattr(os, "fork") and _processors() > 1


def _processors() -> int:
    """How many this process may use; on macOS, which does not tell, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def alongside(work: Callable[[], bytes]) -> Callable[[], bytes | None]:
    """Start `work` in a copy of this process; the returned function waits for its answer.

    None where it failed: the caller then does the work itself, and meets the reason. Waiting also
    ends the copy, so it must be called whatever happens.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(work())
            code = 0
        finally:
            # The parent says what went wrong; nothing of this copy may run on.
            os._exit(code)
    os.close(writing)

    def wait() -> bytes | None:
        answer = b""
        try:
            with os.fdopen(reading, "rb") as pipe:
                answer = pipe.read()
        finally:
            if sys.exc_info()[0] is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            try:
                _, status = os.waitpid(child, 0)
            except ChildProcessError:
                status = 1  # who started us ignores the ends of children: nobody tells
        return answer if status == 0 else None

    return wait
