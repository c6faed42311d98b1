"""Whether files are still what they were when they were first looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256

from ..errors import InputError
from .files import reason

_BLOCK = 1 << 20


class Unchanged:
    """Files that are read more than once, and have to say the same each time.

    Raises:
        InputError: one is not there.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._states = {path: _state(_status(path)) for path in paths}

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
            if _state(_status(path)) != before:
                raise was_changed(path)


class Beginning:
    """A file as far as it went at first: a log may still be written, and is read no further.

    Raises:
        InputError: it is not there.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._before = _status(path)

    @property
    def size(self) -> int:
        """How many bytes it had."""
        return self._before.st_size

    def check(self, digest: str) -> None:
        """Refuse a file that has become another, or has others than the bytes of this SHA-256.

        They are read again where more was written: it may stand in place of some of them.

        Raises:
            InputError: so it is.
        """
        now = _status(self._path)
        if now.st_size > self.size and os.path.samestat(now, self._before):
            same = _digest(self._path, self.size) == digest
        else:
            same = _state(now) == _state(self._before)
        if not same:
            raise was_changed(self._path)


def was_changed(path: str) -> InputError:
    """What is said of a file that did not stay as it was."""
    return InputError(
        f"{path} was changed while it was read", "try again when nothing writes to it"
    )


def _digest(path: str, size: int) -> str:
    """SHA-256 of so many bytes at the beginning of a file."""
    digest = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(min(size, _BLOCK)):
                digest.update(block)
                size -= len(block)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    return digest.hexdigest()


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
