"""The modules beside a script that it can import: their bytes, and one digest of all of them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from ..documents.files import open_real
from ..documents.paths import followed, holds_everything, is_below, is_code, lies_inside, real_path
from .imports import imported
from .private import Private

_CACHES = ("__pycache__",)
# Where packages that were built elsewhere have the libraries that their modules are linked to.
_LIBRARIES = (".libs", ".dylibs")
_METADATA = (".dist-info", ".egg-info", ".egg", ".egg-link", ".pkg")
_MANIFEST = re.compile(rb"\\?[0-9a-f]{64}  ")
MOST_FILES, MOST_BYTES = 1_000, 16 << 20


class Content(bytes):
    """What a file holds, hashed once for all who ask."""

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes."""
        # For weight: most registries name no script.
        from hashlib import sha256

        return sha256(self).hexdigest()


Modules = tuple[tuple[str, Content], ...]


class TooManyError(Exception):
    """There is more beside the script than belongs to it."""


class Folders:
    """What lies in folders and can be imported from there, read once at most."""

    def __init__(self) -> None:
        self._code: dict[str, Modules] = {}
        # The digests of the packages there, by their paths.
        self.packages: dict[str, str] = {}

    def modules(self, folder: str, own: str) -> Modules:
        """The modules in a folder, by their paths in it, without the script of that name.

        Raises:
            TooManyError: the folder holds more of them than a script has.
            MetricFailure: one is a link to what may be a password.
            OSError: one cannot be read.
        """
        if folder not in self._code:
            self._code[folder] = tuple(sorted(_read(folder)))
        found = tuple(module for module in self._code[folder] if module[0] != own)
        if len(found) > MOST_FILES or sum(len(data) for _, data in found) > MOST_BYTES:
            raise TooManyError
        return found


def _read(folder: str) -> Iterator[tuple[str, Content]]:
    """The code in a folder, no more than shows that it is too much beside any script in it."""
    size = 0
    for name, real in islice(_code(folder), MOST_FILES + 2):
        with open_real(real) as file:
            data = Content(file.read(MOST_BYTES + 1))
        size += len(data)
        yield name, data
        if size > 2 * MOST_BYTES:
            return


def importable(path: str, text: bytes, folders: Folders | None = None) -> Modules:
    """The modules in the script's folder, by their paths in it, if it imports any of them.

    Raises:
        TooManyError, MetricFailure, OSError: as `Folders.modules`.
    """
    folder, own = os.path.split(path)
    beside = {
        os.fsencode(name.partition(".")[0])
        for name in os.listdir(folder)
        if name != own and not name.startswith(".")
    }
    if not beside:
        return ()
    names = imported(text)
    if names is not None and not beside & names:
        return ()
    return (folders or Folders()).modules(folder, own)


def manifest(
    files: Iterable[tuple[str, Content | str]], first: tuple[str, Content | str] | None = None
) -> str:
    """A line for each file, as `sha256sum` writes it, in the order of their paths.

    That of the `first` stands before all: which of them runs is a part of what runs.

    Beside its path stands what it holds, or the digest of that.

    A line whose path has an end of a line in it, or a backslash, begins with one.
    """

    def digest(file: tuple[str, Content | str]) -> tuple[str, str]:
        name, content = file
        return name, content if isinstance(content, str) else content.sha256

    digests = [*([digest(first)] if first else ()), *sorted(map(digest, files))]
    return "".join(_line(sum_, name) for name, sum_ in digests)


def is_manifest(text: bytes) -> bool:
    """Whether a text begins as a manifest does, and no script that somebody wrote."""
    return _MANIFEST.match(text) is not None


def _line(digest: str, path: str) -> str:
    plain = path.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
    return f"{'' if plain == path else chr(92)}{digest}  {plain}\n"


def copy(modules: Modules, folder: str, to: str) -> None:
    """Write the modules to an empty folder; what else lies beside the script is linked there.

    But for what says of packages that they are installed: the environment says that.

    A folder is linked where nothing can be imported from it: none that leads to another one. Of a
    link it is linked where it leads: in another process it can lead elsewhere.

    Raises:
        OSError: it cannot be written, or there is too much to look through.
    """
    try:
        walked = dict(_walk(folder))
    except TooManyError:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG)) from None
    root = real_path(folder)
    written = {name for name, _ in modules}
    made = {os.path.dirname(name) for name in written} | {""}
    known: dict[str, str] = {}
    for inside, entries in walked.items():
        # By what it cannot be linked as it is: who imports from it would find what is not pinned.
        if any(_is_apart(e, known) or _is_unknown_code(e, inside, written) for e in entries):
            made.add(inside)
    made |= {above for name in made for above in _above(name)}
    for inside in sorted(made):
        os.makedirs(os.path.join(to, inside), exist_ok=True)
        for entry in walked.get(inside, ()):
            name = os.path.join(inside, entry.name)
            if name in made or is_code(entry.name) or _is_private(entry.name):
                continue
            if name in walked or not _is_folder(entry, known):
                _link(entry, os.path.join(to, name), root, known)
    for name, data in modules:
        with open(os.path.join(to, name), "xb") as file:
            file.write(data)


