"""Where what the user alone has lies, wherever this system has put it."""

from __future__ import annotations

import os
import pwd
from functools import cache

# What programs are read from, and what every system has: to have such a home is to have none.
_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "share", "games")
_NO_HOME = (
    *("/", "/usr", "/usr/local", "/etc", "/nix", "/nix/store", "/boot", "/var", "/opt"),
    *("/dev", "/proc", "/sys"),
    *(f"{above}/{part}" for above in ("", "/usr", "/usr/local") for part in _PARTS),
)
_OF_KERNEL = ("/dev/", "/proc/", "/sys/")


def homes() -> list[str]:
    """The real path of the home that the user says there is, and of that which the system says."""
    said = os.path.expanduser("~")
    found = {os.path.realpath(path) for path in (said, _of_system()) if os.path.isabs(path)}
    return [path for path in sorted(found) if not _is_of_system(path)]


@cache
def _of_system() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _is_of_system(path: str) -> bool:
    return path in _NO_HOME or path.startswith(_OF_KERNEL)
