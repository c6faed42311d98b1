"""Which files near a script are its own: those that lie in its folder, and are not hidden there."""

from __future__ import annotations

import os
from functools import cache

from ..confinement.sandbox import PRIVATE
from ..documents.files import real_path


def holds_everything(folder: str) -> bool:
    """Whether a real path is above all that a person has, or all temporary files, or is theirs."""
    people = {os.path.expanduser("~"), os.environ.get("TMPDIR") or "/tmp"}  # noqa: S108
    own = [real_path(path) for path in people]
    return any(os.path.commonpath([folder, place]) == folder for place in (*own, *_private()))


def leads_inside(path: str, folder: str) -> bool:
    """Whether what a path leads to lies in a folder, whose path is real, and is not hidden there.

    The folder itself does not: through it all that is hidden is found.
    """
    above = f"{folder.rstrip('/')}/"
    real = real_path(path)
    return real.startswith(above) and "/." not in real[len(above) - 1 :]


def ends_a_line(path: str) -> bool:
    """Whether a path holds what ends a line, where programs write paths into lines."""
    return any(c < " " or c in "\x7f\x85\u2028\u2029" for c in path)


@cache
def _private() -> tuple[str, ...]:
    return tuple(map(real_path, PRIVATE))
