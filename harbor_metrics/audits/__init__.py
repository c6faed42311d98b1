"""Whether the numbers that a log or a job reports are those of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .. import readers
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import encodable
from ..readers.files.entries import Entries
from ..registries.registry import Registries
from ..scripts.options import ScriptOptions
from ..trials.source import Progress, Source
from ..trials.trial import GroupKey
from .row import Row, Verdict


@dataclass(frozen=True, slots=True)
class Audit:
    """Every reported number beside the recomputed one.

    `silent` are the sources that report none, `unverified` those that do, and of which none could
    be recomputed, and results files of runs that have no samples there. Of those that are `short`
    fewer resamples were drawn than of them alone, for other runs took the time.
    """

    rows: list[Row]
    silent: list[str]
    unverified: list[str]
    diagnostics: list[Diagnostic]
    short: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing differs, and everything could be read.

        Whether anything was verified at all, `silent`, `unverified` and `short` say.
        """
        return all(row.verdict != Verdict.DIFFERS for row in self.rows) and not any(
            diagnostic.severity == Severity.ERROR for diagnostic in self.diagnostics
        )

    def count(self, verdict: Verdict) -> int:
        """How many numbers have that verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    def to_json(self) -> str:
        """The audit as one object: counts, and a row a number."""
        document = {
            "counts": {str(verdict): self.count(verdict) for verdict in Verdict},
            "silent": self.silent,
            "unverified": self.unverified,
            "short": self.short,
            "rows": [row.as_json() for row in self.rows],
            "diagnostics": [diagnostic.as_json() for diagnostic in self.diagnostics],
        }
        return (
            msgspec.json.format(msgspec.json.encode(encodable(document)), indent=2).decode() + "\n"
        )


def audit(
    *sources: str,
    registry: Sequence[str] = (),
    as_format: str | None = None,
    scripts: ScriptOptions | None = None,
    most_draws: int | None = None,
    progress: Progress | None = None,
    drawing: Progress | None = None,
) -> Audit:
    """Recompute all that the sources report.

    Args:
        sources: Harbor jobs, Inspect logs, lm-eval samples with their results.
        registry: registry files of the jobs' datasets.
        as_format: a name in `readers.formats`, where the content is not to decide.
        scripts: how metric scripts of registries run; None for the defaults.
        most_draws: how many resamples of lm-eval are replayed; None for as many as take a minute.
        progress: called while a job is read.
        drawing: called while resamples are drawn.

    Raises:
        UsageError: the arguments contradict each other.
        InputError: a source cannot be read.
    """
    # Inside, for weight: each needs much of the catalogue.
    from ..readers.lm_eval.beside import without_samples
    from . import harbor_numbers, inspect_numbers, lm_eval_numbers
    from .lm_eval_draws import Budget, Replay

    kept: dict[str, Any] = {}
    read: list[Source] = []
    entries = Entries()
    unverified: list[str] = []
    for path in dict.fromkeys(sources):
        of_path = readers.read(
            path, progress, as_format=as_format, with_texts=True, with_scores=True, kept=kept
        )
        read += [source for source in of_path if entries.admits(source.path)]
        unverified += without_samples(path, of_path)
    registries = Registries(list(registry))
    budget, of_runs = Budget(), _runs(read)
    runs: dict[int, lm_eval_numbers.Run] = {}
    for own in of_runs:
        run = lm_eval_numbers.Run(own, Replay(most_draws, drawing, budget))
        runs |= dict.fromkeys(map(id, own), run)
    rows: list[Row] = []
    shown: set[tuple[object, ...]] = set()
    diagnostics: list[Diagnostic] = []
    silent: list[str] = []
    for source in read:
        of_source: list[Row] = []
        if source.kind == "harbor-job":
            numbers = harbor_numbers.rows(source, registries, diagnostics, scripts)
            of_source = list(numbers)
        elif source.kind == "inspect":
            of_source = list(inspect_numbers.rows(source))
            diagnostics += source.diagnostics
        elif source.kind == "lm-eval":
            of_source = list(runs[id(source)].rows(source))
            diagnostics += source.diagnostics
        if not of_source:
            silent.append(source.path)
        elif all(row.verdict == Verdict.UNVERIFIED or _is_of_nothing(row) for row in of_source):
            unverified.append(source.path)
        # The numbers of a group stand in the results of each of its tasks, and are shown once.
        marks = [(*_run(source), r.group, r.name, r.reported, r.verdict) for r in of_source]
        rows += [row for row, mark in zip(of_source, marks, strict=True) if mark not in shown]
        shown.update(marks)
    # What is merely good to know of the trials says nothing about the numbers.
    diagnostics = [d for d in diagnostics if d.severity != Severity.NOTE]
    diagnostics[:0] = entries.diagnostics
    short = [own[0].path for own in of_runs if runs[id(own[0])].is_short]
    return Audit(rows, silent, unverified, diagnostics, short)


def _is_of_nothing(row: Row) -> bool:
    """Whether neither the log nor the trials have a number."""
    return row.verdict == Verdict.EQUAL and row.reported is None


def _runs(read: Sequence[Source]) -> list[list[Source]]:
    """The lm-eval sources of each run, in which no task comes twice where its name says nothing."""
    runs: dict[tuple[object, ...], list[Source]] = {}
    held: dict[tuple[object, ...], set[GroupKey]] = {}
    for source in read:
        if source.kind != "lm-eval":
            continue
        run, groups, n = _run(source), source.scored().keys(), 0
        while run[1] is None and held.get((*run, n), set()) & groups:
            n += 1
        held.setdefault((*run, n), set()).update(groups)
        runs.setdefault((*run, n), []).append(source)
    return list(runs.values())


def _run(source: Source) -> tuple[str | None, ...]:
    """What the sources of one run share: of lm-eval, folder and stamp, or the results file."""
    if source.kind != "lm-eval":
        return source.path, None
    stamp = source.trials[0].started_at if len(source.trials) else None
    folder = source.path.rpartition("/")[0]
    return (folder, stamp) if stamp is not None else (folder, None, source.results)
