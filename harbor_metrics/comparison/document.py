"""The comparison document: every difference with its interval, its method and its denominators."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from ..documents.diagnostics import Diagnostic, Severity, found_in
from ..evaluation.contradictions import check_counts
from ..evaluation.result import (
    Count,
    Counts,
    DatasetRef,
    Origin,
    Share,
    Struct,
    Tool,
    Written,
)
from ..numbers.adjustment import Adjust
from ..numbers.exact import Number
from ..numbers.uncertainty import Over
from .settings import Pairs, Unpaired
from .verdicts import VERDICTS, Verdict

Method = Literal[
    "score", "score over tasks", "t", "clustered t", "welch t", "sign flip", "jackknife",
    "bootstrap", "none",
]  # fmt: skip
# The worst first.
Outcome = Literal["failed", "undecided", "passed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class SourceRef(Struct, frozen=True, kw_only=True):
    """Where trials of a run came from: the digest of a file's bytes, or of a job's trials."""

    run: str | None
    path: str
    kind: str
    trials: Count
    sha256: str
    digest_of: Literal["bytes", "trials"]


class Side(Struct, frozen=True, kw_only=True):
    """One of the two runs: whose it is, and its trials of the dataset, paired or not."""

    run: str
    agent: str | None
    model: str | None
    complete: bool
    counts: Counts


class TaskLists(Struct, frozen=True, kw_only=True):
    """How many tasks are compared, and the names of those that are not.

    `higher` and `lower`: how many have more, and less, of the first reward in the candidate.
    """

    paired: Count
    higher: Count
    lower: Count
    only_base: list[str]
    only_candidate: list[str]
    changed: list[str]


class Relative(Struct, frozen=True, kw_only=True):
    """The difference as a share of the base's value."""

    value: Number
    low: Number
    high: Number


class Again(Struct, frozen=True, kw_only=True):
    """The same difference over these very tasks, if only the attempts were made again."""

    stderr: Number | None
    low: Number | None
    high: Number | None
    p: Share | None
    df: Number | None


class Effort(Struct, frozen=True, kw_only=True):
    """How many tasks show a difference, with so many attempts at each (null: as there are)."""

    attempts: Count | None
    tasks: Count | None


class Row(Struct, frozen=True, kw_only=True):
    """One value of one metric on both sides, and what the difference is worth.

    `value` is the output's name, null where the metric gave none. `key`: the reward that it is of,
    where there are several. `origin`: who names the metric; gates ask those first that no registry
    or job names. `n`: tasks, or clusters, that the interval rests on. `left_out`: paired tasks
    without the value on a side. `lacking`: rewards of the base alone that its own value is made of,
    too. `reason` says why a part is null.
    """

    metric: str
    type: str
    kwargs: dict[str, Any]
    value: str | None
    base: Number | None = None
    candidate: Number | None = None
    difference: Number | None = None
    stderr: Number | None = None
    low: Number | None = None
    high: Number | None = None
    p: Share | None = None
    p_adjusted: Share | None = None
    method: Method | None = None
    df: Number | None = None
    n: Count | None = None
    left_out: Count = 0
    lacking: list[str] | msgspec.UnsetType = msgspec.UNSET
    verdict: Verdict = "~"
    higher_is_better: bool | None = None
    assumed_direction: bool = False
    relative: Relative | None = None
    attempts: Again | None = None
    checks: dict[str, Number | None] = msgspec.field(default_factory=dict)
    smallest: Number | None = None
    task_variance: Number | None = None
    rerun_variance: Number | None = None
    efforts: list[Effort] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    reason: str | None = None
    origin: Origin = "default"
    key: str | None = None


class TaskRow(Struct, frozen=True, kw_only=True):
    """One task: [sum of the first reward, attempts] on both sides, and the difference of means."""

    task: str
    base: tuple[Number, Count]
    candidate: tuple[Number, Count]
    difference: Number


