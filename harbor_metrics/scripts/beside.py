"""What of the folder that a script lies in is the script's to read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from ..confinement.homes import not_of_system
from ..confinement.workplace import Named
from ..documents.passwords import places_of_passwords
from ..documents.paths import (
    followed,
    holds_everything,
    is_below,
    is_code,
    is_inside,
    lies_inside,
)
from ..registries.private import entries_around


def beside(path: str, handed_on: Collection[str] = ()) -> tuple[list[Named], tuple[str, ...]]:
    """What to read, by its name and where it leads, and folders to list: without what is hidden.

    Beside a script at the top of a repository lie `.git`, where the password for it may be, and
    `.env`. Where a variable says that passwords lie there, all of an entry is hidden in which they
    do. Of a folder that holds everything a person has only the files are read, and of one that is
    such a place itself those that are modules by their names, and where links lead by these, too.
    The path is real. Of links those are given that stay inside.
    """
    places = places_of_passwords(handed_on)
    folder = os.path.dirname(path)
    is_one = folder in places
    everything = holds_everything(folder) or is_one
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    private = {place for place in places if is_inside(place, folder)}
    if not everything and not private and not any(e.name.startswith(".") for e in entries):
        return [(folder, folder)], ()
    known: dict[str, str] = {}
    hidden = entries_around(private, folder)

    def is_kept(entry: os.DirEntry[str]) -> bool:
        leads_to = followed(entry.path, known)
        if is_one and not (is_code(entry.name) and is_code(leads_to)):
            return True
        return any(is_below(place, leads_to) for place in private) or any(
            is_below(leads_to, place) for place in hidden
        )

    shown = [
        # What is no link by its entry is given as none, whatever comes to its place.
        (entry.path, followed(entry.path, known) if entry.is_symlink() else entry.path)
        for entry in entries
        if _is_shown(entry, folder, known, files_alone=everything) and not is_kept(entry)
    ]
    # To list a folder is to list all below, of `/` of the whole machine.
    return [(path, path), *shown], tuple(not_of_system([folder]))


def not_own(path: str, places: Iterable[str], handed_on: Collection[str] = ()) -> list[str]:
    """Those of some real paths that are not the script's to read when it runs.

    Its whole folder is not, of which it is given what is not hidden; what is not there in it is.
    """
    folder = os.path.dirname(path)
    shown = {name for name, _ in beside(path, handed_on)[0]}
    return [place for place in places if not _is_own(place, folder, shown)]


def _is_own(place: str, folder: str, shown: Collection[str]) -> bool:
    if place == folder or not is_below(place, folder):
        return False
    top = os.path.relpath(place, folder).split(os.sep)[0]
    if folder in shown or os.path.join(folder, top) in shown:
        return True
    return not top.startswith(".") and not os.path.lexists(place)


def private_around(path: str, handed_on: Collection[str] = ()) -> list[str]:
    """The script's folder and the current one: what of them a script may read it is given.

    One that lies in the script's is a part of it, wherever the user stands. And places of
    passwords, which can be where every program may read, as in /usr/local/share.
    """
    folder = os.path.dirname(path)
    standing = [place for place in _here() if not is_inside(place, folder)]
    return not_of_system([folder, *standing, *places_of_passwords(handed_on)])


def _here() -> list[str]:
    try:
        return [os.path.realpath(os.getcwd())]
    except FileNotFoundError:
        return []


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
