"""Packages that a script names in the file system: which, and what they hold."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from typing import Any
from urllib.parse import unquote

from ..documents.contents import digest_of, walk
from ..documents.files import open_real
from ..documents.paths import holds_everything, is_below, real_path, real_paths
from ..documents.sizes import MOST_DATA, check_written
from ..errors import MetricFailure
from .private import Private
from .script_block import check_depth, table
from .script_lock import lock_of, read_lock

# `name[extra] @ place`, perhaps with a digest or a marker after it.
_AT = re.compile(r"\s*+[\w.-]++\s*+(?:\[[^\]]*+\]\s*+)?@\s*+([^\s;#]+)")
# Of an address the machine, and what follows a question mark, are no part of a path.
_FILE = re.compile(r"file:(?://(?:localhost(?=/))?)?", re.IGNORECASE)
# Of a path that the system takes.
_LONGEST = 4096
KINDS = ("path", "directory", "editable", "virtual")
# Settings of uv that name where packages are looked for.
INDEXES = ("index", "index-url", "extra-index-url", "find-links")
# More nobody writes by hand; who looks where each leads follows its links.
_MOST_NAMES = 500
# Of all that a script names in its folder.
MOST_FILES, MOST_BYTES = 10_000, 2 << 30
# Of what an environment is made of, pinned or not: links to one file count each time.
_MOST_FILES_AT_ALL, _MOST_BYTES_AT_ALL = 1_000_000, MOST_DATA
# The path of each, with the digest of what is in it: an empty one where it is not there.
Packages = tuple[tuple[str, str], ...]


def named_packages(
    wants: Mapping[str, Any], lock: Mapping[str, Any], folder: str
) -> dict[str, str]:
    """The packages that a block or a lock names in the file system: real paths by these names.

    Raises:
        MetricFailure: there are more than anybody writes.
    """
    packages = lock.get("package")
    named = [*_paths(wants), *_tables(settings_of(wants).get("sources"))]
    for package in packages if isinstance(packages, list) else ():
        named += _tables(package.get("source") if isinstance(package, dict) else None)
    names = _checked(named)
    places = real_paths(os.path.join(folder, name) for name in names)
    return dict(zip(names, places, strict=True))


def settings_of(wants: Mapping[str, Any]) -> dict[str, Any]:
    """What a block says to uv itself."""
    tool = wants.get("tool")
    settings = tool.get("uv") if isinstance(tool, dict) else None
    return settings if isinstance(settings, dict) else {}


def folders_of_packages(wants: Mapping[str, Any], folder: str) -> dict[str, str]:
    """The places in the file system where a block says that packages are: real paths by names.

    Raises:
        MetricFailure: as `named_packages`.
    """
    named = _checked(_places(wants))
    places = real_paths(os.path.join(folder, path_of(name)) for name in named)
    return dict(zip(named, places, strict=True))


def _checked(named: Iterable[str]) -> list[str]:
    """The names, each once.

    Raises:
        MetricFailure: one can be no path, or there are more than anybody writes.
    """
    names = list(dict.fromkeys(named))
    if len(names) > _MOST_NAMES:
        raise MetricFailure(
            "script-metadata",
            f"the script names more than {_MOST_NAMES} packages in the file system: name fewer",
        )
    if any("\0" in name or len(name) > _LONGEST for name in names):
        raise MetricFailure(
            "script-metadata",
            "the script names a package by what can be no path: it has a NUL, or too many "
            "characters",
        )
    return names


def _places(wants: Mapping[str, Any]) -> Iterator[str]:
    for setting in INDEXES:
        value = settings_of(wants).get(setting)
        for entry in value if isinstance(value, list) else [value]:
            place = entry.get("url") if isinstance(entry, dict) else entry
            if isinstance(place, str) and (_FILE.match(place.strip()) or "://" not in place):
                yield place


def path_of(place: str) -> str:
    """The path of such a place, which may be written as an address."""
    place = place.strip()
    address = _FILE.match(place)
    return unquote(re.split("[?#]", place[address.end() :])[0]) if address else place


def local_packages(
    wants: Mapping[str, Any], lock: Mapping[str, Any], folder: str
) -> tuple[str, ...]:
    """The real paths of these packages; raises as `named_packages`."""
    return tuple(dict.fromkeys(named_packages(wants, lock, folder).values()))


def installed(
    path: str, text: bytes, known: dict[str, str] | None = None
) -> tuple[Packages | None, str | None]:
    """What is installed from the folder of a script: its packages, and the digest of its lock.

    A package goes by its name in the script, which can be a link, if that is in the folder. So does
    a folder there where packages are looked for.

    No packages where nothing will be, for who makes the environment says why not; None where they
    have no digest: one is not there but around or elsewhere, is hidden, cannot be read, or there is
    more than can be hashed. Digests that are `known`, by paths, are not taken again.
    """
    try:
        wants = table(text)
        if wants is None:
            return (), None
        check_depth(wants)
        lock = lock_of(path)
        folder = real_path(os.path.dirname(os.path.abspath(path)))
        packages = named_packages(wants, read_lock(lock), folder)
        around = folders_of_packages(wants, folder)
    except MetricFailure:
        return (), None
    digest = None if lock is None else sha256(lock).hexdigest()
    # What is looked for elsewhere comes from there as from an index.
    packages |= {name: p for name, p in around.items() if is_below(p, folder)}
    if any(p == folder or not is_below(p, folder) for p in packages.values()):
        return None, digest
    places = [
        (_named_in(folder, name) or name, os.path.relpath(p, folder))
        for name, p in packages.items()
    ]
    return _hashed([*dict.fromkeys(places)], folder, {} if known is None else known), digest


def name_in(folder: str, name: str, real: str) -> str:
    """Where in the folder of the script a package lies, as it is named if that is there."""
    return _named_in(folder, name) or os.path.relpath(real, folder)


def _named_in(folder: str, name: str) -> str | None:
    """A name from the script's folder on, by whatever name of the folder; None of another one."""
    around = named = os.path.join(folder, path_of(name))
    # What `..` leads to differs between who follows links first and who does not.
    if ".." in named.split("/"):
        return None
    while around != (around := os.path.dirname(around)):
        if real_path(around) == folder:
            return os.path.normpath(os.path.relpath(named, around))
    return None


