"""What lies in folders that may be nested as deep as somebody likes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import InputError
from .paths import up_to_stray
from .wording import in_command, printable

_SIGNS = frozenset("*?[")
_ANY_FOLDERS = "**"
# How often `**` comes to folders where it was before, by links.
_MOST_REPEATED = 20_000


def walk(
    top: str, on_error: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder, the names of those in it, links among them, and of all else, as `os.walk` does.

    That of Python 3.11 calls itself for each level, and ends in folders that are nested too deep.
    """
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        below: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (below if entry.is_dir() else names).append(entry.name)
        except OSError as error:
            if on_error is not None:
                on_error(error)
            continue
        yield folder, below, names
        paths = [os.path.join(folder, name) for name in reversed(below)]
        waiting += [path for path in paths if not os.path.islink(path)]


def is_pattern(path: str) -> bool:
    """Whether it has a sign that stands for other names."""
    return not _SIGNS.isdisjoint(path)


def matching(pattern: str) -> list[str]:
    """The paths that a pattern matches, sorted.

    Raises:
        InputError: it leads into folders that are nested too deep to be searched, or by links into
            the same ones again and again.
    """
    # For weight: most paths lead to a file.
    import glob

    if _ANY_FOLDERS in pattern.split("/"):
        _check_ends(pattern)
    try:
        return sorted(glob.glob(pattern, recursive=True))
    except RecursionError as error:
        raise InputError(
            f"{printable(pattern)} leads into folders that are nested too deep for a pattern",
            "name a folder or a file",
        ) from error


def _check_ends(pattern: str) -> None:
    """Refuse a pattern with `**` that would go through links to where it was, without an end.

    Two links of a folder to itself are two ways at each of forty steps.

    Raises:
        InputError: it is such a pattern.
    """
    # For weight: see above.
    import glob

    parts = pattern.split("/")
    before = "/".join(parts[: parts.index(_ANY_FOLDERS)])
    waiting = glob.glob(before) if before else ["/" if pattern[:1] == "/" else os.curdir]
    seen: set[tuple[int, int]] = set()
    n_visits = 0
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder)
            with os.scandir(folder) as entries:
                waiting += [e.path for e in entries if e.name[0] != "." and e.is_dir()]
        except OSError:
            continue
        n_visits += 1
        seen.add((status.st_dev, status.st_ino))
        if n_visits - len(seen) > _MOST_REPEATED:
            raise InputError(
                f"{printable(pattern)} leads through links into the same folders more than "
                f"{_MOST_REPEATED:,} times",
                "name a folder or a file",
            )


def fixed_part(pattern: str) -> str:
    """The folder that somebody has named by a pattern: what stands before the first sign."""
    folder = pattern
    while is_pattern(folder):
        folder = os.path.dirname(folder)
    return folder or os.curdir


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
    # For weight: see above.
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
