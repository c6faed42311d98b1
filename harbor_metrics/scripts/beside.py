"""What of the folder that a script lies in is the script's to read."""

from __future__ import annotations

import os
from functools import cache

from ..confinement.sandbox import PRIVATE


def beside(path: str) -> tuple[list[str], tuple[str, ...]]:
    """Paths to read, and folders to list: its folder without what is hidden there.

    Beside a script at the top of a repository lie `.git`, where the password for it may be, and
    `.env`. Of a folder that holds everything a person has only the files are read. The path is
    real. What is given is opened wherever it leads: of links those that stay inside.
    """
    folder = os.path.dirname(path)
    everything = holds_everything(folder)
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    if not everything and not any(entry.name.startswith(".") for entry in entries):
        return [folder], ()
    shown = [e.path for e in entries if _is_shown(e, folder, files_alone=everything)]
    return [path, *shown], (folder,)


def holds_everything(folder: str) -> bool:
    """Whether a real path is above all that a person has, or all temporary files, or is theirs."""
    people = {os.path.expanduser("~"), os.environ.get("TMPDIR") or "/tmp"}  # noqa: S108
    own = [os.path.realpath(path) for path in people]
    return any(os.path.commonpath([folder, place]) == folder for place in (*own, *_private()))


def leads_inside(path: str, folder: str) -> bool:
    """Whether what a path leads to lies in a folder, whose path is real, and is not hidden there.

    The folder itself does not: through it all that is hidden is found.
    """
    above = f"{folder.rstrip('/')}/"
    real = os.path.realpath(path)
    return real.startswith(above) and "/." not in real[len(above) - 1 :]


def _is_shown(entry: os.DirEntry[str], folder: str, *, files_alone: bool) -> bool:
    if entry.name.startswith("."):
        return False
    if not entry.is_symlink():
        return not files_alone or entry.is_file()
    if not leads_inside(entry.path, folder):
        return False
    real = os.path.realpath(entry.path)
    return os.path.isfile(real) and os.path.dirname(real) == folder if files_alone else True


@cache
def _private() -> tuple[str, ...]:
    return tuple(map(os.path.realpath, PRIVATE))
