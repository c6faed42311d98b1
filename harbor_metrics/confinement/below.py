"""What lies below folders that somebody else fills meanwhile. Imports as little as the supervisor.

Folders are opened one from the other: a path can be too long, and lead elsewhere by now.
"""

from __future__ import annotations

import os

from .kernel import O_PATH
from .look import TooLong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .look import Look

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Of folders one in the other so many are kept open, half of them outermost and half innermost.
_OPEN = 64
_OWNERS = 0o700


class Below:
    """Bytes on the disk and files below the folders; no further than to one file too many.

    A folder that its owner locked is opened to him again, by which it is counted at once and not
    when it is removed. Root counts in it as it is.

    Raises:
        TooLong: folders get other names faster than they can be opened.
    """

    def __init__(self, folders: Iterable[str], most_files: int, look: Look) -> None:
        self.n_bytes = self.n_files = 0
        self._most = most_files
        self._look = look
        for folder in folders:
            try:
                self._walk(_opened(folder))
            except OSError:
                continue

    def _walk(self, top: int) -> None:
        levels = [_Level(top, self._count(top))]
        try:
            while levels and self.n_files <= self._most:
                self._look.go_on()
                level = levels[-1]
                if not level.folders:
                    levels.pop()
                    if levels:
                        levels[-1].open_again(level.descriptor)
                    level.close()
                    continue
                inner = level.open_one()
                if inner is None:
                    continue
                levels.append(_Level(inner, self._count(inner)))
                if len(levels) > _OPEN:
                    levels[-1 - _OPEN // 2].close()
        finally:
            for level in levels:
                level.close()

    def _count(self, folder: int) -> dict[int, str]:
        """Count what lies in a folder; the folders among it, by their inodes."""
        folders = {}
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.n_files += 1
                    if self.n_files > self._most:
                        break
                    try:
                        self.n_bytes += _stat(entry, folder).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            folders[entry.inode()] = entry.name
                    except OSError:
                        continue  # it is gone again
        except OSError:
            pass
        return folders


class _Level:
    """A folder on the way down, and those in it that are still to be visited."""

    def __init__(self, descriptor: int, folders: dict[int, str]) -> None:
        self.descriptor = descriptor
        self.folders = folders
        self._which = _which(descriptor)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def open_one(self) -> int | None:
        """Open the next folder; None where it is gone, or was not at once found again."""
        inode, name = self.folders.popitem()
        try:
            return _opened(name, self.descriptor)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            return None  # nobody can look into it
        # One that has another name by now is looked for until it is opened.
        self.folders[inode] = name
        names: dict[int, str] = {}
        try:
            with os.scandir(self.descriptor) as entries:
                names = {e.inode(): e.name for e in entries if e.is_dir(follow_symlinks=False)}
        except OSError:
            pass  # this folder is gone itself, and so is all in it
        self.folders = {inode: names[inode] for inode in self.folders if inode in names}
        return None

    def open_again(self, inner: int) -> None:
        """From one that lay in it.

        Raises:
            TooLong: that was moved elsewhere, and what is left here cannot be found.
        """
        if self.descriptor >= 0:
            return
        try:
            self.descriptor = _opened("..", inner)
        except OSError:
            raise TooLong from None
        if _which(self.descriptor) != self._which:
            raise TooLong


def _which(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _stat(entry: os.DirEntry[str], folder: int) -> os.stat_result:
    try:
        return entry.stat(follow_symlinks=False)
    except PermissionError:
        os.chmod(folder, _OWNERS)
        return entry.stat(follow_symlinks=False)


def _opened(name: str, folder: int | None = None) -> int:
    """Open a folder to read it, one in another or by a path.

    Raises:
        OSError: it is gone, or is none.
    """
    flags = _FOLDER if folder is None else _FOLDER | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        if name == ".." and folder is not None:
            os.chmod(folder, _OWNERS)
            return os.open(name, flags, dir_fd=folder)
        # Whatever has the name by then, only this very folder is changed.
        place = os.open(name, O_PATH | flags, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{place}", _OWNERS)
            return os.open(f"/proc/self/fd/{place}", _FOLDER)
        finally:
            os.close(place)
