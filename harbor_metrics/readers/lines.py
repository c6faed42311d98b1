"""Blocks of whole lines from a file, and the careful look at a block that a decoder refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..diagnostics import Diagnostic
from ..document import Document, parse
from .source import REFUSED

_BLOCK = 1 << 20


def blocks(path: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The file in pieces of about a megabyte of whole lines; the last may lack its newline.

    `start` and `end` are offsets at which lines begin.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.lseek(descriptor, start, os.SEEK_SET)
        left = sys.maxsize if end is None else end - start
        carried: list[bytes] = []
        while block := os.read(descriptor, min(_BLOCK, left)):
            left -= len(block)
            whole = block.rfind(b"\n") + 1
            if whole:
                yield b"".join([*carried, block[:whole]])
                carried = [block[whole:]]
            else:
                carried.append(block)
        if rest := b"".join(carried):
            yield rest
    finally:
        os.close(descriptor)


def middle(path: str) -> int:
    """The offset of the first line that begins in the second half of the file."""
    with open(path, "rb") as file:
        file.seek(os.path.getsize(path) // 2)
        file.readline()
        return file.tell()


def each_line(block: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Line number and text of every line that is not blank."""
    for number, line in enumerate(block.split(b"\n"), first_line):
        if line.strip():
            yield number, line


def blank_lines(block: bytes, first_line: int) -> set[int]:
    """The numbers of the lines that hold nothing."""
    lines = block.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    return {n for n, line in enumerate(lines, first_line) if not line.strip()}


def salvage(
    block: bytes,
    first_line: int,
    path: str,
    decode: Callable[[bytes], Any],
    explain: Callable[[Document, int], list[Diagnostic]],
) -> Iterator[tuple[int, Any, list[Diagnostic]]]:
    """Each line's number, and its row, or None with the reasons why it has none."""
    for number, line in each_line(block, first_line):
        try:
            row = decode(line)
        except REFUSED as error:
            document, found = parse(line, path, first_line=number)
            if not found and document is not None:
                found = explain(document, number)
            if not found:
                found = [
                    Diagnostic(rule="unread-line", message=f"line {number}: {error}", path=path)
                ]
            yield number, None, found
        else:
            yield number, row, []
