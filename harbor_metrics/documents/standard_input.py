"""Standard input to its end, also where its pipe does not block."""

from __future__ import annotations

import io
import sys
from typing import Any, BinaryIO

from ..errors import InputError


def standard_input() -> BinaryIO:
    """What is read from it waits for more until it ends.

    Whether a pipe blocks is a matter of all who hold it: who leaves it so makes a read that finds
    nothing yet look like the end.

    Raises:
        InputError: it is closed.
    """
    if sys.stdin is None:
        raise InputError("standard input is closed")
    buffer = sys.stdin.buffer
    raw = getattr(buffer, "raw", None)
    if raw is None:
        return buffer
    return io.BufferedReader(_Waiting(raw))


class _Waiting(io.RawIOBase):
    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            n: int | None = self._raw.readinto(buffer)
            if n is not None:
                return n
            # For weight: pipes that do not block are rare.
            import select

            select.select([self._raw.fileno()], [], [])
