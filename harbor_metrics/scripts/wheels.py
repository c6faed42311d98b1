"""A wheel that lies beside a script: whether it asks for what lies at an address.

uv reads archives by rules of its own. Of one that is odd in any way we do not know what it reads.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping
from struct import Struct, error

from ..documents.wording import printable
from ..errors import MetricFailure
from .requirements import is_plain

_END = Struct("<4s4H2LH")
_ENTRY = Struct("<4s6H3L5H2L")
_LOCAL = Struct("<4s5H3L2H")
_EXTRA = Struct("<2H")
# Times and users; others give names, sizes or ways to unpack that not everybody heeds.
_EXTRAS = {0x000A, 0x5455, 0x5855, 0x7875}
# How hard it was packed, and that names are UTF-8.
_FLAGS = 0x0806
_STORED, _DEFLATED = 0, 8
_MOST_METADATA, _MOST_LISTING = 4 << 20, 64 << 20
_SAFE = re.compile(r"[^\x00-\x1f\x7f\\:]+")
# What some take for the end of a line.
_OTHER_ENDS = re.compile(rb"[\x00\x0b\x0c\r\x1c-\x1e]")


class _OddError(Exception):
    """An archive that others may read otherwise."""


def _is_wheel(path: str) -> bool:
    """Whether a wheel is there."""
    return path.endswith(".whl") and os.path.isfile(path)


def check_wheels(packages: Mapping[str, str]) -> None:
    """Each package that is there is a wheel, by its name and by where that leads.

    uv takes it for what its name says.

    Raises:
        MetricFailure: one would be built.
    """
    for name, path in packages.items():
        if os.path.lexists(path) and not (name.endswith(".whl") and _is_wheel(path)):
            raise MetricFailure(
                "script-environment",
                "the environment of the script could not be made: "
                f"{printable(os.path.basename(name))} is not a wheel "
                "(--allow-build lets packages run their build code)",
            )


def asks_for_an_address(path: str) -> bool:
    """Whether a wheel may depend on what lies at an address, or cannot be asked."""
    if not _is_wheel(path):
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            metadata = _metadata(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, ValueError, error, zlib.error, _OddError):
        return True
    return _depends_on_an_address(metadata)


def _metadata(file: int) -> bytes:
    """The only METADATA of a wheel each of whose entries is told once, and the same in each place.

    Raises:
        OSError, ValueError, struct.error, zlib.error, _OddError: it is not such a wheel.
    """
    entries = _entries(file)
    folders = {name.partition("/")[0] for name in entries}
    if sum(folder.lower().endswith(".dist-info") for folder in folders) != 1:
        raise _OddError
    (name,) = [name for name in entries if _is_metadata(name.lower())]
    if not _is_metadata(name, "METADATA"):
        raise _OddError
    method, start, packed, size, digest = entries[name]
    if max(packed, size) > _MOST_METADATA:
        raise _OddError
    content = os.pread(file, packed, start)
    if method == _DEFLATED:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        content = unpacking.decompress(content, size + 1)
        if not unpacking.eof or unpacking.unused_data:
            raise _OddError
    if len(content) != size or zlib.crc32(content) != digest:
        raise _OddError
    return content


def _is_metadata(name: str, last: str = "metadata") -> bool:
    folder, _, rest = name.partition("/")
    return folder.endswith(".dist-info") and rest == last


def _entries(file: int) -> dict[str, tuple[int, int, int, int, int]]:
    """By name of each entry: method, where it starts, packed and whole size, checksum."""
    last = os.fstat(file).st_size - _END.size
    if last < 0:
        raise _OddError
    mark, disk, first_disk, here, n, size, start, comment = _END.unpack(
        os.pread(file, _END.size, last)
    )
    listing = os.pread(file, size, start) if size <= _MOST_LISTING else b""
    if (mark, disk, first_disk, here, comment) != (b"PK\5\6", 0, 0, n, 0):
        raise _OddError
    # The last twenty bytes would be where a longer form of the listing is.
    if start + size != last or len(listing) != size or listing[-20:-16] == b"PK\6\7":
        raise _OddError
    found: dict[str, tuple[int, int, int, int, int]] = {}
    seen: set[str] = set()
    at = place = 0
    for _ in range(n):
        (mark, _, _, flags, method, *told), rest = _ENTRY.unpack_from(listing, at), at + _ENTRY.size
        _, _, digest, packed, whole, n_name, n_extra, n_comment, disk, _, _, offset = told
        at = rest + n_name + n_extra
        name = listing[rest : rest + n_name]
        if (mark, n_comment, disk, offset) != (b"PK\1\2", 0, 0, place) or flags & ~_FLAGS:
            raise _OddError
        if method not in (_STORED, _DEFLATED) or (method == _STORED and packed != whole):
            raise _OddError
        head = os.pread(file, _LOCAL.size + n_name, place)
        local_mark, _, *local = _LOCAL.unpack_from(head)
        same = [flags, method, *told[:5], n_name]
        if local_mark != b"PK\3\4" or local[:8] != same or head[_LOCAL.size :] != name:
            raise _OddError
        n_local = local[8]
        data = place + len(head) + n_local
        _check_extra(listing[rest + n_name : at], n_extra)
        _check_extra(os.pread(file, n_local, place + len(head)) if n_local else b"", n_local)
        text = _name(name, flags)
        # Two that differ in case alone are one on some disks.
        if (folded := text.rstrip("/").casefold()) in seen:
            raise _OddError
        seen.add(folded)
        found[text] = (method, data, packed, whole, digest)
        place = data + packed
    if at != size or place != start:
        raise _OddError
    return found


def _name(name: bytes, flags: int) -> str:
    text = name.decode("utf-8" if flags & 0x0800 else "ascii")
    if not _SAFE.fullmatch(text) or {"", ".", ".."} & {*text.removesuffix("/").split("/")}:
        raise _OddError
    return text


def _check_extra(extra: bytes, length: int) -> None:
    if len(extra) != length:
        raise _OddError
    at = 0
    while at < length:
        kind, size = _EXTRA.unpack_from(extra, at)
        at += _EXTRA.size + size
        if kind not in _EXTRAS:
            raise _OddError
    if at != length:
        raise _OddError


def _depends_on_an_address(metadata: bytes) -> bool:
    # Its lines as wide as any reader of headers takes them; one may be encoded.
    text = metadata.replace(b"\r\n", b"\n")
    if _OTHER_ENDS.search(text, 0, text.find(b"\n\n") + 1 or len(text)):
        return True
    for line in re.sub(rb"\n[ \t]+", b" ", text).split(b"\n"):
        folded = line.lower()
        if b"requires-dist" not in folded:
            continue
        name, _, value = folded.partition(b":")
        if b"@" in line or b"=?" in line:
            return True
        if name.strip() == b"requires-dist" and not is_plain(value.decode("latin-1").strip()):
            return True
    return False