def provide(modules: Modules, path: str, to: str) -> bool:
    """Fill an empty folder with what a script may import, and open, of what lies beside it.

    And whether something lies there that Python, or a package, could import, or take for a package
    that is installed there, or for a part of one.

    Raises:
        OSError: it cannot be read or written, or there is too much to look through.
    """
    folder, own = os.path.split(path)
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    known: dict[str, str] = {}
    is_importable = any(
        _is_folder(entry, known) or is_code(entry.name) or is_metadata(entry.name)
        for entry in entries
        if entry.name != own and not entry.name.startswith(".")
    )
    if modules or any(is_metadata(entry.name) for entry in entries):
        copy(modules, folder, to)
    elif is_importable:
        _link_files(entries, to, known)
    return is_importable


def _link_files(entries: Sequence[os.DirEntry[str]], to: str, known: dict[str, str]) -> None:
    """Link the files of a folder, but for code, into an empty one; none where there are many."""
    files = [
        entry
        for entry in entries[: MOST_FILES + 1]
        if os.path.isfile(followed(entry.path, known))
        and not (is_code(entry.name) or _is_private(entry.name))
    ]
    for entry in files if len(files) <= MOST_FILES else ():
        _link(entry, os.path.join(to, entry.name), os.path.dirname(entry.path), known)


def _link(entry: os.DirEntry[str], to: str, root: str, known: dict[str, str]) -> None:
    """Link what lies below a folder; of a link where it leads, unless that is nowhere in it."""
    if not entry.is_symlink():
        os.symlink(entry.path, to)
        return
    real = followed(entry.path, known)
    if is_below(real, root) and os.path.lexists(real):
        os.symlink(real, to)


def _code(folder: str) -> Iterator[tuple[str, str]]:
    """The code below a folder, as far as it is the script's to read: path in it, and real path.

    Raises:
        MetricFailure: a module is a link to what may be a password.
    """
    root = real_path(folder)
    private = Private(root)
    known: dict[str, str] = {}
    for inside, entries in _walk(folder):
        for entry in entries:
            if not is_code(entry.name) or _is_private(entry.name):
                continue
            # What is no link by its entry is opened as none, whatever comes to its place.
            real = followed(entry.path, known) if entry.is_symlink() else entry.path
            own = is_below(real, root) and (not entry.is_symlink() or lies_inside(real, root))
            name = os.path.join(inside, entry.name)
            if (
                own
                and os.path.isfile(real)
                and not private.hides_module(os.path.join(root, name), real)
            ):
                yield name, real


def _walk(folder: str) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Each folder below one, by its path in it, with its entries.

    A link to a folder is followed where that lies inside, and is none of those on the way to it.
    Of a folder that holds everything a person has nothing below is looked at.
    """
    root = real_path(folder)
    everything = holds_everything(root)
    pending: list[tuple[str, tuple[str, ...]]] = [("", (root,))]
    known: dict[str, str] = {}
    n = 0
    while pending:
        inside, way = pending.pop()
        try:
            entries = _entries(way[-1], files_alone=everything)
        except PermissionError:
            if not inside:
                raise
            continue  # nor is it the script's to look into
        n += len(entries) + 1
        if n > 100 * MOST_FILES:
            raise TooManyError
        yield inside, entries
        for entry in entries:
            if _is_private(entry.name):
                continue
            name = os.path.join(inside, entry.name)
            if entry.is_dir(follow_symlinks=False):
                pending.append((name, (*way, os.path.join(way[-1], entry.name))))
            elif entry.is_symlink() and os.path.isdir(real := followed(entry.path, known)):
                hidden = any(map(_is_private, real[len(root) :].split(os.sep)))
                if real.startswith(f"{root}{os.sep}") and not hidden and not _around(real, way):
                    pending.append((name, (*way, real)))


def _entries(folder: str, *, files_alone: bool) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [e for e in entries if not files_alone or e.is_file(follow_symlinks=False)]


def _around(folder: str, way: Sequence[str]) -> bool:
    """Whether a folder holds any of these, or is one."""
    return any(f"{other}/".startswith(f"{folder}/") for other in way)


def _is_apart(entry: os.DirEntry[str], known: dict[str, str]) -> bool:
    """Whether the folder around it cannot be linked as it is."""
    return entry.name in _CACHES or (entry.is_symlink() and _is_folder(entry, known))


def _is_folder(entry: os.DirEntry[str], known: dict[str, str]) -> bool:
    """Whether it is one, or leads to one by links of which some may be known."""
    return os.path.isdir(followed(entry.path, known)) if entry.is_symlink() else entry.is_dir()


def _is_unknown_code(entry: os.DirEntry[str], inside: str, written: Collection[str]) -> bool:
    return is_code(entry.name) and os.path.join(inside, entry.name) not in written


def is_metadata(name: str) -> bool:
    """Whether it says that a package is installed there, or a part of one: its version, plugins."""
    return name.lower().endswith(_METADATA)


def _is_private(name: str) -> bool:
    is_hidden = name.startswith(".") and name not in _LIBRARIES
    return is_hidden or name in _CACHES or is_metadata(name)


def _above(name: str) -> Sequence[str]:
    parts = name.split(os.sep)
    return [os.sep.join(parts[:n]) for n in range(1, len(parts))]
