"""Folders by their real paths, opened as they were looked at: by no link that came since."""

from __future__ import annotations

import errno
import os
import sys

from .wording import printable

# What the system says of a link, or of a file, where only a folder is opened.
_NO_FOLDER = (errno.ELOOP, errno.ENOTDIR)


def open_real_folder(path: str) -> int:
    """A descriptor of the folder at a real path: no link that came on its way is followed.

    Raises:
        OSError: it cannot be opened, or is another one by now.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        if sys.platform == "darwin":
            return os.open(path, flags | os.O_NOFOLLOW_ANY)
        *above, last = path.strip("/").split("/")
        here = os.open("/", flags | os.O_PATH)
        for name, more in [*((name, os.O_PATH) for name in above), (last or ".", 0)]:
            try:
                below = os.open(name, flags | more | os.O_NOFOLLOW, dir_fd=here)
            finally:
                os.close(here)
            here = below
    except OSError as error:
        raise exchanged(path) if error.errno in _NO_FOLDER else error from None
    return here


def exchanged(path: str) -> OSError:
    """That something else lies at a path than before."""
    return OSError(errno.ESTALE, f"{printable(path)} was exchanged meanwhile", path)
