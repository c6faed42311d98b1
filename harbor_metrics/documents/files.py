"""Reading a file whole, and writing one as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from ..errors import InputError, OutputError

_PREFIX, _SUFFIX = ".harbor-metrics-", ".tmp"
_STALE = 3_600.0


def read_bytes(path: str) -> bytes:
    """The whole of a file.

    Raises:
        InputError: it cannot be read; the reason is in the message.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error


def check_writable(path: str) -> None:
    """Find out before the work starts what would make `write_atomically` fail after it.

    Raises:
        OutputError: the directory is missing or not writable, or the path is a directory.
    """
    with _output_errors(path):
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise OutputError(f"{path} is a directory")
        if _is_special(path):
            return
        _tidy(os.path.dirname(target))
        descriptor, probe = _temporary_beside(target)
        os.close(descriptor)
        os.unlink(probe)


def write_atomically(path: str, data: bytes) -> None:
    """Replace the file that `path` leads to, links followed, in one step; its mode stays.

    Raises:
        OutputError: it cannot be written; the old file is as it was.
    """
    with _output_errors(path):
        target = os.path.realpath(path)
        if _is_special(path):
            with open(path, "ab") as stream:
                stream.write(data)
            return
        descriptor, temporary = _temporary_beside(target)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, _mode(target))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_directory(os.path.dirname(target))


@contextlib.contextmanager
def _output_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason(error)}") from error
    except ValueError as error:
        raise OutputError(f"{path!r} cannot be written: {error}") from error


def _temporary_beside(target: str) -> tuple[int, str]:
    # Inside, for weight: only what writes a file needs it.
    import tempfile

    return tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=os.path.dirname(target))


def _tidy(folder: str) -> None:
    """Remove the temporary files of writers that were killed: no write takes an hour."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat().st_mtime > _STALE:
                        os.unlink(entry.path)


def _is_special(path: str) -> bool:
    """Whether it is a pipe or a device, which is written into and never replaced."""
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


def reason(error: OSError) -> str:
    """What the system says of an error, without the number and the path."""
    return error.strerror or str(error)
