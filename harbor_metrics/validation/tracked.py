"""What the index of a git repository has, by names alone; no program is run."""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from collections.abc import Callable, Iterator

from ..documents.files import open_regular, reason
from ..documents.paths import may_be_there
from ..documents.sizes import whole
from .repositories import git_folder

# A repository of some million files has no larger one.
_MOST = 1 << 30
_HEAD = struct.Struct(">4sII")
_EXTENSION = struct.Struct(">4sI")
_FLAGS = struct.Struct(">H")
# What stands before the digest of an entry: times, device, inode, mode, owners and size.
_STATUS = 40
_LONG, _EXTENDED = 0xFFF, 0x4000
# No system opens a longer path; in version 4 each name can be nearly the one before it.
_LONGEST_NAME, _MOST_OF_NAMES = 4_096, 256 << 20
_DIGESTS = (hashlib.sha1, hashlib.sha256)


class _DamagedError(Exception):
    """What is called an index is not one that we can read."""


class Tracked:
    """Which paths of a repository its index has, and below which folders.

    It is read when it is first asked. Where it cannot be read it is taken to have everything, and
    `unread` says why.
    """

    def __init__(self, top: str | None, is_wanted: Callable[[str], bool]) -> None:
        self._top = top
        self._is_wanted = is_wanted
        self._paths: set[str] | None = set() if top is None else None
        self._folders: set[str] = set()
        # Folders of a sparse index, each of which stands for all that is in it.
        self._sparse: set[str] = set()
        self.unread = ""

    def has(self, path: str, *, is_folder: bool) -> bool:
        """Whether a real path is in the index, or below the folder there something wanted is."""
        if self._paths is None:
            self._paths = set()
            self._read(os.path.join(self._top or "", ""))
        if self.unread:
            return True
        name = _folded(path.removeprefix(os.path.join(self._top or "", "")))
        if name in (self._folders if is_folder else self._paths):
            return True
        within = [name, *_above(name)] if self._sparse else ()
        return any(folder in self._sparse for folder in within)

    def _read(self, top: str) -> None:
        index = os.path.join(top, ".git")
        try:
            folder = git_folder(top)
            index = os.path.join(folder, "index")
            found = names_in(folder) if may_be_there(index) else ()  # nothing was ever added
        except OSError as error:
            self.unread = f"{index}: {reason(error)}"
        except _DamagedError as error:
            self.unread = f"{index}: {error}"
        else:
            self._keep(map(os.fsdecode, found))

    def _keep(self, names: Iterator[str]) -> None:
        assert self._paths is not None
        for name in names:
            path = _folded(name)
            if path.endswith("/"):
                self._sparse.add(path[:-1])
            elif self._is_wanted(name.rpartition("/")[2]):
                self._paths.add(path)
        for path in (*self._paths, *self._sparse):
            for folder in _above(path):
                if folder in self._folders:
                    break
                self._folders.add(folder)


def names_in(folder: str) -> set[bytes]:
    """The paths that the index in a folder of git has; a folder of a sparse index ends in `/`.

    Raises:
        OSError: a file of it cannot be read.
        _DamagedError: it is not whole, or not of a kind that is known.
    """
    data = _content(folder, "index")
    # It does not say by which digest it names things. Where both fit, which only an index without
    # a checksum can make them, it has what either way is read.
    found = []
    wrong = _DamagedError("its checksum does not fit")
    for size in _fitting(data):
        try:
            names, link = _parsed(data, size)
            found.append(names if link is None else _split(folder, size, names, link))
        except _DamagedError as error:
            wrong = error
    if not found:
        raise wrong
    return {name for names in found for name in names}


def _content(folder: str, name: str) -> bytes:
    with open_regular(os.path.join(folder, name)) as file:
        return whole(file, _MOST)


def _fitting(data: bytes) -> Iterator[int]:
    """The sizes of the digests that the last bytes can be the checksum by."""
    for digest in _DIGESTS:
        size = digest().digest_size
        checksum = data[-size:]
        # Zeros: git was told to write none.
        if checksum in (bytes(size), digest(data[:-size], usedforsecurity=False).digest()):
            yield size


