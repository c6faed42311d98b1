"""Bytes out of this process: all of them, or an error.

A file of its own, because `--version` loads nothing else.
"""

from __future__ import annotations

import os

# One call to the system writes no more than 2 GiB, and some systems refuse to begin with more.
_MOST = 1 << 30


def write(descriptor: int, data: bytes) -> None:
    """Write all of the data, however little of it the system takes at once.

    Raises:
        OSError: it cannot be written, because the disk is full or the reader has gone.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest[:_MOST]) :]
        except BlockingIOError:
            _wait(descriptor)


def _wait(descriptor: int) -> None:
    """Wait until a pipe that does not block has room."""
    # Inside, for weight: few pipes are so.
    import select

    select.select([], [descriptor], [])
