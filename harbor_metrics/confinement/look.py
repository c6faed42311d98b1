"""How long who looks at a program may do so. Imports as little as the supervisor, which looks."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class TooLong(Exception):
    """To look takes longer than it may: there is more to look at than any script needs."""


class Look:
    """How long a look may go on: seconds of this process's processor time, and until when.

    `meanwhile` is called whenever it goes on, and raises `TooLong` of what cannot wait for its end.
    """

    def __init__(
        self, of_processor: float, until: float, meanwhile: Callable[[], object] = bool
    ) -> None:
        self._processor, self._until = time.process_time() + of_processor, until
        self._meanwhile = meanwhile

    def go_on(self, may: bool = True) -> None:
        """Nothing, where it may.

        Raises:
            TooLong: it may not.
        """
        if not may or time.process_time() > self._processor or time.monotonic() > self._until:
            raise TooLong
        self._meanwhile()
