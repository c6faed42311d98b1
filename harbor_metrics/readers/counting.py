"""Rewards and trials files read once, and counted instead of kept.

Only what is clean is counted. Where something must be said of a file, or too much in it differs,
the reader that keeps the trials begins anew.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..documents.unchanged import was_changed
from ..numbers.exact import Number
from ..trials.counted import Absent, CountedTable
from ..trials.counted_lines import CountedLines, LineCounts
from ..trials.counts import CountedTrials, NotCountableError
from ..trials.source import REFUSED, Counted, Source
from ..trials.trial import NO_GROUP, Trial
from .files import fork
from .files.file import File
from .files.lines import blocks, digested, halves, split
from .line_columns import MANY_KEYS, LineColumns, are_sparse, decode_line, repeat_often

# Bytes from which on it is worth it not to keep what is read.
COUNTS_PAY = 1 << 20
# So many trials tell whether most have a task of their own: to hand over the names of those takes
# longer than to count them.
_TELLING = 1 << 16
# More different lines than these are decoded as they come.
_MOST_LINES = 1 << 12


def pays(file: File) -> bool:
    """Whether a file is so large that its trials should not be kept where that can be."""
    return file.size >= COUNTS_PAY


def count_lines(file: File) -> Source | None:
    """The rewards file as a source of counts; None where it must be read otherwise."""
    lines = _Lines()
    digest = _digest_of_counted(file, lines)
    if digest is None:
        return None
    counts = lines.counts
    groups: Any = {NO_GROUP: CountedLines(counts)} if counts.n else {}
    return _source(file, counts.n, digest, Counted(groups, CountedTrials().seen))


def count_trials(file: File, decode: Callable[[bytes], list[Trial]]) -> Source | None:
    """The trials file as a source of counts; None where it must be read otherwise.

    `decode` gives the trials of a block of lines, or refuses it.
    """
    trials = _Trials(decode)
    digest = _digest_of_counted(file, trials)
    counts = trials.counts
    if digest is None or counts.seen.twice:
        return None
    groups: Any = {key: CountedTable(group) for key, group in counts.groups.items()}
    left_out: Any = {key: CountedTable(group) for key, group in counts.left_out.items()}
    return _source(file, counts.n, digest, Counted(groups, counts.seen, left_out))


def _source(file: File, n: int, digest: str, counted: Counted) -> Source:
    trials = Absent(n, "every trial")
    return Source(path=file.path, trials=trials, sha256=digest, counted=counted)


def _digest_of_counted(file: File, tally: _Lines | _Trials) -> str | None:
    """Count a file, and give its digest; None where it must be read otherwise."""
    if not pays(file):
        return None
    half, end = halves(file.local, file.size)
    try:
        return _count_in_halves(file.local, half, end, tally)
    except (NotCountableError, *REFUSED):
        return None


def _count_in_halves(path: str, half: int, end: int, tally: _Lines | _Trials) -> str:
    """Count a file, what follows its first half in a second process, and give its digest.

    Who writes to the file meanwhile must not make what is counted other bytes than the digest's.

    Raises:
        InputError: the second half was not the same each time.
        NotCountableError: the file cannot be counted.
        ValueError: a line cannot be read.
    """
    # For weight: only what two processes tell each other is pickled.
    import pickle

    def second() -> bytes:
        counted = hashlib.sha256()
        for block in digested(blocks(path, half, end), counted):
            tally.add(block)
            if tally.is_large:
                return pickle.dumps((None, b""))
        tally.finish()
        return pickle.dumps((tally.counts, counted.digest()))

    digest, of_half = hashlib.sha256(), hashlib.sha256()
    wait = fork.alongside(second) if half < end else None
    answer = None
    try:
        for block in digested(blocks(path, 0, half), digest):
            tally.add(block)
        for block in digested(blocks(path, half, end), digest):
            of_half.update(block)
    finally:
        answer = wait() if wait else None
    if wait is not None and not answer:
        raise NotCountableError("the second process could not count")
    # Our own process wrote it.
    counts, counted = pickle.loads(answer) if answer else (None, b"")  # noqa: S301
    if counts is None:
        counted = add_half(tally.add, path, half, end)
    tally.finish()
    if counted != of_half.digest():
        raise was_changed(path)
    if counts is not None:
        tally.counts += counts
    return digest.hexdigest()


def add_half(add: Callable[[bytes], None], path: str, start: int, end: int) -> bytes:
    """Read what a file has from `start` to `end`, and give the SHA-256 of what was read."""
    read = hashlib.sha256()
    for block in digested(blocks(path, start, end), read):
        add(block)
    return read.digest()


class _Trials:
    """Trials counted block by block."""

    def __init__(self, decode: Callable[[bytes], list[Trial]]) -> None:
        self.counts = CountedTrials()
        self._decode = decode

    def add(self, block: bytes) -> None:
        """Count the trials of a block.

        Raises:
            NotCountableError: too many tasks differ.
            ValueError: a line is not a trial.
        """
        self.counts.add(self._decode(block))

    @property
    def is_large(self) -> bool:
        """Whether another process would take longer to be told the counts than to count."""
        return self.counts.n > _TELLING and 2 * self.counts.n_tasks > self.counts.n

    def finish(self) -> None:
        """All is counted as it comes."""


class _Lines:
    """Lines counted as texts while few differ, else decoded block by block."""

    def __init__(self) -> None:
        self.counts = LineCounts()
        self._texts: Counter[bytes] = Counter()
        self._columns = LineColumns()
        self._sparse = False
        self._n_keys = 0

    def add(self, block: bytes) -> None:
        """Count the lines of a block.

        Raises:
            NotCountableError: a line is blank.
            ValueError: a line is not an object of rewards.
        """
        lines = split(block)
        self.counts.n += len(lines)
        if len(self._texts) < _MOST_LINES and repeat_often(lines):
            self._texts.update(lines)
            return
        if self._is_sparse(lines):
            rows = list(map(decode_line, lines))
            keys = self.counts.keys.keys() | set[str]().union(*filter(None, rows))
            self._columns.pass_by(len(keys), rows)
            for row in rows:
                self._count(row, 1)
            return
        if self._columns.add(block) != self._columns.n:
            raise NotCountableError("a blank line")
        n, columns, empty = self._columns.take()
        for key, column in columns.items():
            self.counts.key(key).add([value for value in column if value is not None])
        self.counts.n_empty += len(empty)
        self.counts.n_scored += n - _n_blank(n, list(columns.values())) + len(empty)

    def _is_sparse(self, lines: list[bytes]) -> bool:
        """Whether rows are counted one by one, as from the first block on that has many gaps."""
        known = self._columns.columns.keys()
        # Looked at anew where keys came since: it takes as long as a tenth of the reading.
        if not self._sparse and (not known or len(known) > max(self._n_keys, MANY_KEYS)):
            self._n_keys = len(known)
            self._sparse = are_sparse(lines, set(known))
        return self._sparse

    @property
    def is_large(self) -> bool:
        """Whether another process would take longer to be told the counts than to count."""
        return False

    def finish(self) -> None:
        """Decode every different text once."""
        for line, times in self._texts.items():
            self._count(decode_line(line), times)

    def _count(self, rewards: dict[str, Number] | None, times: int) -> None:
        if rewards is None:
            return
        self.counts.n_scored += times
        self.counts.n_empty += 0 if rewards else times
        for key, value in rewards.items():
            self.counts.key(key).add_times(value, times)


def _n_blank(n: int, columns: list[list[Number | None]]) -> int:
    """In how many of n rows every column lacks a value."""
    if len(columns) == 1:
        return columns[0].count(None)
    return list(zip(*columns, strict=True)).count((None,) * len(columns)) if columns else n
