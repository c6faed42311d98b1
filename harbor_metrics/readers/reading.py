"""The reading of one file: what a reader is told, and what it notes until there is a source."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from ..documents.diagnostics import Diagnostic, Severity, Span
from ..documents.document import Document, parse
from ..documents.files import reason
from ..documents.sizes import MOST_DATA, whole
from ..errors import InputError
from ..trials.source import REFUSED, Job, Progress, Reported, Source
from ..trials.trial import GroupKey, Trial, group_key, in_canonical_order
from .files.file import File
from .files.lines import blocks, each_line

_BLOCK = 1 << 16


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader may be told; each heeds what concerns it.

    `columns` are FIELD -> column of a CSV; `with_texts` asks for texts where they take longer,
    `with_scores` for what the harness itself scored; `counts`: counts will do where the trials
    themselves are not needed; `spool`: the trials of a large source are only gone through, so they
    may lie on disk; `progress` is called with trials read and trials in all; in `kept`
    readers keep what several sources of one command share.
    """

    columns: Mapping[str, str] = {}
    with_texts: bool = False
    with_scores: bool = False
    counts: bool = False
    spool: bool = False
    progress: Progress | None = None
    kept: dict[str, Any] = {}


class _Digested(io.RawIOBase):
    """The bytes of a file, which a digest gets as they are read."""

    def __init__(self, file: File, digest: hashlib._Hash) -> None:
        self._stream = open(file.local, "rb", buffering=0)  # noqa: SIM115  # closed by `close`
        self._left = file.size
        self._digest = digest

    def readable(self) -> bool:
        """That it is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes into a buffer, and how many there are."""
        part = memoryview(buffer)[: self._left]
        n = self._stream.readinto(part)
        self._digest.update(part[:n])
        self._left -= n
        return n

    def close(self) -> None:
        """Close the file, too."""
        self._stream.close()
        super().close()


class Reading:
    """The trials of a file so far, how many could not be read, and what is wrong."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.path = file.path
        self.trials: list[Trial] = []
        self.n_unread = 0
        self.diagnostics: list[Diagnostic] = []
        # What was read beside the file.
        self.files: list[str] = []
        self._digest = hashlib.sha256()

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The file, or its bytes from `start` to `end`, in pieces of whole lines.

        With each comes the number of its first line, counted from `start`.
        """
        first_line = 1
        for block in blocks(self.file.local, start, self.file.size if end is None else end):
            self._digest.update(block)
            yield first_line, block
            first_line += block.count(b"\n")

    def content(self) -> bytes:
        """All of the file.

        Raises:
            InputError: it is too large for that.
        """
        with open(self.file.local, "rb") as stream:
            try:
                data = whole(stream, MOST_DATA)[: self.file.size]
            except OSError as error:
                raise InputError(f"{self.path}: {reason(error)}") from error
        self._digest.update(data)
        return data

    def text(self) -> TextIO:
        """All of the file as UTF-8, of which the digest is taken as it is read."""
        stream = io.BufferedReader(_Digested(self.file, self._digest), _BLOCK)
        return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")

    def skim(self) -> None:
        """Take the digest of an archive, which is read in another way."""
        with open(self.file.local, "rb") as stream:
            self._digest = hashlib.file_digest(stream, "sha256")

    def note(
        self,
        *,
        rule: str,
        message: str,
        severity: Severity | None = None,
        span: Span | None = None,
        subject: str = "",
        notes: tuple[str, ...] = (),
        advice: str = "",
    ) -> None:
        """Note a diagnostic of the file; the severity is that of the rule if none is given."""
        diagnostic = Diagnostic(
            rule=rule,
            message=message,
            path=self.path,
            span=span,
            subject=subject,
            notes=notes,
            help=advice,
        )
        if severity is not None:
            diagnostic = msgspec.structs.replace(diagnostic, severity=severity)
        self.diagnostics.append(diagnostic)

    def refuse(self, *reasons: Diagnostic) -> None:
        """Note that a trial cannot be read."""
        self.n_unread += 1
        self.diagnostics += reasons

    def salvage(
        self,
        block: bytes,
        first_line: int,
        decode: Callable[[bytes], Any],
        explain: Callable[[Document, int], list[Diagnostic]],
    ) -> Iterator[tuple[int, Any]]:
        """Number and row of each line of a block that can be read; the others are refused."""
        for number, line in each_line(block, first_line):
            try:
                row = decode(line)
            except REFUSED as error:
                document, reasons = parse(line, self.path, first_line=number)
                if not reasons and document is not None:
                    reasons = explain(document, number)
                message = f"line {number}: {error}"
                plain = Diagnostic(rule="unread-line", message=message, path=self.path)
                self.refuse(*(reasons or [plain]))
            else:
                yield number, row

    def source(
        self,
        *,
        trials: Sequence[Trial] | None = None,
        unread: Sequence[GroupKey | None] | None = None,
        job: Job | None = None,
        reported: Callable[[], Iterable[Reported]] = tuple,
        by_place: bool = False,
    ) -> Source:
        """All of it as a source.

        Args:
            trials: in the order in which they stay; by default those noted, in canonical order.
            unread: the groups of those that could not be read; by default the only one there is.
            job: what is known beside the trials.
            reported: gives the numbers that the file reports.
            by_place: whether tasks have no names but those that their places give them.
        """
        if trials is None:
            trials = in_canonical_order(self.trials)
        if unread is None:
            groups = set(map(group_key, trials)) if self.n_unread else set()
            unread = [groups.pop() if len(groups) == 1 else None] * self.n_unread
        return Source(
            path=self.path,
            trials=trials,
            sha256=self._digest.hexdigest(),
            unread=list(unread),
            diagnostics=self.diagnostics,
            job=job,
            reported=reported,
            files=self.files,
            by_place=by_place,
        )
