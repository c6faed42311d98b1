"""What scripts leave to be used again: environments and fetched repositories; old ones go."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import grp
import os
import pwd
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..confinement.homes import home_of_system, not_of_system
from ..confinement.removal import remove
from ..confinement.sandbox import PRIVATE
from ..documents.files import write_atomically
from ..documents.folders import walk
from ..documents.paths import is_below, real_path

ENVIRONMENTS, REPOSITORIES, RECORDS = "environments", "git", "git-contents"
# What others may: who can reach a folder changes what programs leave in it by a group's umask. And
# that we can read a folder and reach what is in it.
_OTHERS, _OPEN, _WRITABLE = 0o077, 0o500, 0o022
_NOWHERE = os.path.join(os.devnull, "cache")
_OF_CHECKOUTS = (".git", ".hg", ".jj", ".sl", ".svn")
# More the system does not follow.
_MOST_LINKS = 40
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


def cache_home() -> str:
    """The folder for what programs of the user keep and can make again."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return home if os.path.isabs(home) else os.path.join(os.path.expanduser("~"), ".cache")


def cache_folder(name: str) -> str:
    """A folder of ours in the user's cache; it need not be there, nor be writable.

    Of what somebody else can write, or can have brought with what we work on, nothing is believed:
    then the path leads nowhere.
    """
    home = _ours()
    # No link is followed again.
    real = real_path(home)
    folder = os.path.join(real, name)
    if may_have_come(home) or not (stays_there(real) and is_own(home) and is_own(folder)):
        return os.path.join(_NOWHERE, name)
    return folder


def _ours() -> str:
    return os.path.join(cache_home(), "harbor-metrics")


def is_among_work(path: str) -> bool:
    """Whether what is believed may have come with what we work on, or is what we have fetched."""
    return is_below(real_path(path), real_path(_ours())) or may_have_come(path)


def may_have_come(path: str) -> bool:
    """Whether a path lies in the current folder or a checkout, and may have come with it.

    So may a link there, wherever it leads. Folders from the user's home upwards do not count, where
    it is the one that the system names, nor pyenv in a home, which is a checkout. But where the
    home is or lies in a checkout, or lies in the current folder, the checkout around the current
    folder counts alone, or that.
    """
    try:
        person, here = real_path(os.path.expanduser("~")), os.getcwd()
        return any(_may_have_come(place, person, here) for place in _on_the_way(path))
    except OSError:
        return True


def _may_have_come(place: str, person: str, here: str) -> bool:
    holds_home = is_below(person, here)
    # Nobody works in a folder that every system has.
    is_work = not holds_home or (
        bool(not_of_system([here])) and (here == person or here not in PRIVATE)
    )
    above = "/"
    # HOME may name what a runner works on, the current folder itself perhaps.
    of_system = home_of_system()
    if of_system and person == real_path(of_system):
        above = person
        if (holds_home and is_work and here != person) or _checkout_of(person) is not None:
            return is_below(place, _checkout_of(here) or here)
    while not is_below(above, place):
        if place == here and is_work:
            return True
        if _is_checkout(place) and place != os.path.join(person, ".pyenv"):
            return True
        place = os.path.dirname(place)
    return False


def _on_the_way(path: str) -> Iterator[str]:
    """Each link that the system follows on the way to a path, and where they lead in the end."""
    # As it is written: from a link `..` goes up to where that leads.
    here, parts, n = "/", os.path.join(os.getcwd(), path).split("/")[::-1], 0
    while parts and n <= _MOST_LINKS:
        place = os.path.normpath(os.path.join(here, parts.pop()))
        if not os.path.islink(place):
            here = place
            continue
        yield place
        n += 1
        target = os.readlink(place)
        parts += target.split("/")[::-1]
        if target.startswith("/"):
            here = "/"
    yield here


def _is_checkout(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in _OF_CHECKOUTS)