def _hashed(
    packages: Sequence[tuple[str, str]], folder: str, known: dict[str, str]
) -> Packages | None:
    places = dict.fromkeys(place for _, place in packages)
    if any(_is_not_its_own(place, folder) for place in places):
        return None
    paths = {place: os.path.join(folder, place) for place in places}
    private = Private(folder)
    if any(map(private.holds, paths.values())):
        return None
    try:
        if _is_too_much([*paths.values()], MOST_FILES, MOST_BYTES):
            return None
        known.update({path: _digest(path) for path in paths.values() if path not in known})
        return tuple((name, known[paths[place]]) for name, place in packages)
    except OSError:
        return None


def _is_not_its_own(name: str, folder: str) -> bool:
    """Whether a package is none of what a script may read of its folder."""
    inside = os.sep in name or os.path.isdir(os.path.join(folder, name))
    return name.startswith(".") or (inside and holds_everything(folder))


def _is_too_much(paths: Sequence[str], most_files: int, most_bytes: int) -> bool:
    n_files = n_folders = size = 0
    for path in paths:
        for status in _statuses(path):
            n_folders += stat.S_ISDIR(status.st_mode)
            n_files += not stat.S_ISDIR(status.st_mode)
            size += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
            if max(n_files, n_folders) > most_files or size > most_bytes:
                return True
    return False


def _statuses(path: str) -> Iterator[os.stat_result]:
    if os.path.isdir(path):
        yield from (place.status for place in walk(path))
    elif os.path.isfile(path):
        yield os.stat(path)


def check_amount(packages: Sequence[str]) -> None:
    """Refuse more in packages than anybody would hash, or copy.

    Raises:
        OSError: it is more, or cannot be read.
    """
    if _is_too_much(packages, _MOST_FILES_AT_ALL, _MOST_BYTES_AT_ALL):
        raise OSError(errno.EFBIG, f"more than {_MOST_BYTES_AT_ALL >> 30} GiB")


def digests(packages: Sequence[str], known: Mapping[str, str]) -> Packages:
    """Each package with the SHA-256 of all that is in it, that of before where it is `known`.

    Raises:
        OSError: one cannot be read, or there is more in them than anybody would hash.
    """
    check_amount(packages)
    return tuple((p, known[p] if p in known else _digest(p)) for p in packages)


def file_of(text: str) -> tuple[str, tuple[int, int]] | None:
    """The path in a text that asks for a package by one, and where in the text that stands."""
    found = _AT.match(text)
    if found is None:
        return None
    address = _FILE.match(found[1])
    return path_of(found[1]) if address else unquote(found[1]), found.span(1)


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if found := file_of(value):
            yield found[0]
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _paths(inner)


def _tables(value: Any) -> Iterator[str]:
    """The paths in a source, in a list of them, or in a table of such."""
    if isinstance(value, list):
        for inner in value:
            yield from _tables(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in KINDS and isinstance(inner, str):
                yield inner
            elif name == "workspace":
                yield "."
            else:
                yield from _tables(inner)


def _digest(path: str) -> str:
    if os.path.isdir(path):
        # A build can look for a folder that is empty, and start what can be run.
        listing = [("./", "")]
        for place in walk(path):
            if place.path.endswith("/"):
                listing.append((place.path, ""))
            else:
                runs = stat.S_ISREG(place.status.st_mode) and place.status.st_mode & stat.S_IXUSR
                listing.append((place.path, f"{digest_of(place)}{' executable' if runs else ''}"))
        return sha256(repr(sorted(listing)).encode("utf-8", "surrogatepass")).hexdigest()
    if not os.path.isfile(path):
        return ""
    with open_real(path) as file:
        check_written(file.fileno(), os.path.getsize(path))
        return file_digest(file, "sha256").hexdigest()
