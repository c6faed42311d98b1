"""Trials that lie in a temporary file, so that any number of them takes little memory."""

from __future__ import annotations

import contextlib
import heapq
import os
import weakref
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import BinaryIO

import msgspec

from ...trials.trial import Trial, place_of
from .lines import split

# So many bytes of trials are sorted at once, and of each part so many are read at once.
_PART, _PIECE = 16 << 20, 1 << 16
_LINES = 1_024
_encode_lines = msgspec.json.Encoder().encode_lines
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Trial).decode


def _close(file: BinaryIO) -> None:
    # A full disk was said where it was written to.
    with contextlib.suppress(OSError):
        file.close()


class Spool(Sequence[Trial]):
    """Trials in canonical order, or as they come where they are `ordered`.

    They are sorted part by part, and the parts merged whenever they are asked for.
    """

    def __init__(self, *, ordered: bool = False) -> None:
        # For weight: few trials are spooled.
        import tempfile

        self._ordered = ordered
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the spool
        weakref.finalize(self, _close, self._file)
        # Where each part ends.
        self._ends = [0]
        self._waiting: list[tuple[tuple[str | int, ...], bytes]] = []
        self._size = self._n = 0

    def extend(self, trials: Sequence[Trial]) -> None:
        """Put trials behind those that are there."""
        self._n += len(trials)
        if self._ordered:
            self._size += self._file.write(_encode_lines(trials))
            return
        for trial in trials:
            line = _encode(trial) + b"\n"
            self._waiting.append((place_of(trial), line))
            self._size += len(line)
            if self._size >= _PART:
                self._end_part()

    def _end_part(self) -> None:
        if not self._size:
            return
        self._waiting.sort(key=itemgetter(0))
        self._file.writelines(line for _, line in self._waiting)
        begun = [0] if self._ordered else self._ends
        self._ends = [*begun, self._ends[-1] + self._size]
        self._waiting, self._size = [], 0

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Trial:  # type: ignore[override]  # no slices: never needed
        raise TypeError("spooled trials are read one after the other")

    def __iter__(self) -> Iterator[Trial]:
        return heapq.merge(*map(_decoded, self._parts()), key=place_of)

    def blocks(self) -> Iterator[bytes]:
        """The lines of the trials."""
        parts = self._parts()
        if len(parts) == 1:
            yield from parts[0]
            return
        trials = iter(self)
        while some := list(islice(trials, _LINES)):
            yield _encode_lines(some)

    def _parts(self) -> list[Iterator[bytes]]:
        self._end_part()
        self._file.flush()
        return list(map(self._part, self._ends, self._ends[1:]))

    def _part(self, start: int, end: int) -> Iterator[bytes]:
        rest = b""
        for at in range(start, end, _PIECE):
            piece = rest + os.pread(self._file.fileno(), min(_PIECE, end - at), at)
            whole = piece.rfind(b"\n") + 1
            yield piece[:whole]
            rest = piece[whole:]


def _decoded(blocks: Iterator[bytes]) -> Iterator[Trial]:
    return (_decode(line) for block in blocks for line in split(block))
