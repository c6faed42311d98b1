"""Where what is the user's own lies, wherever this system has put it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from functools import cache

from .places import OF_PROGRAMS, SHARED_MEMORY

# What programs are read from, and what every system has: to have such a home is to have none.
_NO_HOME = (
    *("/", "/usr", "/usr/local", "/etc", "/nix", "/nix/store", "/boot", "/var", "/opt"),
    *("/dev", "/proc", "/sys"),
    *(f"{above}/{part}" for above in ("", "/usr", "/usr/local") for part in OF_PROGRAMS),
)
_OF_KERNEL = ("/dev/", "/proc/", "/sys/")


def homes(*others: int) -> list[str]:
    """The real path of the home that the user says there is, and of that which the system says.

    And of those which it says other users have.
    """
    return not_of_system([own_home(), home_of_system(), *map(home_of, others)])


def own_home() -> str:
    """The home that the user says there is, else that which the system says.

    Without either a place where nothing is or can be: Python would call a folder `~` the home that
    anybody can have put into the current one.
    """
    return next(filter(os.path.isabs, (os.path.expanduser("~"), home_of_system())), os.devnull)


def not_of_system(folders: Iterable[str]) -> list[str]:
    """The real paths of folders, but of those that every system has, the outer first."""
    found = {os.path.realpath(path) for path in folders if os.path.isabs(path)}
    return [path for path in sorted(found) if not is_of_system(path)]


def home_of_system() -> str:
    """The home that the system says the user has; empty where it knows of none."""
    return home_of(os.getuid())


@cache
def home_of(user: int) -> str:
    """The home of a user by its number; empty where the system knows of none."""
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return ""


def cache_home() -> str:
    """The folder for what programs of the user keep and can make again."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return home if os.path.isabs(home) else os.path.join(own_home(), ".cache")


def our_cache() -> str:
    """Our folder there; it need not be there, nor be believed."""
    return os.path.join(cache_home(), "harbor-metrics")


def is_of_system(path: str) -> bool:
    """Whether every system has a folder of this real path."""
    # Some keep all that they work with in memory.
    in_memory = path.startswith(f"{SHARED_MEMORY}/")
    return path in _NO_HOME or (path.startswith(_OF_KERNEL) and not in_memory)
