"""Paths with signs that stand for other names."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import InputError
from .files import reason
from .paths import up_to_stray
from .wording import in_command, printable

_SIGNS = frozenset("*?[")
_ANY_FOLDERS = "**"
# How often `**` comes to folders where it was before, by links.
_MOST_REPEATED = 20_000
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_LONGEST_NAME = 255


def is_pattern(path: str) -> bool:
    """Whether it has a sign that stands for other names."""
    return not _SIGNS.isdisjoint(path)


def fixed_part(pattern: str) -> str:
    """The folder that somebody has named by a pattern: what stands before the first sign."""
    folder = pattern
    while is_pattern(folder):
        folder = os.path.dirname(folder)
    return folder or os.curdir


def matching(pattern: str) -> list[str]:
    """The paths that a pattern matches, each once, sorted: those that Python's `glob` finds.

    `glob` leaves out what lies in folders that it cannot look into, which may be what is meant.

    Raises:
        InputError: a folder on the way cannot be looked into, or is nested too deep; or the pattern
            leads by links into the same ones again and again.
    """
    search = _Search(pattern)
    place, part = os.path.split(pattern)
    if not is_pattern(pattern):
        return [pattern] if search.is_there(pattern) else []
    parts = [part]
    while is_pattern(place):
        place, part = os.path.split(place)
        if not part == parts[-1] == _ANY_FOLDERS:
            parts.append(part)
    places = [place]
    while parts:
        part = parts.pop()
        places = list(dict.fromkeys(search.below(places, part, folders_alone=bool(parts))))
    return sorted(filter(None, places))


def check_hides_nothing(path: str, given: Iterable[str]) -> None:
    """Refuse a path that is there and that other files fit, too, as they fit a pattern.

    Whoever has made what has the name of a pattern would hide what the pattern means. Names that
    a shell or pre-commit hands over hide none of what is `given` beside them.

    Raises:
        InputError: so it is; or what it fits cannot be found.
    """
    others = [*hidden_by(path)]
    known = {*map(os.path.normpath, given)} if others else set()
    for other in others:
        if os.path.normpath(other) not in known:
            raise two_meanings(path, up_to_stray(other), matching, os.path.lexists)


def hidden_by(path: str) -> Iterator[str]:
    """The other files that a path which is there would match, were it a pattern.

    Raises:
        InputError: they cannot be found.
    """
    if not is_pattern(path):
        return
    # Somebody else has made the name, and the way of each `**` is gone for each way of the others.
    if path.split("/").count("**") > 1:
        raise InputError(
            f"{printable(path)} is there, and it is a pattern with several `**`: neither is taken "
            "for what is meant",
            "write one `**`, which stands for any folders",
        )
    own = os.path.normpath(path)
    for match in matching(path):
        if os.path.normpath(match) != own and not os.path.isdir(match):
            yield match


def two_meanings(
    path: str,
    match: str,
    matches: Callable[[str], Sequence[str]],
    is_there: Callable[[str], bool],
) -> InputError:
    """That a path is there and is a pattern for others, such as `match`, and how to write either.

    `matches` and `is_there` ask where it lies.
    """
    # For weight: most paths lead to a file.
    import glob

    # A letter alone in brackets is that letter, and the name of nothing that is there.
    pattern = f"{path[:-1]}[{path[-1:]}]"
    is_same = not is_there(pattern) and sorted(matches(pattern)) == sorted(matches(path))
    # With `/` behind it it is that of folders alone.
    name = f"{path}/" if "://" not in path and os.path.isdir(path) else glob.escape(path)
    return InputError(
        f"{printable(path)} is there, and it is a pattern that {printable(match)} fits, too: "
        "neither is taken for what is meant",
        f"write {in_command(name)} for what is called so"
        + (f", {in_command(pattern)} for the pattern" if is_same else ", and name the others"),
    )


class _Search:
    """The way that one pattern takes through folders."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def is_there(self, path: str) -> bool:
        """Whether something is at a path without signs, a folder where it ends in `/`."""
        return self._status(path, os.stat if path.endswith("/") else os.lstat) is not None

    def below(self, places: Iterable[str], part: str, *, folders_alone: bool) -> Iterator[str]:
        """What fits one part of the pattern in these places."""
        if part == _ANY_FOLDERS:
            yield from self._all_below(places, folders_alone=folders_alone)
        elif not part:
            yield from (os.path.join(place, "") for place in places if self._is_folder(place))
        elif not is_pattern(part):
            paths = (os.path.join(place, part) for place in places)
            yield from filter(self.is_there, paths)
        else:
            fits = _fitting(part)
            for place in places:
                for entry in filter(fits, self._entries(place)):
                    if not folders_alone or self._leads_to_folder(entry):
                        yield os.path.join(place, entry.name)

    def _all_below(self, places: Iterable[str], *, folders_alone: bool) -> Iterator[str]:
        walked: set[str] = set()
        seen: set[tuple[int, int]] = set()
        for top in filter(self._is_folder, places):
            yield os.path.join(top, "")
            waiting = [top]
            while waiting:
                folder = waiting.pop()
                if os.path.join(folder, "") in walked:
                    continue
                walked.add(os.path.join(folder, ""))
                if (status := self._status(folder, os.stat)) is not None:
                    seen.add((status.st_dev, status.st_ino))
                if len(walked) - len(seen) > _MOST_REPEATED:
                    raise self._refusal(
                        f"leads through links into the same folders more than {_MOST_REPEATED:,} "
                        "times"
                    )
                for entry in filter(_is_shown, self._entries(folder)):
                    path = os.path.join(folder, entry.name)
                    is_folder = self._leads_to_folder(entry)
                    if is_folder:
                        waiting.append(path)
                    if is_folder or not folders_alone:
                        yield path

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder or os.curdir) as entries:
                return list(entries)
        except OSError as error:
            self._check(folder, error)
            return []

    def _leads_to_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError as error:
            self._check(entry.path, error)
            return False

    def _is_folder(self, path: str) -> bool:
        status = self._status(path, os.stat)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def _status(self, path: str, ask: Callable[[str], os.stat_result]) -> os.stat_result | None:
        try:
            return ask(path or os.curdir)
        except OSError as error:
            self._check(path, error)
        except ValueError:
            pass  # what is no path: half a surrogate pair, a NUL
        return None

    def _check(self, path: str, error: OSError) -> None:
        """Refuse the pattern unless the error says that nothing is there.

        Raises:
            InputError: it does not.
        """
        if error.errno == errno.ENAMETOOLONG:
            if len(os.fsencode(os.path.basename(path))) <= _LONGEST_NAME:
                raise self._refusal("leads into folders that are nested too deep for a pattern")
        elif error.errno not in _NOT_THERE:
            raise self._refusal(f"leads to {printable(path)}, which says: {reason(error)}")

    def _refusal(self, why: str) -> InputError:
        return InputError(f"{printable(self._pattern)} {why}", "name a folder or a file")


def _is_shown(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".")


def _fitting(part: str) -> Callable[[os.DirEntry[str]], bool]:
    """Whether the name of an entry fits; `*` and `?` are no dot at its beginning."""
    # For weight: most paths lead to a file.
    import fnmatch
    import re

    fits = re.compile(fnmatch.translate(part)).match
    if part.startswith("."):
        return lambda entry: fits(entry.name) is not None
    return lambda entry: _is_shown(entry) and fits(entry.name) is not None
