"""Whether files are still what they were when they were first looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..errors import InputError
from .files import reason


class Unchanged:
    """Files that are read more than once, and have to say the same each time.

    Those that `may_grow` are read as far as they went at first, as a log that is still written.

    Raises:
        InputError: one is not there.
    """

    def __init__(self, paths: Iterable[str] = (), *, may_grow: bool = False) -> None:
        self._states = {path: _status(path) for path in paths}
        self._may_grow = may_grow

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [*self._states]

    def check(self) -> None:
        """Refuse a file that has become another, or has other contents.

        Raises:
            InputError: so it is.
        """
        for path, before in self._states.items():
            now = _status(path)
            if self._may_grow and now.st_size > before.st_size:
                same = os.path.samestat(now, before)
            else:
                same = _state(now) == _state(before)
            if not same:
                raise InputError(
                    f"{path} was changed while it was read", "try again when nothing writes to it"
                )


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
