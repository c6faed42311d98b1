"""What may have come with what we work on, and is not the user's for that."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache

from ..confinement.homes import home_of_system, not_of_system, our_cache, own_home
from ..confinement.places import PRIVATE
from .paths import is_below, real_path

_OF_CHECKOUTS = (".git", ".hg", ".jj", ".sl", ".svn")
# More the system does not follow.
_MOST_LINKS = 40


def is_among_work(path: str) -> bool:
    """Whether what is believed may have come with what we work on, or is what we have fetched."""
    return bool(among_work([path]))


def among_work(paths: Iterable[str]) -> set[str]:
    """The same of many paths, of which those above all of them are asked once."""
    fetched, work = real_path(our_cache()), _work()
    return {
        path
        for path in paths
        if is_below(real_path(path), fetched) or work is None or work.may_hold(path)
    }


def may_have_come(path: str) -> bool:
    """Whether a path lies in the current folder or a checkout, and may have come with it.

    So may a link there, wherever it leads. Folders from the user's home upwards do not count, where
    it is the one that the system names, nor pyenv in a home, which is a checkout. But where the
    home is or lies in a checkout, or lies in the current folder, the checkout around the current
    folder counts alone, or that.
    """
    work = _work()
    return work is None or work.may_hold(path)


def links_of_work(path: str) -> bool:
    """Whether a link on the way to a path may have come with what we work on."""
    work = _work()
    try:
        return work is None or any(map(work.holds, [*work.on_the_way(path)][:-1]))
    except OSError:
        return True


class _Work:
    """What we work on, as it is while one question is answered."""

    def __init__(self) -> None:
        self.person, self.here = real_path(own_home()), os.getcwd()
        holds_home = is_below(self.person, self.here)
        of_system = home_of_system()
        is_known = bool(of_system) and self.person == real_path(of_system)
        # Nobody works in a folder that every system has, for homes to lie in; but a home that only
        # a variable names can have come with what was put there.
        of_all = not not_of_system([self.here]) or (
            self.here != self.person and self.here in PRIVATE
        )
        self.is_here = self.here != "/" and not (holds_home and of_all and is_known)
        self.is_checkout, self.is_link = cache(_is_checkout), cache(os.path.islink)
        self.above = "/"
        self.alone: str | None = None
        # HOME may name what a runner works on, the current folder itself perhaps.
        if is_known:
            self.above = self.person
            around_home = holds_home and self.is_here and self.here != self.person
            if around_home or self.checkout_of(self.person) is not None:
                self.alone = self.checkout_of(self.here) or self.here

    def may_hold(self, path: str) -> bool:
        try:
            return any(map(self.holds, self.on_the_way(path)))
        except OSError:
            return True

    def holds(self, place: str) -> bool:
        if self.alone is not None:
            return is_below(place, self.alone)
        while not is_below(self.above, place):
            if place == self.here and self.is_here:
                return True
            if self.is_checkout(place) and place != os.path.join(self.person, ".pyenv"):
                return True
            place = os.path.dirname(place)
        return False

    def checkout_of(self, folder: str) -> str | None:
        """The nearest checkout that a folder is or lies in."""
        while not self.is_checkout(folder):
            above = os.path.dirname(folder)
            if above == folder:
                return None
            folder = above
        return folder

    def on_the_way(self, path: str) -> Iterator[str]:
        """Each link that the system follows on the way to a path, and where it leads at last."""
        # As it is written: from a link `..` goes up to where that leads.
        at, parts, n = "/", os.path.join(self.here, path).split("/")[::-1], 0
        while parts and n <= _MOST_LINKS:
            place = os.path.normpath(os.path.join(at, parts.pop()))
            if not self.is_link(place):
                at = place
                continue
            yield place
            n += 1
            target = os.readlink(place)
            parts += target.split("/")[::-1]
            if target.startswith("/"):
                at = "/"
        yield at


def _is_checkout(folder: str) -> bool:
    return any(os.path.lexists(f"{folder}/{name}") for name in _OF_CHECKOUTS)


def _work() -> _Work | None:
    """None where it cannot be told: then anything may have come with it."""
    try:
        return _Work()
    except OSError:
        return None
