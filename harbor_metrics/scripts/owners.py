"""Whose a place is, and who else can write there."""

from __future__ import annotations

import contextlib
import errno
import functools
import grp
import os
import pwd
import stat
import sys
from itertools import starmap

from ..confinement.homes import own_home
from ..confinement.places import SHARED_MEMORY
from ..documents.paths import is_below, real_path

# What others may: who can reach a folder changes what programs leave in it by a group's umask. And
# that we can read a folder and reach what is in it.
_OTHERS, _OPEN, _WRITABLE = 0o077, 0o500, 0o022


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
        reached = {path: status}
        if status.st_mode & _OTHERS:
            # Its lock is everybody's, and holds nothing.
            reached |= {e.path: e.stat() for e in os.scandir(path) if e.is_dir()}
        return not any(starmap(_is_shared, reached.items()))
    except FileNotFoundError:
        return True
    except OSError:
        return False


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


def stays_there(path: str) -> bool:
    """Whether nobody else can put something in the place of a real path.

    From the user's home on, as for keys of ssh, or from the root for what lies elsewhere. In shared
    memory scripts can.
    """
    if is_below(path, real_path(SHARED_MEMORY)):
        return False
    person, folder = real_path(own_home()), path
    try:
        while folder not in (person, "/"):
            folder = os.path.dirname(folder)
            with contextlib.suppress(FileNotFoundError):
                if not _is_kept_from_others(folder, os.path.join(person, ".cache")):
                    return False
    except OSError:
        return False
    return True


def make_own(folder: str) -> None:
    """Make a folder that nobody else reaches, whatever the umask, where there is none.

    Raises:
        OSError: it cannot be made.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)


def _is_shared(path: str, status: os.stat_result) -> bool:
    """Whether others can write there: all, another group, or whom an access list names."""
    shared = status.st_mode & _WRITABLE
    if shared != stat.S_IWGRP:
        return bool(shared)
    # The mode says of the group what the list permits at most.
    return not _is_of_one(status.st_gid) or _has_access_list(path)


def _has_access_list(path: str) -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.getxattr(path, "system.posix_acl_access")
    except OSError as error:
        return error.errno not in (errno.ENODATA, errno.ENOTSUP)
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
    return not _is_shared(folder, status)


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
