"""Members of a zip archive, read with distrust; zstd too, which `zipfile` learns in Python 3.14."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from ...errors import InputError
from .file import File
from .packed import MOST_PLAIN, MOST_TIMES, DamagedError, inflated, unzstd

if TYPE_CHECKING:
    from zipfile import ZipInfo

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_END_MARK, _LARGE_MARK, _LOCATOR_MARK = b"PK\5\6", b"PK\6\6", b"PK\6\7"
# The ends of archives: how many members, the bytes of their list, and its place.
_END, _LARGE_END = struct.Struct("<8xHHLL2x"), struct.Struct("<24xQQQQ")
_LOCATOR = struct.Struct("<8xQ4x")
# What stands in an end where the larger one has it.
_ELSEWHERE = (0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
_LONGEST_END = _END.size + (1 << 16)
_ENCRYPTED, _IN_UTF_8 = 0x1, 0x800
# What a member says of itself where it stands: flags, method, the lengths of its name and the rest.
_LOCAL_HEADER = struct.Struct("<6xHH16xHH")
_EXTRA = struct.Struct("<HH")
_UNICODE_NAME = 0x7075
_CHUNK = 1 << 16
_UNPACK: dict[int, Callable[[Iterator[bytes]], Iterator[bytes]]] = {
    _STORED: iter,
    _DEFLATED: inflated,
    _ZSTD: unzstd,
}
# No part of a real log comes near this.
MOST_BYTES = 2 << 30


def _says_where(stream: BinaryIO, start: int) -> bool:
    """Whether the end of an archive names the place where its list of members stands."""
    # As far from the end as a comment of an archive can be long.
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - _LONGEST_END))
    at, tail = stream.tell(), stream.read()
    end = len(tail) - _END.size
    if tail[end : end + 4] != _END_MARK or tail[-2:] != b"\0\0":
        end = tail.rfind(_END_MARK)
    if end < 0 or len(tail) - end < _END.size:
        return False
    said = _END.unpack_from(tail, end)
    # Of an archive of more than 4 GiB another end stands before the locator of it.
    place = max(0, at + end - _LOCATOR.size - _LARGE_END.size)
    stream.seek(place)
    large, locator = stream.read(_LARGE_END.size), stream.read(_LOCATOR.size)
    if locator[:4] != _LOCATOR_MARK:
        return bool(said[-1] == start)
    # Some readers heed it only where the end says nothing, and others always.
    meant = _LARGE_END.unpack(large)
    same = all(a in (b, other) for a, b, other in zip(said, meant, _ELSEWHERE, strict=True))
    return large[:4] == _LARGE_MARK and bool(
        same and meant[-1] == start and _LOCATOR.unpack(locator) == (place,)
    )


def _name(info: ZipInfo) -> str:
    """The name of a member as Inspect reads it: in UTF-8, whether or not it is marked as that."""
    if info.flag_bits & _IN_UTF_8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _other_name(info: ZipInfo) -> bool:
    """Whether a member has a second name that it is not called by: Python reads it since 3.13.

    Or a NUL, at which a name ends for some.
    """
    if "\0" in info.orig_filename:
        return True
    extra = info.extra
    while len(extra) >= _EXTRA.size:
        kind, length = _EXTRA.unpack_from(extra)
        if kind == _UNICODE_NAME and extra[9 : 4 + length] != info.orig_filename.encode():
            return True
        extra = extra[_EXTRA.size + length :]
    return False


class Archive:
    """The members of an archive by name; of those `repeated` in it the last counts."""

    def __init__(self, file: File) -> None:
        # Inside, for weight: a job or a rewards file needs nothing of it.
        import zipfile

        self.path = file.path
        try:
            self._stream = open(file.local, "rb")  # noqa: SIM115  # closed by __exit__
            directory = zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError) as error:
            self._stream.close()
            raise InputError(
                f"{file.path} is not a whole zip archive: {str(error)[:1].lower()}{str(error)[1:]}",
                "it was cut off or damaged; copy it anew, or mend it with `inspect log recover`",
            ) from error
        if not _says_where(self._stream, directory.start_dir):
            self._stream.close()
            raise InputError(
                f"{file.path} is a zip archive whose end names another place for its list of "
                "members than where it stands, and readers differ in which they take",
                "copy it anew; Inspect writes nothing before or between",
            )
        for info in directory.filelist:
            if _other_name(info):
                self._stream.close()
                raise self._refused(
                    info.filename,
                    "has a second name, and readers differ in which they take",
                    "copy it anew; Inspect gives each member one",
                )
        self._members = {_name(info): info for info in directory.filelist}
        names = Counter(map(_name, directory.filelist))
        self.repeated = [name for name, count in names.items() if count > 1]
        self._left = max(MOST_PLAIN, MOST_TIMES * os.path.getsize(file.local))

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @property
    def names(self) -> list[str]:
        """The names of the members, as they follow each other."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def size(self, name: str) -> int:
        """How many bytes a member says that it unpacks to."""
        return self._members[name].file_size

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            InputError: it is encrypted, damaged, too large, or packed in a way that is not read.
        """
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise self._refused(name, "is encrypted", "give the log without a password")
        if info.file_size > MOST_BYTES:
            raise self._refused(
                name,
                f"would unpack to {info.file_size:,} bytes; "
                f"the most that is read is {MOST_BYTES >> 30} GiB",
                "it is no log that Inspect wrote",
            )
        if info.file_size > max(MOST_PLAIN, MOST_TIMES * info.compress_size):
            raise self._refused(
                name,
                f"would unpack to {info.file_size:,} bytes, "
                f"{info.file_size // max(info.compress_size, 1):,} times as many as it has packed",
                f"no log is like that; at most {MOST_TIMES} times is read",
            )
        self._left -= info.file_size
        if self._left < 0:
            raise self._refused(
                name,
                "and those before it would unpack to far more than they are packed",
                f"at most {MOST_TIMES} times the size of the archive is read; members that "
                "share their bytes were not written by Inspect",
            )
        unpack = _UNPACK.get(info.compress_type)
        if unpack is None:
            raise self._refused(
                name,
                f"is packed by zip method {info.compress_type}; stored, deflate and zstd are read",
                "pack the log anew",
            )
        # Its bytes are handed on without another copy.
        whole = io.BytesIO()
        size = check = 0
        try:
            for part in unpack(self._packed(info)):
                size += len(part)
                if size > info.file_size:
                    raise self._refused(name, "unpacks to more than it says", "copy it anew")
                check = zlib.crc32(part, check)
                whole.write(part)
        except DamagedError as error:
            raise self._refused(name, str(error), "copy it anew") from error
        if size != info.file_size or check != info.CRC:
            raise self._refused(name, "is damaged: its checksum is another", "copy it anew")
        return whole.getvalue()

    def _packed(self, info: ZipInfo) -> Iterator[bytes]:
        self._stream.seek(info.header_offset)
        header = self._stream.read(_LOCAL_HEADER.size)
        if header[:4] != b"PK\x03\x04" or len(header) < _LOCAL_HEADER.size:
            raise DamagedError("is damaged: it does not begin where the archive says")
        flags, method, length, extra = _LOCAL_HEADER.unpack(header)
        encoding = "utf-8" if info.flag_bits & _IN_UTF_8 else "cp437"
        name = self._stream.read(length).decode(encoding, "replace")
        if name != info.orig_filename or (flags ^ info.flag_bits) & _ENCRYPTED:
            raise DamagedError("says otherwise where it stands than in the list of members")
        if method != info.compress_type:
            raise DamagedError("is packed otherwise than the list of members says")
        self._stream.seek(extra, 1)
        left = info.compress_size
        while left and (chunk := self._stream.read(min(_CHUNK, left))):
            left -= len(chunk)
            yield chunk

    def _refused(self, name: str, reason: str, advice: str) -> InputError:
        return InputError(f"{self.path}: member {name} {reason}", advice)
