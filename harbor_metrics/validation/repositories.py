"""Where the repositories of git are."""

from __future__ import annotations

import os

from ..documents.files import open_regular
from ..documents.paths import is_shut, real_path

_LEADS = b"gitdir: "
_LONGEST = 1 << 16


def repository(folder: str) -> tuple[str | None, list[str]]:
    """The top of the repository that a folder is in, and the folders from there down to it."""
    path = real_path(folder)
    above = [path]
    while not os.path.lexists(os.path.join(path, ".git")):
        if os.path.dirname(path) == path:
            return None, []
        path = os.path.dirname(path)
        above.insert(0, path)
    return path, above


def is_repository(folder: str) -> bool:
    """Whether git takes a folder for a repository of its own: what is called `.git` may be none."""
    try:
        return _holds_one(git_folder(folder))
    except OSError:
        return False


def git_folder(folder: str) -> str:
    """Where git keeps what it knows of a repository: in its `.git`, or where that leads.

    Raises:
        OSError: it is there, for all that is known, and cannot be read.
    """
    git = os.path.join(folder, ".git")
    led = _line(git, _LEADS)
    return os.path.join(folder, led) if led else git


def _holds_one(path: str) -> bool:
    # Of a further work tree, objects and branches lie where the first one has them.
    common = os.path.join(path, _line(os.path.join(path, "commondir")))
    return os.path.lexists(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs")
    )


def _line(path: str, begin: bytes = b"") -> str:
    """What stands in a file of one line behind its beginning; empty where there is no such."""
    try:
        with open_regular(path) as file:
            text = file.read(_LONGEST)
    except OSError as error:
        if is_shut(error):
            raise
        return ""
    line = text.removeprefix(begin) if text.startswith(begin) else b""
    return os.fsdecode(line.rstrip(b"\r\n").partition(b"\0")[0])
