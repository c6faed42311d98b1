"""A file as a user named it and where its bytes are: standard input and .gz, .zst unpacked."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from typing import IO, BinaryIO

import msgspec

from ...documents.files import reason
from ...documents.paths import STANDARD_INPUT
from ...documents.sizes import check_written
from ...documents.standard_input import standard_input
from ...documents.unchanged import Beginning, Unchanged
from ...errors import InputError
from .lines import MOST_OF_A_LINE
from .packed import (
    GZIP,
    MOST_PLAIN,
    MOST_TIMES,
    SKIPPABLE,
    ZIP,
    ZSTD,
    DamagedError,
    gunzipped,
    unzstd,
)

_BLOCK = 1 << 20
_DESCRIPTORS = "/proc/self/fd"
MOST_UNPACKED = 16 << 30


class File(msgspec.Struct, frozen=True):
    """`path` is for people, `local` for `open`; they differ where the bytes had to be unpacked.

    `beginning` is what it had at first, where others may write on.
    """

    path: str
    local: str
    beginning: Beginning | None = None

    @property
    def size(self) -> int:
        """How many bytes of it are read."""
        return os.path.getsize(self.local) if self.beginning is None else self.beginning.size

    def check(self, digest: str) -> None:
        """Refuse a file whose bytes, as far as they were read, no longer have this SHA-256.

        Raises:
            InputError: it is so.
        """
        if self.beginning is not None:
            self.beginning.check(digest)


@contextlib.contextmanager
def opened(path: str, most: int | None = None) -> Iterator[File]:
    """The file at a path, or standard input for `-`; what had to be unpacked is removed again.

    Of a file that is packed no more than about `most` bytes, where they are given, and the rest of
    the first line that is not blank.

    Raises:
        InputError: it is not a regular file, or it is compressed and its bytes are damaged; and in
            the end if it is an archive and was changed meanwhile. Of others `check` tells that.
    """
    if path == STANDARD_INPUT:
        with _unpacked(path, standard_input()) as file:
            yield file
        return
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError(f"{path} is a pipe or a device: neither a file nor a directory")
    with open(path, "rb") as stream:
        head = stream.read(len(ZSTD))
        if not head.startswith((GZIP, ZSTD, *SKIPPABLE)):
            if head.startswith(ZIP):
                unchanged = Unchanged([path])
                yield File(path, path)
                unchanged.check()
            else:
                _check_written(path, stream)
                yield File(path, path, Beginning(path))
            return
        stream.seek(0)
        with _unpacked(path, stream, most) as file:
            yield file


def _check_written(path: str, stream: BinaryIO) -> None:
    try:
        check_written(stream.fileno(), os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", "copy it anew") from error


@contextlib.contextmanager
def _unpacked(path: str, stream: BinaryIO, most: int | None = None) -> Iterator[File]:
    chunks = _Chunks(stream)
    with _temporary() as target:
        size = 0
        first_line = _FirstLine()
        try:
            for block in _plain(chunks):
                size += len(block)
                if size > MOST_UNPACKED:
                    raise InputError(
                        f"{path} unpacks to more than {MOST_UNPACKED >> 30} GiB, "
                        "the most that is read of a compressed file",
                        "unpack it and give its parts",
                    )
                if size > max(MOST_PLAIN, MOST_TIMES * chunks.size):
                    raise InputError(
                        f"{path} unpacks to more than {MOST_TIMES} times as many bytes as it has "
                        "packed, which is the most that is read",
                        "no file of trials is like that; if it is one, unpack it",
                    )
                target.write(block)
                if most is None:
                    continue
                first_line.go_on(block)
                if size >= most and (first_line.has_ended or size > MOST_OF_A_LINE + most):
                    break
        except DamagedError as error:
            raise InputError(f"{path} {error}", "copy it anew") from error
        target.flush()
        yield File(path, _path_of(target))


class _FirstLine:
    """The first line that is not blank, as it comes, where it may be an object."""

    has_begun = has_ended = False

    def go_on(self, block: bytes) -> None:
        """What comes next."""
        if self.has_ended:
            return
        line = block if self.has_begun else block.lstrip()
        if line:
            self.has_ended = b"\n" in line or not (self.has_begun or line.startswith(b"{"))
            self.has_begun = True


def _temporary() -> IO[bytes]:
    """A file that is gone when this process is, on Linux even when it is killed."""
    # For weight: most files are not packed.
    import tempfile

    if sys.platform == "linux" and os.path.isdir(_DESCRIPTORS):
        return tempfile.TemporaryFile()
    return tempfile.NamedTemporaryFile(prefix="harbor-metrics-")


def _path_of(file: IO[bytes]) -> str:
    name = file.name
    return name if isinstance(name, str) else f"{_DESCRIPTORS}/{file.fileno()}"


def _plain(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head = next(chunks, b"")
    # A pipe gives what it has: perhaps less than the four bytes that tell.
    while len(head) < len(ZSTD) and (more := next(chunks, b"")):
        head += more
    rest = _joined(head, chunks)
    if head.startswith(GZIP):
        return gunzipped(rest)
    return unzstd(rest) if head.startswith((ZSTD, *SKIPPABLE)) else rest


def _joined(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from chunks


class _Chunks(Iterator[bytes]):
    """The bytes of a stream, and how many it gave so far."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = 0

    def __next__(self) -> bytes:
        chunk = self._stream.read(_BLOCK)
        self.size += len(chunk)
        if not chunk:
            raise StopIteration
        return chunk