class Compared(Struct, frozen=True, kw_only=True):
    """A candidate beside the base, on one dataset.

    `by_task` is over reward `key`, which the most trials of the base have of those that both have,
    largest change first; of many tasks `not_listed` are left out. `higher_is_better`: whether more
    of it is better, null where nobody says. `lacking` are the rewards of the base that the
    candidate has not, and `first` is one of them that more trials have than `key`.
    `by_two_rules`: the run that leaves trials without a valid reward out, and the one of which such
    count, where it is so and both were not told to leave them out.
    """

    dataset: DatasetRef | None
    base: Side
    candidate: Side
    tasks: TaskLists
    rows: list[Row]
    key: str | None
    higher_is_better: bool | None = None
    lacking: list[str] | msgspec.UnsetType = msgspec.UNSET
    first: str | msgspec.UnsetType = msgspec.UNSET
    by_two_rules: tuple[str, str] | msgspec.UnsetType = msgspec.UNSET
    by_task: list[TaskRow]
    not_listed: Count = 0


class Rank(Struct, frozen=True, kw_only=True):
    """The best and the worst place that a run can have by one value, 1 being the best of all."""

    dataset: str | None
    metric: str
    run: str
    low: Count
    high: Count


class Decision(Struct, frozen=True, kw_only=True):
    """What became of one gate in one comparison; undecided fails, too.

    `why` is a sentence with the numbers, `help` one that says what would decide it.
    """

    gate: str
    dataset: str | None
    base: str
    candidate: str
    outcome: Outcome
    why: str
    help: str | None = None


class Comparison(Written, frozen=True, kw_only=True):
    """Everything that one comparison found; shows itself as a table in a notebook."""

    NOUN = "comparison"

    schema_version: Literal["1"] = "1"
    tool: Tool = Tool()
    sources: list[SourceRef]
    level: Share
    over: Over
    adjust: Adjust
    margin: Number | None
    power: Share
    detect: Number | None
    base: str
    pairs: Pairs
    unpaired: Unpaired | None
    comparisons: list[Compared]
    ranks: list[Rank]
    gates: list[Decision]
    diagnostics: list[dict[str, Any]] = msgspec.field(default_factory=list)

    def check(self) -> None:
        """See `Written`."""
        found_in(self.diagnostics)
        for i, pair in enumerate(self.comparisons):
            place = f"$.comparisons[{i}]"
            check_counts(pair.base.counts, f"{place}.base.counts")
            check_counts(pair.candidate.counts, f"{place}.candidate.counts")
            turned = pair.tasks.higher + pair.tasks.lower
            if max(turned, len(pair.by_task) + pair.not_listed) > pair.tasks.paired:
                raise ValueError(f"more tasks are told of than are `paired` - at `{place}.tasks`")
            for j, row in enumerate(pair.rows):
                if (row.low is None) != (row.high is None) or (row.low or 0) > (row.high or 0):
                    raise ValueError(f"`low` and `high` are no interval - at `{place}.rows[{j}]`")
                if row.verdict in ("better", "worse") and row.higher_is_better is None:
                    raise ValueError(
                        f"it is {row.verdict}, and nobody says of what - at `{place}.rows[{j}]`"
                    )

    @property
    def found(self) -> list[Diagnostic]:
        """The diagnostics as objects."""
        return found_in(self.diagnostics)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that an exit code must tell, and every gate passed."""
        sides = [side for pair in self.comparisons for side in (pair.base, pair.candidate)]
        return (
            not any(d.severity == Severity.ERROR for d in self.found)
            and not any(side.counts.unread or not side.counts.scored for side in sides)
            and self.outcome in (None, "passed")
        )

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of a gate, a failure being the worst; None without gates."""
        found = {decision.outcome for decision in self.gates}
        return next((each for each in OUTCOMES if each in found), None)

    @property
    def verdict(self) -> Verdict | None:
        """What the first values say; of several candidates and datasets the worst of it."""
        found = {next((row.verdict for row in pair.rows), None) for pair in self.beside_base}
        return next((each for each in VERDICTS if each in found), None)

    @property
    def beside_base(self) -> list[Compared]:
        """The comparisons with the base: all, unless every two runs were compared."""
        return [pair for pair in self.comparisons if pair.base.run == self.base]

    def _repr_html_(self) -> str:
        from ..render.notebook import html_of_comparison

        return html_of_comparison(self)

    def _repr_markdown_(self) -> str:
        from ..render.notebook import markdown_of_comparison

        return markdown_of_comparison(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        from ..render.comparison import table

        printer.text(table(self))
