"""What of the folder that a script lies in is the script's to read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from ..confinement.homes import homes, not_of_system
from ..documents.passwords import places_of_passwords
from ..documents.paths import followed, holds_everything, is_below, lies_inside, real_path
from ..documents.wording import printable
from ..errors import MetricFailure
from ..registries.modules import is_code


def beside(path: str, handed_on: Collection[str] = ()) -> tuple[list[str], tuple[str, ...]]:
    """Paths to read, and folders to list: its folder without what is hidden there.

    Beside a script at the top of a repository lie `.git`, where the password for it may be, and
    `.env`. Where a variable says that passwords lie there, all of an entry is hidden in which they
    do. Of a folder that holds everything a person has only the files are read, and of one that is
    such a place itself those that are modules by their names, and where links lead by these, too.
    The path is real. What is given is opened wherever it leads: of links those that stay inside,
    and do not lead to where the user stands.
    """
    return _given(path, places_of_passwords(handed_on), _here())


def _given(
    path: str, places: Collection[str], here: Collection[str]
) -> tuple[list[str], tuple[str, ...]]:
    folder = os.path.dirname(path)
    everything = holds_everything(folder) or folder in places
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    private = {place for place in places if place.startswith(f"{folder}/")}
    if not everything and not private and not any(e.name.startswith(".") for e in entries):
        return [folder], ()
    known: dict[str, str] = {}
    hidden = _entries_around(private, folder)
    standing = _deep_in(folder, here)

    def is_kept(entry: os.DirEntry[str]) -> bool:
        leads_to = followed(entry.path, known)
        if folder in places and not (is_code(entry.name) and is_code(leads_to)):
            return True
        away = (*hidden, *standing) if entry.is_symlink() else hidden
        return any(is_below(place, leads_to) for place in private) or any(
            is_below(leads_to, place) for place in away
        )

    shown = [
        entry.path
        for entry in entries
        if _is_shown(entry, folder, known, files_alone=everything) and not is_kept(entry)
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


def not_own(path: str, places: Iterable[str], handed_on: Collection[str] = ()) -> list[str]:
    """Those of some real paths that are not the script's to read when it runs.

    Its whole folder is not, of which it is given what is not hidden; what is not there in it is.
    Wherever the user stands a package is the same.
    """
    folder = os.path.dirname(path)
    shown = set(_given(path, places_of_passwords(handed_on), ())[0])
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


def private_around(path: str, handed_on: Collection[str] = ()) -> list[str]:
    """The script's folder and the current one: what of them a script may read it is given.

    And places of passwords, which can be where every program may read, as in /usr/local/share.
    """
    return not_of_system([os.path.dirname(path), *_here(), *places_of_passwords(handed_on)])


def private_in(
    folder: str, modules: Iterable[str] = (), handed_on: Collection[str] = ()
) -> list[str]:
    """The real paths of what lies below a script's folder and is not its own to read.

    Of its `modules`, by their paths in it, those that are links to what is none where one stands.
    """
    places = {*places_of_passwords(handed_on), *homes()}
    if folder in places:
        return [path for path in _entries(folder) if os.path.isdir(path) or not is_code(path)]
    found = [place for place in places if place.startswith(f"{folder}/")]
    if standing := _deep_in(folder, _here()):
        known: dict[str, str] = {}
        paths = (followed(os.path.join(folder, name), known) for name in modules)
        found += [p for p in paths if not is_code(p) and any(is_below(p, e) for e in standing)]
    return found


def _deep_in(folder: str, here: Iterable[str]) -> list[str]:
    """Where the user stands below an entry of a folder, which by itself is the script's."""
    return [e for e in here if e.startswith(f"{folder}/") and os.path.dirname(e) != folder]


def _here() -> list[str]:
    try:
        return not_of_system([os.getcwd()])
    except FileNotFoundError:
        return []


def _entries_around(places: Iterable[str], folder: str) -> list[str]:
    """The entries of a folder in which those of the places lie that lie in it."""
    inside = (place for place in places if place.startswith(f"{folder}/"))
    return [os.path.join(folder, place[len(folder) + 1 :].partition("/")[0]) for place in inside]


def check_holds_no_passwords(path: str, handed_on: Collection[str] = ()) -> None:
    """Refuse a script, or the lock beside it, that lies where a variable says that passwords are.

    What is wrong in it would be quoted. Where a script's folder is such a place or lies in one it
    is one by its name alone. The path is real.

    Raises:
        MetricFailure: one is refused.
    """
    folder, lock = os.path.dirname(path), f"{path}.lock"
    own = {lock, *([path] if path.endswith(".py") else [])}
    places = places_of_passwords(handed_on)
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
