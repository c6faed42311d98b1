"""What of the folder that a script lies in is the script's to read."""

from __future__ import annotations

import os


def beside(path: str) -> tuple[list[str], tuple[str, ...]]:
    """Paths to read, and folders to list: its folder without what is hidden there.

    Beside a script at the top of a repository lie `.git`, where the password for it may be, and
    `.env`. Of a folder that holds everything a person has only the files are read.
    """
    folder = os.path.dirname(path)
    everything = holds_everything(folder)
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    shown = [entry for entry in entries if not entry.name.startswith(".")]
    if not everything and len(shown) == len(entries):
        return [folder], ()
    return [path, *(e.path for e in shown if e.is_file() or not everything)], (folder,)


def holds_everything(folder: str) -> bool:
    """Whether a real path is above all that a person has, or all temporary files, or is theirs."""
    shared = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108
    people = {os.path.realpath(p) for p in (os.path.expanduser("~"), shared)}
    return any(os.path.commonpath([folder, home]) == folder for home in people)
