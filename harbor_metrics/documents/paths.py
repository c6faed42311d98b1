"""Where paths lead: what others named may lead out of their folder, or to what is hidden there."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from functools import cache

from ..errors import InputError

# What stands for standard input where a path is named, whatever lies there under that name.
STANDARD_INPUT = "-"
# Where the shell has opened a file as standard input, this leads to it.
_OPENED = "/dev/stdin"
_NOWHERE = os.path.join(os.devnull, "nowhere")
_UNKNOWN = "where no path leads"
NOT_THERE = (errno.ENOENT, errno.ENOTDIR)
# No system takes a quarter of it, and to follow links on the way takes the square of a long path.
_LONGEST = 16_384
_OF_HOMES = ("/home", "/Users")
# Where the system goes no further either, whatever follows.
_AT_ITS_END = (*NOT_THERE, errno.EACCES)
# Nor by more links, one behind the other.
_MOST_LINKS = 40
# What Python imports; a byte-compiled file of a cache is one of a source.
_CODE = re.compile(r".*\.(?:py|pyc|pyd|dylib|so(?:\.[^/]*)?)\Z", re.DOTALL)
# Where systems keep links of their own: `/tmp`, `/dev/stdin`, `/var/run`, a home elsewhere.
_OF_SYSTEM = frozenset({"/", "/dev", "/home", "/usr", "/var"})


def is_address(path: str) -> bool:
    """Whether it is an address, of what lies on storage, and not a path of this machine."""
    return "://" in path


def real_path(path: str) -> str:
    """Where links lead; nowhere where the system may follow them further than we can.

    It follows a link by what is left of it, and so into folders that have no path short enough.
    """
    if len(path) > _LONGEST:
        return _NOWHERE
    path = _OPENED if path == STANDARD_INPUT else path
    try:
        try:
            return _told_at_once(path) or os.path.realpath(path, strict=True)
        except OSError as error:
            # From Python 3.13 on a path from here is asked from `/`, where we may not come by it.
            further = error.errno == errno.EACCES and os.path.lexists(path)
            at_its_end = error.errno in _AT_ITS_END and not further
            return os.path.realpath(path) if at_its_end else _NOWHERE
    except (RecursionError, ValueError):
        return _NOWHERE  # as what is no path: half a surrogate pair, a NUL


def folder_of(path: str) -> str:
    """The real path of the folder that a file lies in: by letters `..` would undo a link."""
    return real_path(os.path.dirname(path) or os.curdir)


def real_paths(paths: Iterable[str]) -> list[str]:
    """The same of many absolute paths: a link that they have in common is followed once."""
    known: dict[str, str] = {}
    return [followed(path, known) for path in paths]


def followed(path: str, known: dict[str, str], n_links: int = 0) -> str:
    """The same of one of them, by what is known, and will be, of the links on them all."""
    here = ""
    for part in path.split("/"):
        if part == "..":
            here = os.path.dirname(here).rstrip("/")
        elif part not in ("", "."):
            place = f"{here}/{part}"
            if place not in known:
                # What a link to itself leads to, and what is too far away for the system.
                known[place] = _NOWHERE
                if n_links <= _MOST_LINKS:
                    known[place] = _behind(place, known, n_links)
            here = known[place]
            if here == _NOWHERE:
                return here
    return here or "/"


def _behind(place: str, known: dict[str, str], n_links: int) -> str:
    try:
        if is_link(place):
            above = os.path.dirname(place)
            return followed(os.path.join(above, os.readlink(place)), known, n_links + 1)
    except OSError as error:
        if error.errno not in _AT_ITS_END:
            return _NOWHERE
    except ValueError:
        return _NOWHERE
    return place


def _told_at_once(path: str) -> str:
    """Where links lead as the system knows it of what it has opened; empty where it does not say.

    To ask of each folder on the way takes the square of a long path.
    """
    if sys.platform != "linux":
        return ""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        told = os.readlink(f"/proc/self/fd/{descriptor}")
        # Else it has gone, is no file of a folder, or lies where we do not come by it.
        is_there = told[:1] == "/" and os.path.samestat(os.lstat(told), os.fstat(descriptor))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return told if is_there else ""


def leads_nowhere(path: str) -> bool:
    """Whether it is a link to what is not there, as where contents were not fetched."""
    return os.path.islink(path) and not os.path.exists(path)


def is_link(path: str) -> bool:
    """Whether a path is a link; not where nothing is there.

    Raises:
        OSError: it cannot be told.
    """
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError as error:
        if error.errno in NOT_THERE:
            return False
        raise


def may_be_there(path: str) -> bool:
    """Whether something is at a path, or may be: it cannot be told where a folder is shut.

    What is looked for in several places is not looked for in the next one then.
    """
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in (*NOT_THERE, errno.ENAMETOOLONG)
    return True


def is_shut(error: OSError) -> bool:
    """Whether what cannot be read is there, for all that is known."""
    return error.errno in (errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE)


def holds_everything(folder: str) -> bool:
    """Whether a real path is above all that a person has, or all temporary files, or is theirs."""
    # For weight: most commands look at no path of others.
    from ..confinement.homes import homes

    # Whoever it is, and whether or not this system knows them.
    if os.path.dirname(folder) in _OF_HOMES:
        return True
    temporary = real_path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108
    try:
        # Root reads the homes of others, too.
        people = homes(os.stat(folder).st_uid)
    except OSError:
        people = homes()
    return any(is_below(place, folder) for place in (*people, temporary, *_private()))


def leads_inside(path: str, folder: str) -> bool:
    """Whether what a path leads to lies in a folder, whose path is real, and is not hidden there.

    The folder itself does not: through it all that is hidden is found.
    """
    return lies_inside(real_path(path), folder)


def lies_inside(real: str, folder: str) -> bool:
    """The same of what lies at a real path."""
    above = f"{folder.rstrip('/')}/"
    return real.startswith(above) and "/." not in real[len(above) - 1 :]


def leads_out(path: str, folder: str) -> bool:
    """Whether links on the way to a path inside a folder lead out of it, or to what it hides.

    What is hidden and was found by its own name is no link's doing.
    """
    inside = real_path(folder).rstrip("/")
    real = real_path(path)
    if not real.startswith(f"{inside}/"):
        return True
    return real != os.path.join(inside, os.path.relpath(path, folder)) and not leads_inside(
        path, inside
    )


def up_to_link(path: str, folder: str, leads_away: Callable[[str], object]) -> str:
    """A path that leads away below a folder, as far as the link by which it does.

    What lies behind it has names that may be its reader's secret, too.
    """
    inside = len(folder) if path.startswith(folder) else 0
    ends = (at for at, sign in enumerate(path) if sign == "/" and at > inside)
    return next((path[:at] for at in ends if leads_away(path[:at])), path)


def ends_a_line(path: str) -> bool:
    """Whether a path holds what ends a line, where programs write paths into lines."""
    return any(c < " " or c in "\x7f\x85\u2028\u2029" for c in path)


def check_stays(path: str) -> None:
    """Refuse a path with a link out of the current directory, or out of the link's own folder.

    In what somebody else has made, such a link shows what only its reader may see, a password
    perhaps; and so does one to what is hidden there. The current directory counts where the path
    is relative and lies in it, and where it does not hold all that a person has.

    Raises:
        InputError: it is such a link.
    """
    if (where := strayed(path)) is not None:
        raise InputError(
            f"{path}: a link to {where}, of which something would be shown",
            "name the file itself, if it is yours",
        )


def strayed(path: str) -> str | None:
    """Where a link leads that `check_stays` refuses, in words; None of any other path."""
    if path == STANDARD_INPUT or len(path) > _LONGEST:
        return None
    try:
        here = "" if os.path.isabs(path) else os.getcwd()
        # No link on the way, which most have not: each step is asked only where there is one.
        if ".." not in path and real_path(path) == os.path.normpath(os.path.join(here, path)):
            return None
        root = here or None
        if root is not None and holds_everything(root):
            root = None
        return _first_that_strays(path, root)
    except (OSError, ValueError):
        return None  # whoever reads or writes it is told the same


def up_to_stray(path: str) -> str:
    """A path as far as the link that `check_stays` refuses; the whole where there is none."""
    return path if strayed(path) is None else up_to_link(path, "", strayed)


def _first_that_strays(path: str, root: str | None) -> str | None:
    """Each link is asked, as the system follows them: `..` goes up from where a link leads."""
    # As the system goes: a path from here can be short where one from `/` is too long for it.
    here, followed = "/" if os.path.isabs(path) else "", False
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for number, part in enumerate(parts, 1):
        place = os.path.normpath(os.path.join(here, part))
        try:
            leads_on = part != ".." and is_link(place)
        except OSError:
            # Before a link the system has gone by this path, and comes no further either.
            return _UNKNOWN if followed else None
        if leads_on:
            leads_to, is_last = real_path(place), number == len(parts)
            if not _may_lead_there(place, root, is_last=is_last):
                return leads_to if leads_to != _NOWHERE else _UNKNOWN
            place, followed = leads_to, True
        here = place
    return None


def _may_lead_there(link: str, root: str | None, *, is_last: bool) -> bool:
    folder = real_path(os.path.dirname(link) or ".")
    if leads_inside(link, folder):
        return True
    if root is not None and is_below(os.path.abspath(link), root) and leads_inside(link, root):
        return True
    # For weight: most commands look at no path of others.
    from ..confinement.homes import own_home

    return _is_of_system(link, folder) or (not is_last and folder == real_path(own_home()))


def _is_of_system(link: str, folder: str) -> bool:
    """Whether a link in a folder, by its real path, is none that comes with somebody's files.

    What root has made counts for everybody else; for root itself only where a system has its own.
    """
    if folder in _OF_SYSTEM or is_below(folder, "/proc"):
        return True
    try:
        owners = {os.lstat(link).st_uid, os.stat(os.path.dirname(link) or os.curdir).st_uid}
    except OSError:
        return False
    return owners == {0} and os.geteuid() != 0


def is_below(path: str, folder: str) -> bool:
    """Whether a real path is that of a folder, or of what lies in it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is that of something that lies in a folder, at any depth."""
    return path != folder and is_below(path, folder)


def is_code(name: str) -> bool:
    """Whether a file of this name is a module."""
    return _CODE.match(name) is not None


@cache
def _private() -> tuple[str, ...]:
    # For weight, too.
    from ..confinement.places import PRIVATE

    return tuple(map(real_path, PRIVATE))
