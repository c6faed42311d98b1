"""Any source as a trials file, with all that a metric can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from .. import readers
from ..documents.diagnostics import Diagnostic, Severity
from ..trials.pool import remarks
from ..trials.source import Progress, Source
from ..trials.trial import Trial
from .files.spool import Spool

_LINES = 4_096


@dataclass(frozen=True, slots=True)
class Conversion:
    """The sources as lines of a trials file; `unread` trials are not among the lines."""

    sources: Sequence[Source]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything that is wrong in the sources, and what jobs lack of what they planned."""
        return [
            diagnostic
            for source in self.sources
            for diagnostic in (*source.diagnostics, *remarks(source), *_by_place(source))
        ]

    @property
    def inputs(self) -> list[str]:
        """Every path that was read."""
        return [path for source in self.sources for path in source.inputs]

    @property
    def unread(self) -> int:
        """How many trials could not be read."""
        return sum(len(source.unread) for source in self.sources)

    @property
    def n_trials(self) -> int:
        """How many lines there are."""
        return sum(len(source.trials) for source in self.sources)

    @property
    def ok(self) -> bool:
        """Whether every trial was read and nothing was wrong."""
        wrong = any(diagnostic.severity == Severity.ERROR for diagnostic in self.diagnostics)
        return not self.unread and not wrong

    @property
    def trials(self) -> Iterator[Trial]:
        """Every trial, source by source."""
        for source in self.sources:
            yield from source.trials

    def blocks(self) -> Iterator[bytes]:
        """The trials file: one trial a line, in canonical order source by source."""
        encode = msgspec.json.Encoder().encode_lines
        for source in self.sources:
            if isinstance(source.trials, Spool):
                yield from source.trials.blocks()
                continue
            trials = iter(source.trials)
            while some := list(islice(trials, _LINES)):
                yield encode(some)

    def lines(self) -> bytes:
        """All of the trials file."""
        return b"".join(self.blocks())


def _by_place(source: Source) -> Iterator[Diagnostic]:
    """That what is written names tasks that the source does not."""
    if source.by_place and len(source.trials):
        first = next(iter(source.trials)).task
        yield Diagnostic(
            rule="tasks-by-place",
            severity=Severity.NOTE,
            message=f"{source.path} names no tasks: what is written calls the first one `{first}`",
            path=source.path,
            notes=(
                "converted apart and computed together, such files count as attempts at one task",
            ),
        )


def convert(
    source: str,
    *,
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    progress: Progress | None = None,
) -> Conversion:
    """Read a source for writing it as a trials file; a large one takes little memory.

    Args:
        source: as for `compute`; an Inspect log is read with the texts of its samples.
        as_format: a name in `readers.formats`, where the content is not to decide.
        columns: which column of a CSV is what.
        progress: called while a job is read.

    Raises:
        UsageError: the arguments contradict each other.
        InputError: the source cannot be read.
    """
    return Conversion(
        readers.read(
            source, progress, as_format=as_format, columns=columns, with_texts=True, spool=True
        )
    )
