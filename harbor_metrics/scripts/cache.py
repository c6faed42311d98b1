"""What scripts leave to be used again: environments and fetched repositories; old ones go."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..confinement.homes import our_cache
from ..confinement.removal import remove
from ..documents.files import write_atomically
from ..documents.folders import walk
from ..documents.paths import real_path
from ..documents.work import may_have_come
from .owners import is_own, make_own, stays_there, was_own

ENVIRONMENTS, REPOSITORIES, RECORDS = "environments", "git", "git-contents"
_NOWHERE = os.path.join(os.devnull, "cache")
DAYS = 30.0
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is kept: all paths of it, bytes on the disk, seconds since its last use."""

    kind: str
    name: str
    paths: list[str]
    size: int
    age: float


def cache_folder(name: str) -> str:
    """A folder of ours in the user's cache; it need not be there, nor be writable.

    Of what somebody else can write, or can have brought with what we work on, nothing is believed:
    then the path leads nowhere.
    """
    folder = os.path.join(real_path(our_cache()), name)
    return os.path.join(_NOWHERE, name) if why_unused() or not is_own(folder) else folder


def why_unused() -> str:
    """Why our cache is not used; empty where it is."""
    home = our_cache()
    if may_have_come(home):
        return "it may have come with the current folder or a checkout"
    # No link is followed again.
    if not stays_there(real_path(home)):
        return "another account, or a script, could put another folder in its place"
    return "" if is_own(home) else "it is a link, or another account's"


def write_record(record: str, data: bytes) -> None:
    """Write down what a record says, for nobody else whatever the umask.

    Raises:
        OutputError: it cannot be written.
    """
    write_atomically(record, data)
    is_own(record)


def entries(*, sizes: bool = True) -> list[Entry]:
    """All that is kept, the least lately used first."""
    found: dict[tuple[str, str], list[str]] = {}
    for folder in (ENVIRONMENTS, REPOSITORIES, RECORDS):
        kind = REPOSITORIES if folder == RECORDS else folder
        place = cache_folder(folder)
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                path = os.path.join(place, name)
                known = name.partition(".")[0]
                if kind == ENVIRONMENTS:
                    known = known.partition("-")[0]
                found.setdefault((kind, known), []).append(path)
    kept = [
        Entry(*key, paths, sum(map(_size, paths)) if sizes else 0, min(map(_age, paths)))
        for key, paths in found.items()
    ]
    return sorted(kept, key=lambda entry: -entry.age)


def prune(days: float) -> list[Entry]:
    """Remove, and give, what was not used for so many days and is not in use."""
    return [entry for entry in entries() if entry.age >= days * DAY and remove_unused(entry.paths)]


def use(path: str) -> None:
    """Note that what has this record is used now; once a day what is old goes."""
    with contextlib.suppress(OSError):
        os.utime(path)
    # Beside the folder of records, which is ours.
    mark = os.path.join(os.path.dirname(os.path.dirname(path)), "pruned")
    if _age(mark) < DAY:
        return
    with contextlib.suppress(OSError), open(mark, "wb", opener=_regular):
        for entry in entries(sizes=False):
            if entry.age >= DAYS * DAY:
                remove_unused(entry.paths)


def hold(folder: str, kept: dict[str, int]) -> bool:
    """Whether a folder of ours is there, and stays until the descriptor in `kept` is closed."""
    if folder in kept:
        return True
    if not was_own(folder):
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        # It is being removed.
        os.close(descriptor)
        return False
    except OSError:
        pass  # where nothing can be locked, nobody can wait for us either
    kept[folder] = descriptor
    return True


def release(folder: str, kept: dict[str, int]) -> None:
    """Let others remove a folder, if we hold it."""
    if (descriptor := kept.pop(folder, None)) is not None:
        os.close(descriptor)


def remove_unused(paths: Sequence[str]) -> bool:
    """Remove what is there of files and folders, all or nothing; not while anybody uses one."""
    with contextlib.ExitStack() as stack:
        for path in paths:
            try:
                descriptor = os.open(
                    path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                )
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError:
                continue
        _remove(paths)
    return True


@contextlib.contextmanager
def alone(record: str) -> Iterator[None]:
    """One run at a time makes what has this record, where that can be agreed upon."""
    try:
        make_own(os.path.dirname(record))
        file = open(f"{record}.lock", "wb", opener=_regular)  # noqa: SIM115
    except OSError:
        yield
        return
    with file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def at_work(folder: str) -> Iterator[None]:
    """Around the making of something in a folder, which is nobody's once we have been killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_unfinished(folder: str) -> None:
    """Remove what somebody was making in a folder, `.tmp` at its end, when he was killed."""
    for entry in list(os.scandir(folder)):
        if not entry.name.endswith(".tmp"):
            continue
        with contextlib.suppress(OSError):
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(entry.path)
            finally:
                os.close(descriptor)


def _remove(paths: Sequence[str]) -> None:
    # The record first: without it the rest is not taken for whole.
    for path in sorted(paths, key=os.path.isdir):
        if os.path.isdir(path) and not os.path.islink(path):
            remove(path)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _regular(path: str, flags: int) -> int:
    """Open a file, by no link; who reads a pipe would be waited for."""
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return descriptor


def _age(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return float("inf")


def _size(path: str) -> int:
    if not os.path.isdir(path) or os.path.islink(path):
        with contextlib.suppress(OSError):
            return os.lstat(path).st_blocks * 512
        return 0
    total = 0
    for folder, _, names in walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total
