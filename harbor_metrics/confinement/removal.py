"""Folders that somebody else filled are removed. Imports as little as the supervisor.

Who filled one may still be at work, and put a link where a folder was. So nothing is reached by a
path but the folder around: each folder is opened in the one that it lies in, if it is a folder.
"""

from __future__ import annotations

import os

from .kernel import O_PATH

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALL_RIGHTS = 0o700


def remove(folder: str) -> None:
    """Delete a folder whatever was made of it: unreadable or endlessly nested directories, too.

    A link or a file in its place goes, and nothing that the link leads to.
    """
    around, name = os.path.split(folder.rstrip("/"))
    try:
        above = os.open(around or ".", O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        top = _opened(name, above)
        if top >= 0:
            try:
                _remove_all(top)
            finally:
                os.close(top)
        _is_removed(name, above)
    finally:
        os.close(above)


def _remove_all(top: int) -> None:
    pending = _emptied(top, top)
    while pending:
        name = pending.pop()
        folder = _opened(name, top)
        if folder >= 0:
            try:
                pending += _emptied(folder, top)
            finally:
                os.close(folder)
        _is_removed(name, top)


def _emptied(folder: int, top: int) -> list[str]:
    """Take everything out of a folder; the names, at the top, of folders that hold something."""
    try:
        with os.scandir(folder) as scanned:
            entries = list(scanned)
    except OSError:
        return []
    full = []
    for entry in entries:
        if not _is_removed(entry.name, folder):
            # Up to the top: no path grows long, and what it lay in is empty.
            name = entry.name if folder == top else f"removed-{os.urandom(8).hex()}"
            if folder == top or _is_moved(entry.name, folder, name, top):
                full.append(name)
    return full


def _is_moved(name: str, folder: int, to: str, top: int) -> bool:
    for _ in range(2):
        try:
            os.rename(name, to, src_dir_fd=folder, dst_dir_fd=top)
        except PermissionError:
            # Who moves a folder changes what it says of where it lies.
            permit(name, folder)
        except OSError:
            return False
        else:
            return True
    return False


def _is_removed(name: str, folder: int) -> bool:
    """Whether an entry of a folder, which is none or an empty one, is gone."""
    try:
        os.rmdir(name, dir_fd=folder)
    except NotADirectoryError:
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            return False
    except OSError:
        return False
    return True


def _opened(name: str, folder: int) -> int:
    """The descriptor of a folder that can be read and changed; -1 where it is none, or not ours."""
    for _ in range(2):
        try:
            descriptor = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=folder)
        except PermissionError:
            permit(name, folder)
        except OSError:
            return -1
        else:
            try:
                if os.fstat(descriptor).st_mode & _ALL_RIGHTS != _ALL_RIGHTS:
                    os.fchmod(descriptor, _ALL_RIGHTS)
            except OSError:
                pass
            return descriptor
    return -1


def permit(name: str, folder: int | None = None) -> None:
    """Let us read and change a folder that cannot be opened; never what a link leads to."""
    try:
        if not O_PATH:
            os.chmod(name, _ALL_RIGHTS, dir_fd=folder, follow_symlinks=False)
            return
        descriptor = os.open(name, O_PATH | _FOLDER, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", _ALL_RIGHTS)
        finally:
            os.close(descriptor)
    except OSError:
        pass