def _parsed(data: bytes, size: int) -> tuple[list[bytes], bytes | None]:
    """The names of an index with digests of a size, and what it says of one that it shares."""
    try:
        names, at = _entries(data, size)
        return names, _link(data, at, len(data) - size)
    except struct.error as error:
        raise _DamagedError("it ends too early") from error


def _entries(data: bytes, size: int) -> tuple[list[bytes], int]:
    """The names of all entries in their order, and where these end."""
    magic, version, n = _HEAD.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise _DamagedError("it is none of version 2, 3 or 4")
    names = []
    name = b""
    length = 0
    at = _HEAD.size
    for _ in range(n):
        begin = at
        (flags,) = _FLAGS.unpack_from(data, at + _STATUS + size)
        at += _STATUS + size + (4 if flags & _EXTENDED else 2)
        kept = 0
        if version == 4:
            dropped, at = _number(data, at)
            kept = len(name) - dropped
        end = data.find(b"\0", at)
        name = name[: max(kept, 0)] + data[at:end]
        if kept < 0 or end < 0 or min(len(name), _LONG) != flags & _LONG:
            raise _DamagedError("a name in it is not as long as it says")
        length += len(name)
        if len(name) > _LONGEST_NAME or length > _MOST_OF_NAMES:
            raise _DamagedError("it has longer names than any, or too many of them")
        names.append(name)
        # One to eight zeros, but in version 4.
        at = end + 1 if version == 4 else begin + ((end - begin) // 8 + 1) * 8
    return names, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of any length, seven bits a byte, and where it ends."""
    number = -1
    while True:
        byte = data[at] if at < len(data) else 0
        number = (number + 1) << 7 | byte & 0x7F
        at += 1
        if byte < 0x80 or number > _MOST:
            return number, at


def _link(data: bytes, at: int, end: int) -> bytes | None:
    """What the extensions say of a shared index; None where there is none."""
    link = None
    while at < end:
        kind, length = _EXTENSION.unpack_from(data, at)
        at += _EXTENSION.size
        if kind == b"link":
            link = data[at : at + length]
        elif not kind[:1].isupper() and kind != b"sdir":
            raise _DamagedError("it has an extension that is not known")
        at += length
    if at != end:
        raise _DamagedError("it does not end where it says")
    return link


def _split(folder: str, size: int, names: list[bytes], link: bytes) -> list[bytes]:
    """The names of an index that has another one but for what it says of that."""
    base = link[:size]
    if not any(base):
        return names
    data = _content(folder, f"sharedindex.{base.hex()}")
    if size not in _fitting(data):
        raise _DamagedError("the checksum of the index that it shares does not fit")
    shared, further = _parsed(data, size)
    if further is not None:
        raise _DamagedError("the index that it shares shares another one")
    try:
        removed = _bits(link[size:], len(shared))
    except struct.error as error:
        raise _DamagedError("what it says of the index that it shares ends too early") from error
    kept = (name for i, name in enumerate(shared) if i not in removed)
    # What is there instead of a shared entry has no name of its own.
    return [name for name in (*names, *kept) if name]


def _bits(data: bytes, most: int) -> set[int]:
    """Which bits below a number are set in a bitmap as git packs it (EWAH)."""
    found: set[int] = set()
    if not data:
        return found
    _, n_words = struct.unpack_from(">II", data)
    words = struct.unpack_from(f">{n_words}Q", data, 8)
    at = bit = 0
    while at < n_words and bit < most:
        # One bit, how many words are of it, and how many words that are themselves follow.
        word = words[at]
        run, n_own = 64 * (word >> 1 & 0xFFFFFFFF), word >> 33
        if word & 1:
            found.update(range(bit, min(bit + run, most)))
        bit += run
        for own in words[at + 1 : at + 1 + n_own]:
            found.update(bit + i for i in range(64) if own >> i & 1)
            bit += 64
        at += 1 + n_own
    return found


def _above(path: str) -> Iterator[str]:
    """The folders above what lies there, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _folded(path: str) -> str:
    """A path as systems compare it that tell neither capitals nor forms of a letter apart."""
    if sys.platform != "darwin":
        return path
    # For weight: only macOS needs it.
    from unicodedata import normalize

    return normalize("NFC", normalize("NFC", path).casefold())
