"""Reading a file whole, and writing one as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader

from ..errors import InputError, OutputError
from .paths import STANDARD_INPUT, is_address, is_below, is_link, real_path, strayed
from .real import exchanged, open_real_folder
from .sizes import MOST_DATA, whole

_PREFIX, _SUFFIX = ".harbor-metrics-", ".tmp"
_MOST_LINKS = 40
# A folder where everybody may write, and nobody may remove what is another's.
_SHARED = stat.S_ISVTX | stat.S_IWOTH


def read_bytes(path: str) -> bytes:
    """The whole of a file.

    Raises:
        InputError: it cannot be read; the reason is in the message.
    """
    if is_address(path):
        raise InputError(f"{path} is an address, and no path of a file", "copy it to a file")
    if path == STANDARD_INPUT:
        raise InputError(
            "- stands for standard input, from which sources are read alone",
            "name a file, ./- where it is called so",
        )
    try:
        with open_regular(path) as file:
            return whole(file, MOST_DATA)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error


def open_regular(path: str, *, follow: bool = True, around: int | None = None) -> BufferedReader:
    """A file opened for reading; a pipe or a device, which may never end, is not waited for.

    The path is one from the folder `around`, where that is given by its descriptor.

    Raises:
        OSError: it cannot be opened, is not a regular file, or is a link not to be followed.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW, dir_fd=around)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "a pipe or a device, not a regular file", path)


def open_real(path: str) -> BufferedReader:
    """The regular file at a real path, opened for reading.

    Raises:
        OSError: it cannot be opened, is no regular file, or is another one by now.
    """
    folder, name = os.path.split(path)
    around = open_real_folder(folder)
    try:
        return open_regular(name, follow=False, around=around)
    except OSError as error:
        raise exchanged(path) if error.errno == errno.ELOOP else error from None
    finally:
        os.close(around)


def check_writable(path: str) -> None:
    """Find out before the work starts what would make `write_atomically` fail after it.

    Raises:
        OutputError: the directory is missing or not writable, or the path is a directory, or such
            a link.
    """
    with _output_errors(path):
        if _is_stream(path):
            return
        target = _target(path)
        if os.path.isdir(target):
            raise OutputError(f"{path} is a directory")
        if _is_special(path, target):
            return
        with _folder_of(target) as around:
            descriptor, probe = _temporary_in(around)
            os.unlink(probe, dir_fd=around)
            os.close(descriptor)


def write_atomically(path: str, data: bytes | Iterable[bytes]) -> None:
    """Replace the file that `path` leads to in one step; its mode stays.

    Links are followed where they are the user's own, as `check_place` tells.

    Raises:
        OutputError: it cannot be written; the old file is as it was.
    """
    pieces = [data] if isinstance(data, bytes) else data
    with _output_errors(path):
        if _is_stream(path):
            _write_into(path, pieces)
            return
        target = _target(path)
        if _is_special(path, target):
            _write_into(target, pieces)
        else:
            _replace(target, pieces)


def put_into(folder: str, name: str, data: bytes) -> None:
    """Write a file of ours into a folder in one step, in place of a link that has its name.

    Raises:
        OutputError: it cannot be written; what was there is as it was.
    """
    path = os.path.join(folder, name)
    with _output_errors(path):
        _check_links(folder)
        _replace(os.path.join(real_path(folder), name), [data])


def check_place(path: str) -> None:
    """Refuse to write through a link that somebody else may have made.

    It is one that would not be read through, and one out of its own folder: in a job that somebody
    has sent, a link with a likely name would have any file of its reader's replaced.

    Raises:
        OutputError: it is such a link.
    """
    with _output_errors(path):
        _check_links(path)
    for written in (path, os.path.join(os.getcwd(), path)):
        if (where := strayed(written)) is not None:
            raise OutputError(
                f"{path} cannot be written: a link there leads to {where}",
                "name the file itself, if it is yours",
            )


def _target(path: str) -> str:
    """The real path where a path leads, by no link that `check_place` refuses.

    Raises:
        OutputError: it is such a link, or leads elsewhere from one moment to the next.
    """
    target = real_path(path)
    # By no link at all: nothing is to be asked that could be another by then.
    if target != os.path.normpath(os.path.join(os.getcwd(), path)):
        check_place(path)
        if real_path(path) != target:
            raise exchanged(path)
    return target


@contextlib.contextmanager
def _folder_of(target: str) -> Iterator[int]:
    """A descriptor of the folder of a real path: no link that comes on its way is followed."""
    folder = os.path.dirname(target)
    # What is no folder at all is called so, and not one that was exchanged.
    os.stat(os.path.join(folder, ""))
    around = open_real_folder(folder)
    try:
        yield around
    finally:
        os.close(around)


