"""Write a file as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time

from .document import reason
from .errors import OutputError

_PREFIX, _SUFFIX = ".harbor-metrics-", ".tmp"
_STALE = 3_600.0


def check_writable(path: str) -> None:
    """Find out before the work what would make `write` fail.

    Raises:
        OutputError: the directory is missing or not writable, or the path is a directory.
    """
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise OutputError(f"{path} is a directory")
        if _is_special(path):
            return
        _tidy(os.path.dirname(target))
        descriptor, probe = _temporary_beside(target)
        os.close(descriptor)
        os.unlink(probe)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason(error)}") from error
    except ValueError as error:
        raise OutputError(f"{path!r} cannot be written: {error}") from error


def write_atomically(path: str, data: bytes) -> None:
    """Put `data` where `path` leads, links followed, in one step; the mode of the old file stays.

    Raises:
        OutputError: it cannot be written; the old file is as it was.
    """
    temporary = None
    try:
        target = os.path.realpath(path)
        if _is_special(path):
            with open(path, "ab") as stream:
                stream.write(data)
            return
        descriptor, temporary = _temporary_beside(target)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
        temporary = None
        _sync_directory(os.path.dirname(target))
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason(error)}") from error
    except ValueError as error:
        raise OutputError(f"{path!r} cannot be written: {error}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _temporary_beside(target: str) -> tuple[int, str]:
    import tempfile

    return tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=os.path.dirname(target))


def _tidy(folder: str) -> None:
    """Remove what one of us left who was killed while writing; nobody writes for an hour."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat().st_mtime > _STALE:
                        os.unlink(entry.path)


def _is_special(path: str) -> bool:
    """Whether it is a pipe or a device: something to write into, never to replace."""
    stream = path.startswith(("/dev/", "/proc/"))
    return os.path.exists(path) and (stream or not os.path.isfile(path))


def _mode(target: str) -> int:
    try:
        return os.stat(target).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_directory(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
