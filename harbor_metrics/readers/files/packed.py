"""Packed bytes, unpacked piece by piece, so that a few bytes cannot fill the memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import zlib

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
# Frames that hold no data and may come first, as pzstd and indexes put them.
SKIPPABLE = tuple(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))
# A few kilobytes can unpack to petabytes. Above so many bytes nothing may unpack to more than so
# many times its packed size.
MOST_PLAIN, MOST_TIMES = 64 << 20, 500
_PIECE = 1 << 20
# What is handed on at once: the rest of it is copied for each frame or member that begins in it.
_BITE = 1 << 13


class DamagedError(ValueError):
    """The packed bytes are broken or end too early; the message says which."""


def _bites(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _BITE):
            yield chunk[start : start + _BITE]


def gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes packed in gzip members; several may follow each other, as `cat a.gz b.gz` does."""
    # For weight: most files are not packed.
    import zlib

    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        for bite in _bites(chunks):
            data = bite
            while data:
                if member.eof:
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                yield from _pieces(member, data)
                data = member.unused_data
    except zlib.error as error:
        raise DamagedError(f"is damaged: gzip: {error}") from error
    if not member.eof:
        raise DamagedError("is cut off: its gzip stream has no end")


def _pieces(member: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What the data unpacks to, all of it: a member may hold some back when it has taken all."""
    piece = member.decompress(data, _PIECE)
    while piece and not member.eof:
        yield piece
        piece = member.decompress(member.unconsumed_tail, _PIECE)
    yield piece


def inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes packed in the deflate stream of a zip member."""
    # For weight, as well.
    import zlib

    member = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for chunk in chunks:
            if not member.eof:
                yield from _pieces(member, chunk)
    except zlib.error as error:
        raise DamagedError(f"is damaged: deflate: {error}") from error
    if not member.eof:
        raise DamagedError("is cut off: its deflate stream has no end")


def unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes packed in zstd frames; several may follow each other."""
    if sys.version_info >= (3, 14):
        # For weight: most files are not packed.
        from compression import zstd
    else:
        # For weight, as well.
        from backports import zstd

    frame = zstd.ZstdDecompressor()
    try:
        for bite in _bites(chunks):
            data = bite
            while data:
                if frame.eof:
                    frame = zstd.ZstdDecompressor()
                yield frame.decompress(data, _PIECE)
                while not frame.eof and not frame.needs_input:
                    yield frame.decompress(b"", _PIECE)
                data = frame.unused_data
    except zstd.ZstdError as error:
        raise DamagedError(f"is damaged: {error}") from error
    if not frame.eof:
        raise DamagedError("is cut off: its zstd frame has no end")
