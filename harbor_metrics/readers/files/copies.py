"""Files that have the bytes of another."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator

# The end says what is in a Parquet and in an archive, and those of one size mostly differ there.
_END = 1 << 16


def copies(files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each file with the first one that has the same bytes; only those of one size are read.

    What is not there is no copy.
    """
    sizes: dict[int, list[str]] = {}
    for file in files:
        if os.path.exists(file):
            sizes.setdefault(os.path.getsize(file), []).append(file)
    for size, of_size in sizes.items():
        ends: dict[bytes, list[str]] = {}
        for file in of_size if len(of_size) > 1 else ():
            ends.setdefault(_end(file, size), []).append(file)
        for alike in ends.values():
            first: dict[bytes, str] = {}
            for file in alike if len(alike) > 1 else ():
                other = first.setdefault(_digest(file), file)
                if other != file:
                    yield file, other


def _end(file: str, size: int) -> bytes:
    with open(file, "rb") as stream:
        stream.seek(max(0, size - _END))
        return hashlib.sha256(stream.read(_END)).digest()


def _digest(file: str) -> bytes:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
