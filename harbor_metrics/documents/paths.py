"""Where paths lead: what others named may lead out of their folder, or to what is hidden there."""

from __future__ import annotations

import errno
import os
from functools import cache

from ..errors import InputError

_NOWHERE = os.path.join(os.devnull, "nowhere")
# Where the system goes no further either, whatever follows.
_AT_ITS_END = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


def real_path(path: str) -> str:
    """Where links lead; nowhere where the system may follow them further than we can.

    It follows a link by what is left of it, and so into folders that have no path short enough.
    """
    try:
        return os.path.realpath(path, strict=True)
    except OSError as error:
        return os.path.realpath(path) if error.errno in _AT_ITS_END else _NOWHERE
    except RecursionError:
        return _NOWHERE


def holds_everything(folder: str) -> bool:
    """Whether a real path is above all that a person has, or all temporary files, or is theirs."""
    people = {os.path.expanduser("~"), os.environ.get("TMPDIR") or "/tmp"}  # noqa: S108
    own = [real_path(path) for path in people]
    return any(is_below(place, folder) for place in (*own, *_private()))


def leads_inside(path: str, folder: str) -> bool:
    """Whether what a path leads to lies in a folder, whose path is real, and is not hidden there.

    The folder itself does not: through it all that is hidden is found.
    """
    above = f"{folder.rstrip('/')}/"
    real = real_path(path)
    return real.startswith(above) and "/." not in real[len(above) - 1 :]


def leads_out(path: str, folder: str) -> bool:
    """Whether links on the way to a path inside a folder lead out of the folder."""
    inside = real_path(folder).rstrip("/")
    return not real_path(path).startswith(f"{inside}/")


def ends_a_line(path: str) -> bool:
    """Whether a path holds what ends a line, where programs write paths into lines."""
    return any(c < " " or c in "\x7f\x85\u2028\u2029" for c in path)


def check_stays(path: str) -> None:
    """Refuse a link out of the current directory, or out of its own where the path is absolute.

    In what somebody else has made, such a link shows what only its reader may see, a password
    perhaps; and so does one to what is hidden there. In a directory that holds all that a person
    has, a link may not leave its own either.

    Raises:
        InputError: it is such a link.
    """
    if (where := strayed(path)) is not None:
        raise InputError(
            f"{path}: a link to {where}, of which something would be shown",
            "name the file itself, if it is yours",
        )


def strayed(path: str) -> str | None:
    """Where a link leads that `check_stays` refuses, in words; None of any other path."""
    try:
        absolute, folder = os.path.abspath(path), os.getcwd()
        if (
            os.path.isabs(path)
            or not is_below(absolute, folder)
            or (os.path.islink(path) and holds_everything(real_path(folder)))
        ):
            folder = os.path.dirname(absolute)
        # Of the path as it is written: `..` goes up from where a link leads.
        root, leads_to = real_path(folder), real_path(path)
    except (OSError, ValueError):
        return None  # who reads or writes it says so
    stays = leads_to == os.path.join(root, os.path.relpath(absolute, folder))
    if stays or leads_inside(path, root):
        return None
    return leads_to if leads_to != _NOWHERE else "where no path leads"


def is_below(path: str, folder: str) -> bool:
    """Whether a path is that of a folder, or of what lies in it."""
    return os.path.commonpath([path, folder]) == folder


@cache
def _private() -> tuple[str, ...]:
    # For weight: most commands look at no path of others.
    from ..confinement.sandbox import PRIVATE

    return tuple(map(real_path, PRIVATE))
