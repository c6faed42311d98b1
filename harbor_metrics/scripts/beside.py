"""What of the folder that a script lies in is the script's to read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from ..confinement.homes import homes, not_of_system
from ..documents.paths import followed, holds_everything, is_below, lies_inside, real_path
from ..documents.wording import printable
from ..errors import MetricFailure
from .variables import places_of_passwords


def beside(path: str) -> tuple[list[str], tuple[str, ...]]:
    """Paths to read, and folders to list: its folder without what is hidden there.

    Beside a script at the top of a repository lie `.git`, where the password for it may be, and
    `.env`. Where a variable says that passwords lie there, all of an entry is hidden in which they
    do. Of a folder that holds everything a person has only the files are read, and of one that is
    such a place itself those that are modules by their names. The path is real.
    What is given is opened wherever it leads: of links those that stay inside.
    """
    folder = os.path.dirname(path)
    places = places_of_passwords()
    everything = holds_everything(folder) or folder in places
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    private = {place for place in places if place.startswith(f"{folder}/")}
    if not everything and not private and not any(e.name.startswith(".") for e in entries):
        return [folder], ()
    known: dict[str, str] = {}
    hidden = _entries_around(private, folder)

    def is_kept(entry: os.DirEntry[str]) -> bool:
        leads_to = followed(entry.path, known)
        return any(is_below(place, leads_to) for place in private) or any(
            is_below(leads_to, place) for place in hidden
        )

    shown = [
        entry.path
        for entry in entries
        if _is_shown(entry, folder, known, files_alone=everything)
        and (folder not in places or entry.name.endswith(".py"))
        and not is_kept(entry)
    ]
    # To list a folder is to list all below, of `/` of the whole machine.
    return [path, *shown], tuple(not_of_system([folder]))


def beside_of_builds(path: str) -> tuple[list[str], tuple[str, ...]]:
    """The same for code that builds packages: of the folder the script and its lock alone.

    A pin is of these. What lies beside them could become part of a package without a word.
    """
    wanted = {path, real_path(f"{path}.lock")}
    named = {*wanted, *(e for e in _entries(os.path.dirname(path)) if real_path(e) in wanted)}
    own = sorted(p for p in named if os.path.exists(p) and not not_own(path, [p]))
    return own, tuple(not_of_system([os.path.dirname(path)]))


def not_own(path: str, places: Iterable[str]) -> list[str]:
    """Those of some real paths that are not the script's to read when it runs.

    Its whole folder is not, of which it is given what is not hidden; what is not there in it is.
    """
    folder = os.path.dirname(path)
    shown = set(beside(path)[0])
    return [place for place in places if not _is_own(place, folder, shown)]


def _is_own(place: str, folder: str, shown: Collection[str]) -> bool:
    if place == folder or not is_below(place, folder):
        return False
    top = os.path.relpath(place, folder).split(os.sep)[0]
    if folder in shown or os.path.join(folder, top) in shown:
        return True
    return not top.startswith(".") and not os.path.lexists(place)


def _entries(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.path for entry in entries]


def private_around(path: str) -> list[str]:
    """The script's folder and the current one: what of them a script may read it is given.

    And places of passwords, which can be where every program may read, as in /usr/local/share.
    """
    return not_of_system([os.path.dirname(path), *_here(), *places_of_passwords()])


def private_in(folder: str) -> list[str]:
    """The real paths of what lies below a script's folder and is not its own to read."""
    places = {*places_of_passwords(), *homes()}
    if folder in places:
        return [path for path in _entries(folder) if os.path.isdir(path)]
    return [place for place in places if place.startswith(f"{folder}/")]


def _here() -> list[str]:
    try:
        return not_of_system([os.getcwd()])
    except FileNotFoundError:
        return []


def _entries_around(places: Iterable[str], folder: str) -> list[str]:
    """The entries of a folder in which those of the places lie that lie in it."""
    inside = (place for place in places if place.startswith(f"{folder}/"))
    return [os.path.join(folder, place[len(folder) + 1 :].partition("/")[0]) for place in inside]


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
    places |= {*_entries_around(places, folder)}
    for file in (path, real_path(lock)):
        around = [place for place in places if is_below(file, place)]
        if any(file not in own or not is_below(folder, place) for place in around):
            raise MetricFailure(
                "script-outside",
                f"{printable(os.path.basename(file))} lies where a variable says that passwords "
                "are, and is no script or lock: keep these apart",
            )


def _is_shown(
    entry: os.DirEntry[str], folder: str, known: dict[str, str], *, files_alone: bool
) -> bool:
    if entry.name.startswith("."):
        return False
    if not entry.is_symlink():
        return not files_alone or entry.is_file()
    real = followed(entry.path, known)
    if not lies_inside(real, folder):
        return False
    return os.path.isfile(real) and os.path.dirname(real) == folder if files_alone else True
