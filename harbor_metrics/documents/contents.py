"""What lies in a folder, file by file, and whether it is still that."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from .real import exchanged, open_real_folder
from .sizes import check_written
from .wording import printable

# Each level keeps a descriptor open, of which a process has a few hundred.
_DEEPEST = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class File(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file or a link: its path in the folder, its status, and the SHA-256 of what it holds.

    Of a link that of where it leads, after `link `: no file has the same.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    sha256: str

    def has(self, status: os.stat_result) -> bool:
        """Whether a status is that of this file, as nobody but the kernel can make it be."""
        return (
            self.size == status.st_size
            and self.mtime_ns == status.st_mtime_ns
            and self.ctime_ns == status.st_ctime_ns
            and self.inode == status.st_ino
        )


class Place(NamedTuple):
    """What lies in a folder: its path there, with `/` at the end of a folder's, and its status.

    And its name in the folder around it, whose descriptor is open until the next one is asked for.
    """

    path: str
    status: os.stat_result
    name: str
    around: int

    def open(self) -> int:
        """A descriptor of the file.

        Raises:
            OSError: it cannot be opened, is no regular file, or is another one by now.
        """
        if not stat.S_ISREG(self.status.st_mode):
            raise OSError(
                errno.EINVAL,
                f"{printable(self.path)} is a pipe, a socket or a device, and not a regular file",
            )
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(self.name, flags, dir_fd=self.around)
        if not os.path.samestat(os.fstat(descriptor), self.status):
            os.close(descriptor)
            raise exchanged(self.path)
        return descriptor

    def leads_to(self) -> str | None:
        """Where a link leads, as it is written; None of all else."""
        is_link = stat.S_ISLNK(self.status.st_mode)
        return os.readlink(self.name, dir_fd=self.around) if is_link else None


def contents(folder: str) -> list[File]:
    """Every file and link below a folder, whose path is real.

    Raises:
        OSError: something in it cannot be read, is no file, or is exchanged meanwhile.
    """
    return [_file(place) for place in walk(folder) if not place.path.endswith("/")]


def checked(folder: str, files: list[File]) -> list[File] | None:
    """The files as they are now, where they hold what they held; else None.

    Where the status of one differs, what it holds is hashed again.
    """
    known = {file.path: file for file in files}
    again: dict[str, File] = {}
    try:
        for place in walk(folder):
            path = place.path
            file = known.pop(path, None)
            if file is None:
                if not path.endswith("/"):
                    return None
            elif not file.has(place.status):
                again[path] = _file(place)
                if again[path].sha256 != file.sha256:
                    return None
    except OSError:
        return None
    if known:
        return None
    return [again.get(file.path, file) for file in files] if again else files


def walk(folder: str) -> Iterator[Place]:
    """All that lies below a folder, whose path is real, each folder before what lies in it.

    By descriptors: nothing is followed that comes to the place of a folder meanwhile.

    Raises:
        OSError: a folder cannot be read, lies too deep or is exchanged.
    """
    descriptors = [open_real_folder(folder)]
    try:
        pending = [_entries("", descriptors[-1])]
        while pending:
            if not pending[-1]:
                pending.pop()
                os.close(descriptors.pop())
                continue
            place = pending[-1].pop()
            yield place
            if not place.path.endswith("/"):
                continue
            if len(pending) == _DEEPEST:
                raise OSError(errno.ELOOP, f"folders are nested deeper than {_DEEPEST} levels")
            descriptors.append(_folder(place))
            pending.append(_entries(place.path, descriptors[-1]))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _folder(place: Place) -> int:
    try:
        descriptor = os.open(place.name, _FOLDER, dir_fd=place.around)
    except NotADirectoryError:
        raise exchanged(place.path) from None
    if not os.path.samestat(os.fstat(descriptor), place.status):
        os.close(descriptor)
        raise exchanged(place.path)
    return descriptor


def _entries(inside: str, descriptor: int) -> list[Place]:
    """What lies right in a folder, the last by its name first."""
    with os.scandir(descriptor) as scanned:
        found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in scanned]
    return [
        Place(f"{inside}{name}{'/' * stat.S_ISDIR(status.st_mode)}", status, name, descriptor)
        for name, status in sorted(found, key=lambda entry: entry[0], reverse=True)
    ]


def digest_of(place: Place) -> str:
    """The SHA-256 of what a file holds; of a link that of where it leads, after `link `.

    Raises:
        OSError: it cannot be read, is no regular file, or is another one by now.
    """
    if (leads_to := place.leads_to()) is not None:
        return f"link {hashlib.sha256(os.fsencode(leads_to)).hexdigest()}"
    with os.fdopen(place.open(), "rb") as file:
        check_written(file.fileno(), place.status.st_size)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file(place: Place) -> File:
    status = place.status
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return File(place.path, status.st_size, *times, status.st_ino, digest_of(place))