def _checkout_of(folder: str) -> str | None:
    """The nearest checkout that a folder is or lies in."""
    while not _is_checkout(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def identity(folder: str) -> tuple[int, int]:
    """What nobody can know of a folder who brings it from elsewhere, nor give to one.

    Raises:
        OSError: it is not there.
    """
    status = os.stat(folder, follow_symlinks=False)
    return status.st_ino, status.st_ctime_ns


def is_own(path: str) -> bool:
    """Whether what is there, if anything is, is ours, and from now on ours alone to reach.

    A folder of ours is ours to read again, where a script took that away: Landlock keeps no modes.
    """
    try:
        status, ours = os.stat(path), os.geteuid()
        link = os.lstat(path)
        if link.st_uid != ours or status.st_uid != ours or stat.S_ISLNK(link.st_mode):
            return False
        mode = stat.S_IMODE(status.st_mode)
        wanted = mode & ~_OTHERS
        if stat.S_ISDIR(status.st_mode) and mode & _OPEN != _OPEN:
            wanted |= stat.S_IRWXU
        if wanted != mode:
            os.chmod(path, wanted)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def is_ours_alone(path: str) -> bool:
    """Whether what is there, if anything is, is ours and nobody else's to write, as it is.

    What people share they have made so, and it stays as it is. Where they reach what lies in it,
    that is asked, too: programs make it by the umask.
    """
    try:
        status = os.stat(path)
        if status.st_uid != os.geteuid():
            return False
        reached = [status]
        if status.st_mode & _OTHERS:
            # Its lock is everybody's, and holds nothing.
            reached += [entry.stat() for entry in os.scandir(path) if entry.is_dir()]
        return not any(map(_is_shared, reached))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_shared(status: os.stat_result) -> bool:
    shared = status.st_mode & _WRITABLE
    return bool(shared) and not (shared == stat.S_IWGRP and _is_of_one(status.st_gid))


def was_own(path: str) -> bool:
    """Whether what is there, if anything is, was ours alone to write until now, and is from now on.

    What others could write is made anew. A record goes; a folder is another one by its `identity`
    from the time at which its mode is changed.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = 0
    own, could_write = is_own(path), mode & _WRITABLE
    if own and could_write and stat.S_ISREG(mode):
        with contextlib.suppress(OSError):
            os.unlink(path)
    return own and not could_write


def write_record(record: str, data: bytes) -> None:
    """Write down what a record says, for nobody else whatever the umask.

    Raises:
        OutputError: it cannot be written.
    """
    write_atomically(record, data)
    is_own(record)


def stays_there(path: str) -> bool:
    """Whether nobody else can put something in the place of a real path.

    From the user's home on, as for keys of ssh, or from the root for what lies elsewhere.
    """
    person, folder = real_path(os.path.expanduser("~")), path
    try:
        while folder not in (person, "/"):
            folder = os.path.dirname(folder)
            with contextlib.suppress(FileNotFoundError):
                if not _is_kept_from_others(folder, os.path.join(person, ".cache")):
                    return False
    except OSError:
        return False
    return True


def _is_kept_from_others(folder: str, of_caches: str) -> bool:
    """Whether nobody else changes names in a folder, in the one of all caches from now on."""
    status, ours = os.stat(folder), os.geteuid()
    if status.st_uid not in (0, ours):
        return False
    shared = status.st_mode & _WRITABLE
    # Everybody owns what he has put into such a folder.
    if not shared or status.st_mode & stat.S_ISVTX:
        return True
    if folder == of_caches and status.st_uid == ours:
        os.chmod(folder, stat.S_IMODE(status.st_mode) & ~_WRITABLE)
        return True
    return not _is_shared(status)


@functools.cache
def _is_of_one(group: int) -> bool:
    """Whether a group is that which a system makes for each user, and nobody else's."""
    try:
        user, named = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    # Containers put users into root's that are not root.
    return (
        group != 0
        and named.gr_gid == user.pw_gid
        and named.gr_name == user.pw_name
        and set(named.gr_mem) <= {user.pw_name}
    )


def make_own(folder: str) -> None:
    """Make a folder that nobody else reaches, whatever the umask, where there is none.

    Raises:
        OSError: it cannot be made.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)


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
    mark = cache_folder("pruned")
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
