"""What beside a script is none of its own, so that neither its modules nor its digest are of it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..confinement.homes import homes, not_of_system
from ..documents.passwords import places_of_passwords
from ..documents.paths import is_below, real_path
from ..documents.wording import printable
from ..errors import MetricFailure


class Private:
    """The places below a script's folder that are a person's, by its real path.

    Modules in a folder of settings are the script's, but nothing else there; in a folder that is
    itself a place of passwords those right in it are.
    """

    def __init__(self, folder: str) -> None:
        places = places_of_passwords(settings=False)
        self._folder = folder
        self._is_one = folder in places
        self._places = [e for e in {*places, *homes()} if e.startswith(f"{folder}/")]
        self._entries = entries_around(self._places, folder)

    def holds(self, path: str) -> bool:
        """Whether what lies at a real path is such, has such in it, or lies in such."""
        if self._is_one:
            return True
        return any(is_below(path, place) or is_below(place, path) for place in self._places)

    def hides_module(self, path: str, real: str, *, is_code: bool) -> bool:
        """Whether a module is none, by its path and by where that leads, perhaps to no code.

        Raises:
            MetricFailure: it is a link to what may be a password.
        """
        around = entry_of(real, self._folder)
        if (around in self._entries and around != entry_of(path, self._folder)) or (
            not is_code and self._is_data(real)
        ):
            raise MetricFailure(
                "script-outside",
                f"{printable(os.path.relpath(path, self._folder))} beside the script is a link to "
                "where passwords, a home or the current folder lie, and no module of it: put the "
                "file itself there",
            )
        if self._is_one:
            return os.path.dirname(real) != self._folder
        return any(is_below(each, place) for place in self._places for each in (path, real))

    def _is_data(self, real: str) -> bool:
        places = (*places_of_passwords(), *deep_in(self._folder, here()))
        return any(is_below(place, self._folder) and is_below(real, place) for place in places)


def check_holds_no_passwords(path: str) -> None:
    """Refuse a script, or the lock beside it, that lies where a variable says that passwords are.

    What is wrong in it would be quoted. Where a script's folder is such a place or lies in one it
    is one by its name alone. The path is real.

    Raises:
        MetricFailure: one is refused.
    """
    folder, lock = os.path.dirname(path), f"{path}.lock"
    own = {lock, *([path] if path.endswith(".py") else [])}
    places = places_of_passwords(settings=False)
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
    return [entry_of(place, folder) for place in places if place.startswith(f"{folder}/")]


def entry_of(path: str, folder: str) -> str:
    """The entry of a folder in which a path below it lies; another path as it is."""
    inside = path.removeprefix(f"{folder}/")
    return path if inside == path else os.path.join(folder, inside.partition("/")[0])


def here() -> list[str]:
    """Where the user stands; nowhere where every system has the folder, or it is gone."""
    try:
        return not_of_system([os.getcwd()])
    except FileNotFoundError:
        return []


def deep_in(folder: str, places: Iterable[str]) -> list[str]:
    """Those that lie below an entry of a folder, which by itself is the script's."""
    return [e for e in places if e.startswith(f"{folder}/") and os.path.dirname(e) != folder]