def _replace(target: str, pieces: Iterable[bytes]) -> None:
    name = os.path.basename(target)
    with _folder_of(target) as around:
        descriptor, temporary = _temporary_in(around)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(descriptor)
                # Before it is closed: then it is no longer locked, and left over for other writers.
                os.fchmod(descriptor, _mode(name, around))
                os.replace(temporary, name, src_dir_fd=around, dst_dir_fd=around)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=around)
            raise
        os.fsync(around)


@contextlib.contextmanager
def _output_errors(path: str) -> Iterator[None]:
    if path == STANDARD_INPUT:
        raise OutputError("- is not a file", "name one, ./- where it is to be called so")
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason(error)}") from error
    except ValueError as error:
        raise OutputError(f"{path!r} cannot be written: {error}") from error


def _temporary_in(folder: int) -> tuple[int, str]:
    """A new file in a folder, by its name, locked as long as somebody writes it."""
    _tidy(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
        if _lock(descriptor) and os.fstat(descriptor).st_nlink:
            return descriptor, name
        # Another writer took it for left over before it was locked, and removes it.
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file if nobody else has; file systems without locks have it so, too."""
    # For weight: most commands write no file.
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _tidy(folder: int) -> None:
    """Remove the temporary files of writers that were killed: what they locked is free again."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    _remove_unlocked(name, folder)


def _remove_unlocked(name: str, folder: int) -> None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        if _lock(descriptor):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(descriptor)


def _write_into(path: str, pieces: Iterable[bytes]) -> None:
    """Write to a pipe or a device; a pipe that nobody reads is not waited for.

    Where it is the file that standard output or error goes to, what is printed stands behind it.
    """
    status = os.stat(path)
    own = [fd for fd in (1, 2) if _is_file_of(fd, status)]
    if own:
        descriptor = os.dup(own[0])
    else:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as stream:
        stream.writelines(pieces)


def _is_file_of(descriptor: int, status: os.stat_result) -> bool:
    """Whether it is that regular file which is open: opened again, it is written from its start."""
    try:
        return stat.S_ISREG(status.st_mode) and os.path.samestat(os.fstat(descriptor), status)
    except OSError:
        return False


def _check_links(path: str) -> None:
    """Refuse a link that another user has put into a folder where everybody may write.

    Linux does the same for `open`, which a file that is replaced is not opened by.

    Raises:
        OutputError: a link on the way is of such a user.
    """
    current, rest = "/", os.path.join(os.getcwd(), path).split("/")[::-1]
    hops = 0
    while rest and hops < _MOST_LINKS:
        step = rest.pop()
        if step in ("", "."):
            continue
        place = os.path.dirname(current) if step == ".." else os.path.join(current, step)
        if step == ".." or not is_link(place):
            current = place
            continue
        folder, owner = os.stat(current), os.lstat(place).st_uid
        if folder.st_mode & _SHARED == _SHARED and owner not in (os.geteuid(), folder.st_uid):
            raise OutputError(
                f"{path} cannot be written: {place} is a link that another user has put there",
                "write into a folder of your own",
            )
        leads_to = os.readlink(place)
        current = "/" if leads_to.startswith("/") else current
        rest += leads_to.split("/")[::-1]
        hops += 1


def _is_stream(path: str) -> bool:
    """Whether it is by its name what a process has open, or a device: a link there is the system's.

    Memory that is shared is a folder as others are.
    """
    named = path.startswith(("/dev/", "/proc/")) and not path.startswith("/dev/shm/")  # noqa: S108
    return named and os.path.exists(path) and not os.path.isdir(path)


def _is_special(path: str, target: str) -> bool:
    """Whether it is a pipe or a device, which is written into and never replaced.

    Raises:
        OutputError: it is a device where none is made, but by who unpacks an archive as root.
    """
    if not os.path.exists(target) or os.path.isfile(target):
        return False
    mode = os.stat(target).st_mode
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not is_below(target, "/dev"):
        raise OutputError(
            f"{path} cannot be written: it is a device, and does not lie in /dev",
            "name another file, or remove it: who made the folder has put it there",
        )
    return True


def _mode(name: str, folder: int) -> int:
    with contextlib.suppress(FileNotFoundError):
        mode = os.lstat(name, dir_fd=folder).st_mode
        if stat.S_ISREG(mode):
            # No program is made of what lay there.
            return mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def reason(error: OSError) -> str:
    """What the system says of an error, without the number and the path."""
    return error.strerror or str(error)
