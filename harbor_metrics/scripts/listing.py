"""What lies in folders, as text that differs when a file or a link of them was changed."""

from __future__ import annotations

import os
from collections.abc import Iterable


def tree(root: str) -> dict[str, str]:
    """The listings of a folder, by "", and of all below it, by their paths with "/" at the end.

    Raises:
        OSError: one of them cannot be read.
    """
    found: dict[str, str] = {}
    pending = [""]
    while pending:
        folder = pending.pop()
        found[folder], inside = _list(root, folder)
        pending += inside
    return found


def listings(root: str, folders: Iterable[str]) -> list[str]:
    """The listing of each of these folders, as `tree` has it.

    Raises:
        OSError: one of them cannot be read.
    """
    return [_list(root, folder)[0] for folder in folders]


def _list(root: str, folder: str) -> tuple[str, list[str]]:
    """Its files and links with their status, its folders by name; and those folders' paths."""
    entries: list[str] = []
    inside: list[str] = []
    # By its number: the way to it is not looked up again for each file.
    descriptor = os.open(os.path.join(root, folder), os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(descriptor) as scanned:
            for entry in scanned:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    inside.append(f"{folder}{name}/")
                    entries.append(f"{name}//")
                else:
                    file = entry.stat(follow_symlinks=False)
                    times = f"{file.st_mtime_ns} {file.st_ctime_ns}"
                    entries.append(f"{name}/{file.st_size} {times} {file.st_ino}/")
    finally:
        os.close(descriptor)
    return "".join(sorted(entries)), inside
