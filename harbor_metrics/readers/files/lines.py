"""Blocks of whole lines from a file, and the lines of a block with their numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from . import fork

if TYPE_CHECKING:
    import hashlib

# What is decoded of a block fits into a processor's cache; more takes up to half as long again.
_BLOCK = 1 << 16
# Bytes from which on a second process is faster.
_HALVES_PAY = 4 << 20
# What is made of a line takes four times its memory, and no trial is as long.
MOST_OF_A_LINE = 64 << 20


class LongLineError(ValueError):
    """A line is longer than what is read of one."""


def blocks(path: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The file in pieces of about 64 KiB of whole lines; the last may lack its newline.

    `start` and `end` are offsets at which lines begin.

    Raises:
        LongLineError: a line is too long.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.lseek(descriptor, start, os.SEEK_SET)
        left = sys.maxsize if end is None else end - start
        carried: list[bytes] = []
        length = 0
        while block := os.read(descriptor, min(_BLOCK, left)):
            left -= len(block)
            whole = block.rfind(b"\n") + 1
            if whole:
                yield b"".join([*carried, block[:whole]])
                carried = [block[whole:]]
                length = len(block) - whole
            else:
                carried.append(block)
                length += len(block)
            if length > MOST_OF_A_LINE:
                raise LongLineError(f"a line of it is longer than {MOST_OF_A_LINE >> 20} MiB")
        if rest := b"".join(carried):
            yield rest
    finally:
        os.close(descriptor)


def digested(parts: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """The same blocks, of which the digest is taken as they are read."""
    for block in parts:
        digest.update(block)
        yield block


def halves(path: str, size: int) -> tuple[int, int]:
    """The offset of the second half, which a second process may read, and where that ends.

    Both are the same where one process is faster.
    """
    if size <= _HALVES_PAY or not fork.pays():
        return size, size
    with open(path, "rb") as file:
        file.seek(size // 2)
        file.readline()
        return min(file.tell(), size), size


def split(block: bytes) -> list[bytes]:
    """The lines of a block, blank ones too, without their ends."""
    lines = block.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    return lines


def each_line(block: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Line number and text of every line that is not blank."""
    for number, line in enumerate(block.split(b"\n"), first_line):
        if line.strip():
            yield number, line


def blank_lines(block: bytes, first_line: int) -> set[int]:
    """The numbers of the lines that hold nothing."""
    return {n for n, line in enumerate(split(block), first_line) if not line.strip()}
