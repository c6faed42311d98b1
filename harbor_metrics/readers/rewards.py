"""Rewards as Harbor hands them to metric scripts: an object of numbers or `null` a line."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.document import Document
from ..documents.unchanged import was_changed
from ..documents.wording import article, printable
from ..numbers.exact import Number
from ..trials.rewards import check
from ..trials.source import REFUSED, Source
from ..trials.trial import NO_GROUP, LineTrials, Trial
from .counting import add_half, count_lines, pays
from .files import fork
from .files.file import File
from .files.lines import blank_lines, halves
from .files.spool import Spool
from .line_columns import LineColumns, decode_line
from .reading import Options, Reading
from .recognition import FITS, Fit, Head

_Half = tuple[int, dict[str, list[Number | None]], set[int]]


class _Lines:
    """What is known after some blocks of lines."""

    def __init__(self, file: File) -> None:
        self.reading = Reading(file)
        self.columns = LineColumns()
        self.n = self._n_taken = 0
        self.skipped: set[int] = set()

    def add(self, block: bytes) -> None:
        """Read one more block; a line that cannot be read is explained."""
        first_line, before = self.n + 1, self.columns.n
        try:
            size = self.columns.add(block)
        except REFUSED:
            rows = dict(self.reading.salvage(block, first_line, decode_line, _explain))
            self.columns.add(msgspec.json.Encoder().encode_lines(rows.values()))
            size = block.count(b"\n") + (block[-1:] != b"\n")
            self.skipped |= set(range(first_line, first_line + size)) - rows.keys()
        self.n += size
        if self.columns.n - before < size:
            self.skipped |= blank_lines(block, first_line)

    def take(self) -> LineTrials:
        """The trials since the last time; they are kept here no longer."""
        n, columns, empty = self.columns.take()
        lines = range(self._n_taken + 1, self.n + 1)
        self._n_taken, skipped, self.skipped = self.n, self.skipped, set()
        numbers = [number for number in lines if number not in skipped] if skipped else lines
        return LineTrials(n, columns, frozenset(empty), numbers)


def fit(head: Head) -> Fit:
    """A first line that is an object of numbers, for the greater part at least; or only nulls."""
    line = head.line
    if line is None and not (head.broken or head.members or head.is_array or head.is_zip):
        return FITS
    if not isinstance(line, dict):
        if line is None and not (head.members or head.is_array):
            return Fit(0.1, "its first line is no JSON")
        if head.is_array:
            return Fit(0.5, "it is a JSON array; JSONL has an object or null a line")
        if line is None:
            return Fit(0.2, "rewards come as JSONL, an object of numbers or null a line")
        return Fit(0.6, 'the lines are bare values; write `{"reward": 0.5}`, not `0.5`')
    if isinstance(line.get("rewards"), dict):
        return Fit(0.4, "rewards are flat, and `rewards` is an object")
    numbers = sum(type(value) in (int, float, bool) for value in line.values())
    if len(line) <= 1 or 2 * numbers >= len(line):
        return FITS
    other = next(key for key, value in line.items() if type(value) not in (int, float, bool))
    return Fit(
        numbers / len(line),
        f"rewards are flat objects of numbers, and `{printable(other)}` is {article(line[other])}",
    )


def read(file: File, options: Options) -> list[Source]:
    """One source; its trials take 32 bytes a number, and nothing where counts will do."""
    if options.counts and (source := count_lines(file)):
        return [source]
    lines = _Lines(file)
    reading = lines.reading
    if options.spool and pays(file):
        spool = Spool(ordered=True)
        for _, block in reading.blocks():
            lines.add(block)
            spool.extend(lines.take())
        return [_source(reading, spool)]
    half, end = halves(file.local, file.size)
    of_half = sha256()
    wait = fork.alongside(lambda: _second_half(file, half, end)) if half < end else None
    answer = None
    try:
        for _, block in reading.blocks(0, half):
            lines.add(block)
        # Takes the digest while the other process reads.
        for _, block in reading.blocks(half, end):
            of_half.update(block)
    finally:
        answer = wait() if wait else None
    if answer:
        second, digest = msgspec.msgpack.decode(answer, type=tuple[_Half, bytes])
        lines.columns.extend(*second)
        lines.n += second[0]
    else:
        digest = add_half(lines.add, file.local, half, end)
    if digest != of_half.digest():
        raise was_changed(file.path)
    return [_source(reading, lines.take())]


def _source(reading: Reading, trials: Sequence[Trial]) -> Source:
    return reading.source(trials=trials, unread=[NO_GROUP] * reading.n_unread, by_place=True)


def _second_half(file: File, start: int, end: int) -> bytes:
    """The columns of the lines from `start` to `end`, unless something must be said about them."""
    lines = _Lines(file)
    digest = add_half(lines.add, file.local, start, end)
    if lines.skipped:
        return b""
    columns = lines.columns
    half: _Half = (columns.n, columns.columns, columns.empty)
    return msgspec.msgpack.encode((half, digest))


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check(document, [], f"line {number}")
