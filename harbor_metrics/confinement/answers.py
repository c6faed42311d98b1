"""The answers of a supervisor, waited for with a limit of time."""

from __future__ import annotations

import os
import select
import time
from io import BufferedReader

from .requests import DONE

_DAY = 86_400.0


class Answers:
    """The end of a pipe that a supervisor writes to."""

    def __init__(self, descriptor: int) -> None:
        self._file: BufferedReader = os.fdopen(descriptor, "rb")
        self.readline, self.read, self.close = (
            self._file.readline,
            self._file.read,
            self._file.close,
        )

    def come(self, seconds: float) -> bool:
        """Whether there is one to read, or no supervisor any more, within that time."""
        poll, until = select.poll(), time.monotonic() + seconds
        poll.register(self._file, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if poll.poll(min(left, _DAY) * 1000):
                return True
        return False

    def are_done(self, seconds: float) -> bool | None:
        """Whether the supervisor ends as it should; None where it does not within that time."""
        until, last = time.monotonic() + seconds, b""
        while self.come(until - time.monotonic()):
            data = self._file.read1()
            if not data:
                return last == DONE
            # Before it there can be answers that nobody waited for.
            last = (last + data)[-len(DONE) :]
        return None
