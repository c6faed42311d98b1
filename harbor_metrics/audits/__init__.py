"""Whether the numbers that a log or a job reports are those of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from .. import readers
from ..diagnostics import Diagnostic, Severity
from ..plan import Registries
from ..readers.source import Progress, Source
from .row import Row, Verdict


@dataclass(frozen=True, slots=True)
class Audit:
    """Every reported number beside the recomputed one, and what was found while reading."""

    rows: list[Row]
    silent: list[str]
    diagnostics: list[Diagnostic]

    @property
    def ok(self) -> bool:
        """Whether nothing differs without an explanation, and everything could be read."""
        return all(row.verdict != Verdict.DIFFERS for row in self.rows) and not any(
            found.severity == Severity.ERROR for found in self.diagnostics
        )

    def count(self, verdict: Verdict) -> int:
        """How many numbers have that verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    def to_json(self) -> str:
        """The audit as one object: counts, and a row a number."""
        document = {
            "counts": {str(verdict): self.count(verdict) for verdict in Verdict},
            "silent": self.silent,
            "rows": [row.as_json() for row in self.rows],
            "diagnostics": [found.as_json() for found in self.diagnostics],
        }
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def audit(
    *sources: str,
    registry: Sequence[str] = (),
    as_format: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Recompute all that the sources report.

    Args:
        sources: Harbor jobs, Inspect logs, lm-eval samples with their results.
        registry: registry files of the jobs' datasets.
        as_format: one of `readers.FORMATS`, where the content is not to decide.
        progress: called while a job is read.

    Raises:
        UsageError: the arguments contradict each other.
        InputError: a source cannot be read.
    """
    # Imported here: each needs much of the catalogue.
    from . import harbor_numbers, inspect_numbers, lm_eval_numbers

    read = [
        source
        for path in dict.fromkeys(sources)
        for source in readers.read(path, progress, as_format=as_format, whole=True)
    ]
    registries = Registries(list(registry))
    rows: list[Row] = []
    told: set[tuple[object, ...]] = set()
    found: list[Diagnostic] = []
    silent = []
    for source in read:
        own: list[Row] = []
        if source.kind == "harbor-job":
            own = list(harbor_numbers.rows(source, registries, found))
        elif source.kind == "inspect":
            own = list(inspect_numbers.rows(source))
            found += source.diagnostics
        elif source.kind == "lm-eval":
            own = list(lm_eval_numbers.rows(source, _siblings(source, read)))
            found += source.diagnostics
        if not own:
            silent.append(source.path)
        # A group's numbers are told by each of its tasks, and shown once.
        marks = [(*_run(source), row.group, row.name, row.reported) for row in own]
        rows += [row for row, mark in zip(own, marks, strict=True) if mark not in told]
        told.update(marks)
    # What is merely good to know of the trials says nothing about the numbers.
    found = [each for each in found if each.severity != Severity.NOTE]
    return Audit(rows, silent, found)


def _siblings(source: Source, read: Sequence[Source]) -> list[Source]:
    """The lm-eval sources of the same run."""
    run = _run(source)
    return [other for other in read if other.kind == source.kind and _run(other) == run]


def _run(source: Source) -> tuple[str, str | None]:
    """What the sources of one run share: of lm-eval, folder and stamp."""
    if source.kind != "lm-eval":
        return source.path, None
    stamp = source.trials[0].started_at if len(source.trials) else None
    return source.path.rpartition("/")[0], stamp
