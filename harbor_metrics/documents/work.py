"""What may have come with what we work on, and is not the user's for that."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..confinement.homes import home_of_system, not_of_system, our_cache
from ..confinement.places import PRIVATE
from .paths import is_below, real_path

_OF_CHECKOUTS = (".git", ".hg", ".jj", ".sl", ".svn")
# More the system does not follow.
_MOST_LINKS = 40


def is_among_work(path: str) -> bool:
    """Whether what is believed may have come with what we work on, or is what we have fetched."""
    return is_below(real_path(path), real_path(our_cache())) or may_have_come(path)


def may_have_come(path: str) -> bool:
    """Whether a path lies in the current folder or a checkout, and may have come with it.

    So may a link there, wherever it leads. Folders from the user's home upwards do not count, where
    it is the one that the system names, nor pyenv in a home, which is a checkout. But where the
    home is or lies in a checkout, or lies in the current folder, the checkout around the current
    folder counts alone, or that.
    """
    try:
        person, here = real_path(os.path.expanduser("~")), os.getcwd()
        return any(_may_have_come(place, person, here) for place in _on_the_way(path))
    except OSError:
        return True


def _may_have_come(place: str, person: str, here: str) -> bool:
    holds_home = is_below(person, here)
    # Nobody works in a folder that every system has.
    is_work = not holds_home or (
        bool(not_of_system([here])) and (here == person or here not in PRIVATE)
    )
    above = "/"
    # HOME may name what a runner works on, the current folder itself perhaps.
    of_system = home_of_system()
    if of_system and person == real_path(of_system):
        above = person
        if (holds_home and is_work and here != person) or _checkout_of(person) is not None:
            return is_below(place, _checkout_of(here) or here)
    while not is_below(above, place):
        if place == here and is_work:
            return True
        if _is_checkout(place) and place != os.path.join(person, ".pyenv"):
            return True
        place = os.path.dirname(place)
    return False


def _on_the_way(path: str) -> Iterator[str]:
    """Each link that the system follows on the way to a path, and where they lead in the end."""
    # As it is written: from a link `..` goes up to where that leads.
    here, parts, n = "/", os.path.join(os.getcwd(), path).split("/")[::-1], 0
    while parts and n <= _MOST_LINKS:
        place = os.path.normpath(os.path.join(here, parts.pop()))
        if not os.path.islink(place):
            here = place
            continue
        yield place
        n += 1
        target = os.readlink(place)
        parts += target.split("/")[::-1]
        if target.startswith("/"):
            here = "/"
    yield here


def _is_checkout(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in _OF_CHECKOUTS)


def _checkout_of(folder: str) -> str | None:
    """The nearest checkout that a folder is or lies in."""
    while not _is_checkout(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder
