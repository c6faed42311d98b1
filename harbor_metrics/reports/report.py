"""What one page is about: series of runs, and what stands around their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..comparison.document import Comparison, Rank
from ..documents.diagnostics import Diagnostic
from ..evaluation.result import Result, SourceRef, not_as_planned
from .series import Series


@dataclass(slots=True)
class Report:
    """The series that are drawn, and what stands below them.

    `sources` stand beside the run that each belongs to, where there are several. `lacking`: which
    pictures cannot be drawn, and why. `again` is the command that makes the page once more.
    `inputs` are all paths that were read.
    """

    series: list[Series]
    sources: list[tuple[str | None, SourceRef]]
    found: list[Diagnostic]
    ok: bool = True
    complete: bool = True
    comparisons: list[Comparison] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    again: str = ""
    inputs: list[str] = field(default_factory=list)

    @property
    def not_as_planned(self) -> str:
        """What is not as it was planned, in words."""
        return not_as_planned(s.group.counts for s in self.series if not s.group.complete)

    @property
    def ranks(self) -> list[list[Rank]]:
        """The places of all runs by the first value, on each dataset where they are known."""
        found: dict[tuple[int, str | None], list[Rank]] = {}
        for i, comparison in enumerate(self.comparisons):
            for rank in comparison.ranks:
                first = found.setdefault((i, rank.dataset), [])
                if not first or first[0].metric == rank.metric:
                    first.append(rank)
        return list(found.values())


def report_of(result: Result, series: Sequence[Series], run: str | None) -> Report:
    """What there is to show of one result."""
    return Report(
        list(series),
        [(run, source) for source in result.sources],
        result.found,
        result.ok,
        result.complete,
    )


def together(reports: Sequence[Report]) -> Report:
    """All of them on one page."""
    found = [each for report in reports for each in report.found]
    return Report(
        [each for report in reports for each in report.series],
        [each for report in reports for each in report.sources],
        [each for i, each in enumerate(found) if each not in found[:i]],
        all(report.ok for report in reports),
        all(report.complete for report in reports),
        [each for report in reports for each in report.comparisons],
        lacking=list(dict.fromkeys(text for report in reports for text in report.lacking)),
        inputs=[path for report in reports for path in report.inputs],
    )
