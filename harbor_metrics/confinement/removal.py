"""Folders that somebody else filled are removed. Imports as little as the supervisor."""

from __future__ import annotations

import os


def remove(folder: str) -> None:
    """Delete a folder whatever was made of it: unreadable or endlessly nested directories, too."""
    pending = [folder]
    while pending:
        path = pending.pop()
        try:
            os.chmod(path, 0o700)
            with os.scandir(path) as scanned:
                entries = list(scanned)
        except OSError:
            continue
        for entry in entries:
            try:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                elif _is_removed(entry.path):
                    continue
                elif path == folder:
                    pending.append(entry.path)
                else:
                    # Up to the top: no path grows long, and what it lay in is empty.
                    os.chmod(entry.path, 0o700)
                    higher = f"{folder}/removed-{os.urandom(8).hex()}"
                    os.rename(entry.path, higher)
                    pending.append(higher)
            except OSError:
                continue
        if path != folder:
            _is_removed(path)
    _is_removed(folder)


def _is_removed(folder: str) -> bool:
    """Whether a folder was empty, and is gone."""
    try:
        os.rmdir(folder)
    except OSError:
        return False
    return True
