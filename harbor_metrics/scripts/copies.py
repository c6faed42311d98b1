"""What of a script's folder is installed, as uv is shown it: copies that nobody changes.

What lies beside a script can become another thing after it was hashed. So uv sees the copies that
were hashed, and of the script and its lock what names them there: not the place that they are from.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from ..documents.contents import Place, walk
from ..documents.files import reason
from ..documents.paths import real_path
from ..documents.places import Steps
from ..documents.real import open_real_folder
from ..documents.sizes import check_written
from ..documents.toml import parse
from ..documents.wording import printable
from ..registries.local_packages import (
    INDEXES,
    KINDS,
    check_amount,
    digests,
    file_of,
    name_in,
)
from ..registries.script_block import content_of
from ..registries.script_lock import lock_of
from .install import Wanted
from .steps import changed, not_made
from .wheels import asks_for_an_address, check_wheels

_AT_ONCE = 1 << 20
_EDITABLE = "editable"
# Of a block and a lock.
_OF_PATHS = {*KINDS, *INDEXES, "registry"}


def copy(wanted: Wanted, to: str, *, build: bool) -> str:
    """Fill an empty folder, whose path is real, and give the path of the script there.

    Folders of its own where packages are looked for are copied, too, but not for who can `build`:
    what lies there could become part of a package.

    Raises:
        MetricFailure: something cannot be copied, or is another one than that which was hashed.
    """
    folder, name = os.path.split(wanted.script.path)
    digest_of = dict(wanted.local)
    lock = lock_of(wanted.script.path)
    if (None if lock is None else sha256(lock).hexdigest()) != wanted.lock:
        raise changed()
    named = wanted.named if build else wanted.folders | wanted.named
    places = {path: name_in(folder, path, real) for path, real in named.items()}
    moved = {
        path: os.path.join(to, place)
        for path, place in places.items()
        if os.path.normpath(path) != place
    }
    copies = {
        os.path.join(to, places[path]): real for path, real in named.items() if digest_of[real]
    }
    try:
        # With a lock uv is asked for nothing editable; without one it takes the block's word alone.
        block = _renamed(content_of(wanted.script.text) or "", moved, whole=lock is None)
        _write(os.path.join(to, name), _as_block(block))
        if lock is not None:
            _write(os.path.join(to, f"{name}.lock"), _renamed(lock.decode(), moved, whole=False))
        # By several names it is several times there.
        check_amount([*copies.values()])
        known: dict[tuple[int, int], str] = {}
        for path in sorted(copies):
            _copy(copies[path], path, known)
        now = dict(digests([*copies], {}))
    except OSError as error:
        raise not_made(f"what lies beside the script: {reason(error)}") from error
    if any(now[path] != digest_of[real] for path, real in copies.items()):
        raise changed()
    if not build:
        shown = [os.path.join(to, places[path]) for path in wanted.named]
        check_wheels(dict(zip(shown, shown, strict=True)))
    # Before, it was asked of what lay beside the script by then.
    # Of one digest it is asked once.
    different = {digest_of[real]: path for path, real in copies.items()}
    if not wanted.elsewhere and any(map(asks_for_an_address, different.values())):
        raise changed()
    return os.path.join(to, name)


def _copy(real: str, to: str, known: dict[tuple[int, int], str]) -> None:
    """Copy a package to a place; another one that lies around it may have brought it along.

    What is `known`, a file by another name, takes no more room by this one either.

    Raises:
        OSError: it cannot be copied, or the place would be one that a package leads to by a link.
    """
    if real_path(os.path.dirname(to)) != os.path.dirname(to):
        raise OSError(f"a link in one package leads to {printable(os.path.basename(to))}")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if os.path.lexists(to):
        return
    if os.path.isdir(real):
        os.mkdir(to)
        for place in walk(real):
            _copy_one(place, os.path.join(to, place.path), known)
        return
    around, name = os.path.split(real)
    descriptor = open_real_folder(around)
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        _copy_one(Place(name, status, name, descriptor), to, known)
    finally:
        os.close(descriptor)


def _copy_one(place: Place, to: str, known: dict[tuple[int, int], str]) -> None:
    """Copy a file, a link as it is, or a folder without what lies in it."""
    if stat.S_ISDIR(place.status.st_mode):
        os.mkdir(to)
    elif (leads_to := place.leads_to()) is not None:
        os.symlink(leads_to, to)
    elif before := known.get((place.status.st_dev, place.status.st_ino)):
        os.link(before, to)
    else:
        with os.fdopen(place.open(), "rb") as file, open(to, "xb") as written:
            left = place.status.st_size
            check_written(file.fileno(), left)
            # No further than it went: somebody may write faster than we read.
            while left and (block := file.read(min(left, _AT_ONCE))):
                left -= written.write(block)
            # Nothing else of the mode is hashed.
            runs = place.status.st_mode & stat.S_IXUSR
            os.fchmod(written.fileno(), 0o755 if runs else 0o644)
        known[place.status.st_dev, place.status.st_ino] = to


def _write(path: str, text: str) -> None:
    with open(path, "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def _as_block(content: str) -> str:
    lines = (f"# {line}" if line else "#" for line in content.split("\n"))
    return "\n".join(["# /// script", *lines, "# ///", ""])


def _renamed(text: str, moved: Mapping[str, str], *, whole: bool) -> str:
    """A TOML text in which each of these paths is another one, wherever it names a package.

    And a package is no longer editable, where it is to be `whole`: nothing stays that it leads to.
    """
    document = parse(text.encode(), "")[0] if moved or whole else None
    if document is None:
        return text
    values = dict(_values(document.value, moved, whole=whole))
    places = document.places(values)
    pieces = []
    at = 0
    for steps in sorted(values, key=lambda steps: places[steps].start):
        # What JSON writes is TOML, which admits one character less as it is.
        value = json.dumps(values[steps], ensure_ascii=False).replace("\x7f", "\\u007f")
        pieces += [text[at : places[steps].start], value]
        at = places[steps].end
    return "".join([*pieces, text[at:]])


def _values(
    value: Any, moved: Mapping[str, str], *, whole: bool
) -> Iterator[tuple[Steps, str | bool]]:
    """What stands elsewhere where one of these paths names a package, or one is editable."""
    pending: list[tuple[Steps, Any]] = [((), value)]
    while pending:
        steps, value = pending.pop()
        if isinstance(value, dict):
            pending += (((*steps, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            pending += (((*steps, index), inner) for index, inner in enumerate(value))
        elif value is True and whole and steps[-1] == _EDITABLE:
            yield steps, False
        elif not isinstance(value, str):
            continue
        elif value in moved and not _OF_PATHS.isdisjoint(steps):
            yield steps, moved[value]
        elif (found := file_of(value)) and found[0] in moved:
            start, end = found[1]
            yield steps, f"{value[:start]}file://{quote(moved[found[0]])}{value[end:]}"
