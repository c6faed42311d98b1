"""What beside a script is none of its own, so that neither its modules nor its digest are of it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..confinement.homes import homes
from ..documents.passwords import places_of_passwords
from ..documents.paths import is_below, is_code, is_inside, real_path
from ..documents.wording import printable
from ..errors import MetricFailure


class Private:
    """The places below a script's folder that are a person's, by its real path.

    In a folder that is itself a place of passwords the modules right in it are the script's.
    """

    def __init__(self, folder: str) -> None:
        places = places_of_passwords()
        self._folder = folder
        self._is_one = folder in places
        self._places = [e for e in {*places, *homes()} if is_inside(e, folder)]
        self._entries = entries_around(self._places, folder)

    def holds(self, path: str) -> bool:
        """Whether what lies at a real path is such, has such in it, or lies in such."""
        if self._is_one:
            return True
        return any(is_below(path, place) or is_below(place, path) for place in self._places)

    def hides_module(self, path: str, real: str) -> bool:
        """Whether a module is none, by its path and by where that leads.

        Raises:
            MetricFailure: it is a link to what may be a password.
        """
        around = entry_of(real, self._folder)
        leads_away = around != entry_of(path, self._folder) or not is_code(real)
        if (around in self._entries and leads_away) or (self._is_one and not is_code(real)):
            raise MetricFailure(
                "script-outside",
                f"{printable(os.path.relpath(path, self._folder))} beside the script is a link to "
                "where passwords or a home lie, and no module of it: put the file itself there",
            )
        if self._is_one:
            return os.path.dirname(real) != self._folder
        return any(is_below(each, place) for place in self._places for each in (path, real))


def check_holds_no_passwords(path: str) -> None:
    """Refuse a script, or the lock beside it, that lies where a variable says that passwords are.

    What is wrong in it would be quoted. Where a script's folder is such a place or lies in one it
    is one by its name alone. The path is real.

    Raises:
        MetricFailure: one is refused.
    """
    folder, lock = os.path.dirname(path), f"{path}.lock"
    own = {lock, *([path] if path.endswith(".py") else [])}
    places = places_of_passwords()
    places |= {*entries_around(places, folder)}
    for file in (path, real_path(lock)):
        around = [place for place in places if is_below(file, place)]
        if any(file not in own or not is_below(folder, place) for place in around):
            raise MetricFailure(
                "script-outside",
                f"{printable(os.path.basename(file))} lies where a variable says that passwords "
                "are, and is no script or lock: keep these apart",
            )


def entries_around(places: Iterable[str], folder: str) -> list[str]:
    """The entries of a folder in which those of the places lie that lie in it."""
    return [entry_of(place, folder) for place in places if is_inside(place, folder)]


def entry_of(path: str, folder: str) -> str:
    """The entry of a folder in which a path below it lies; another path as it is."""
    if not is_inside(path, folder):
        return path
    return os.path.join(folder, os.path.relpath(path, folder).partition("/")[0])
