"""What lies in a folder, file by file, and whether it is still that."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

import msgspec

from .sizes import check_written


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


def contents(folder: str) -> list[File]:
    """Every file and link below a folder.

    Raises:
        OSError: something in it cannot be read.
    """
    return [_file(folder, path, status) for path, status in walk(folder)]


def checked(folder: str, files: list[File]) -> list[File] | None:
    """The files as they are now, where they hold what they held; else None.

    Where the status of one differs, what it holds is hashed again.
    """
    known = {file.path: file for file in files}
    again: dict[str, File] = {}
    pending = [""]
    try:
        while pending:
            inside = pending.pop()
            # By its number: the way to it is not looked up again for each file.
            descriptor = os.open(os.path.join(folder, inside), os.O_RDONLY | os.O_DIRECTORY)
            try:
                with os.scandir(descriptor) as entries:
                    for entry in entries:
                        path = inside + entry.name
                        file = known.pop(path, None)
                        if file is None:
                            if not entry.is_dir(follow_symlinks=False):
                                return None
                            pending.append(f"{path}/")
                        elif not file.has(status := entry.stat(follow_symlinks=False)):
                            again[path] = _file(folder, path, status)
                            if again[path].sha256 != file.sha256:
                                return None
            finally:
                os.close(descriptor)
    except OSError:
        return None
    if known:
        return None
    return [again.get(file.path, file) for file in files] if again else files


def walk(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each file and link below a folder, by its path in it, with its status."""
    pending = [""]
    while pending:
        inside = pending.pop()
        with os.scandir(os.path.join(folder, inside)) as entries:
            for entry in entries:
                path = f"{inside}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{path}/")
                else:
                    yield path, entry.stat(follow_symlinks=False)


def _file(folder: str, path: str, status: os.stat_result) -> File:
    place = os.path.join(folder, path)
    if os.path.islink(place):
        digest = f"link {hashlib.sha256(os.fsencode(os.readlink(place))).hexdigest()}"
    else:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(place, flags), "rb") as file:
            check_written(file.fileno(), status.st_size)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return File(path, status.st_size, *times, status.st_ino, digest)
