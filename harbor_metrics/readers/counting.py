"""Rewards and trials files read once, and counted instead of kept.

Only what is clean is counted. Where something must be said of a file, or too much in it differs,
the reader that keeps the trials begins anew.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..numbers.exact import Number
from ..trials.counted import Absent, CountedTable
from ..trials.counted_lines import CountedLines, LineCounts
from ..trials.counts import CountedTrials, NotCountableError
from ..trials.source import REFUSED, Counted, Source
from ..trials.trial import NO_GROUP, Trial
from .files import fork
from .files.file import File
from .files.lines import blocks, middle, split
from .line_columns import LineColumns, decode_line, repeat_often

# Bytes from which on it is worth it not to keep what is read, and a second process is faster.
COUNTS_PAY = 1 << 20
_HALVES_PAY = 4 << 20
# More different lines than these are decoded as they come.
_MOST_LINES = 1 << 12
_Counts = TypeVar("_Counts")


def pays(file: File) -> bool:
    """Whether a file is so large that its trials should not be kept where that can be."""
    return os.path.getsize(file.local) >= COUNTS_PAY


def count_lines(file: File) -> Source | None:
    """The rewards file as a source of counts; None where it must be read otherwise."""

    def count(pieces: Iterable[bytes]) -> LineCounts:
        lines = _Lines()
        for block in pieces:
            lines.add(block)
        return lines.finish()

    counts, digest = _in_halves(file, count)
    if counts is None:
        return None
    groups: Any = {NO_GROUP: CountedLines(counts)} if counts.n else {}
    return _source(file, counts.n, digest, Counted(groups, CountedTrials().seen))


def count_trials(file: File, decode: Callable[[bytes], list[Trial]]) -> Source | None:
    """The trials file as a source of counts; None where it must be read otherwise.

    `decode` gives the trials of a block of lines, or refuses it.
    """

    def count(pieces: Iterable[bytes]) -> CountedTrials:
        trials = CountedTrials()
        for block in pieces:
            trials.add(decode(block))
        return trials

    counts, digest = _in_halves(file, count)
    if counts is None or counts.seen.twice:
        return None
    groups: Any = {key: CountedTable(group) for key, group in counts.groups.items()}
    return _source(file, counts.n, digest, Counted(groups, counts.seen))


def _source(file: File, n: int, digest: str, counted: Counted) -> Source:
    trials = Absent(n, "every trial")
    return Source(path=file.path, trials=trials, sha256=digest, counted=counted)


def _in_halves(
    file: File, count: Callable[[Iterable[bytes]], _Counts]
) -> tuple[_Counts | None, str]:
    """What is counted in a file, the second half of a large one in a second process; its digest."""
    if not pays(file):
        return None, ""
    size = os.path.getsize(file.local)
    half = middle(file.local) if size > _HALVES_PAY and fork.pays() else size
    digest = hashlib.sha256()
    # For weight: only what two processes tell each other is pickled.
    import pickle

    def second() -> bytes:
        return pickle.dumps(count(blocks(file.local, half)))

    def first() -> Iterable[bytes]:
        for block in blocks(file.local, 0, half):
            digest.update(block)
            yield block

    wait = fork.alongside(second) if half < size else None
    answer = None
    try:
        counts = count(first())
        for block in blocks(file.local, half):
            digest.update(block)
    except (NotCountableError, *REFUSED):
        return None, ""
    finally:
        answer = wait() if wait else None
    if wait is not None:
        if not answer:
            return None, ""
        counts += pickle.loads(answer)  # noqa: S301  # our own second process wrote it
    return counts, digest.hexdigest()


class _Lines:
    """Lines counted as texts while few differ, else decoded block by block."""

    def __init__(self) -> None:
        self.counts = LineCounts()
        self._texts: Counter[bytes] = Counter()
        self._columns = LineColumns()

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
        if self._columns.add(block) != self._columns.n:
            raise NotCountableError("a blank line")
        n, columns, empty = self._columns.take()
        for key, column in columns.items():
            self.counts.key(key).add([value for value in column if value is not None])
        self.counts.n_empty += len(empty)
        self.counts.n_scored += n - _n_blank(n, list(columns.values())) + len(empty)

    def finish(self) -> LineCounts:
        """The counts, with every different text decoded once."""
        for line, times in self._texts.items():
            rewards = decode_line(line)
            if rewards is None:
                continue
            self.counts.n_scored += times
            self.counts.n_empty += 0 if rewards else times
            for key, value in rewards.items():
                self.counts.key(key).add_times(value, times)
        return self.counts


def _n_blank(n: int, columns: list[list[Number | None]]) -> int:
    """In how many of n rows every column lacks a value."""
    if len(columns) == 1:
        return columns[0].count(None)
    return list(zip(*columns, strict=True)).count((None,) * len(columns)) if columns else n
