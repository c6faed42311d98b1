"""What a comparison says in sentences: the verdict, gates, tasks that turned, and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ..comparison.document import OUTCOMES, Compared, Comparison, Decision, Rank, Row, TaskRow
from ..comparison.naming import name_of
from ..comparison.numerals import numerals, ratio
from ..documents.wording import plural, printable

# Tasks of one kind that are named; the document has all.
_MOST_TASKS = 10
# A space that no line is folded at.
JOINED = "\u00a0"
ADJUSTED = {"holm": "Holm", "bh": "BH", "none": "as it is"}
# Behind a verdict that does not hold among all comparisons.
_BY_ITSELF = "by itself"


def title(compared: Compared) -> str:
    """Which run against which, on what, and what both have in common."""
    base, candidate = compared.base, compared.candidate
    what = f"{candidate.run} against {base.run} (base)"
    same = [
        one
        for one, other in ((base.agent, candidate.agent), (base.model, candidate.model))
        if one is not None and one == other and one not in (base.run, candidate.run)
    ]
    dataset = compared.dataset
    where = ""
    if dataset is not None:
        where = f"{dataset.name}@{dataset.version}: " if dataset.version else f"{dataset.name}: "
    return printable(", ".join([f"{where}{what}", *same]))


def details(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    """Heading and text of what stands below a table."""
    yield from _tasks(compared)
    shown = [row for row in compared.rows if row.difference is not None]
    if shown:
        yield "", conclusion(comparison, shown[0])
    for decision in decided(comparison, compared):
        yield "gate", said(decision)
        if decision.help is not None:
            yield "  ", printable(decision.help)
    yield from notes(comparison, compared)


def notes(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    """Heading and text of what a reader of the numbers should know."""
    for row in compared.rows:
        if row.relative is not None:
            value, low, high = map(ratio, (row.relative.value, row.relative.low, row.relative.high))
            yield "relative", f"{name_of(row)} {value}, from {low} to {high}"
    yield from _methods(comparison, compared)
    yield from _planning(comparison, compared)
    for text, rows in _grouped((row.reason, row) for row in compared.rows):
        yield "why", f"{', '.join(rows)}: {printable(text)}"
    for text, rows in _grouped((note, row) for row in compared.rows for note in row.notes):
        who = "" if len(rows) == len(compared.rows) else f"{', '.join(rows)}: "
        yield "note", f"{who}{printable(text)}"
    assumed = [
        name_of(row) for row in compared.rows if row.assumed_direction and row.verdict != "~"
    ]
    if assumed:
        yield "note", f"{', '.join(assumed)}: more is taken to be better"


def _methods(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    methods: dict[str, list[str]] = {}
    for row in compared.rows:
        if row.method not in (None, "none") and row.low is not None:
            methods.setdefault(str(row.method), []).append(name_of(row))
    if methods:
        over = {
            "tasks": "over tasks, as a sample of such tasks",
            "attempts": "over attempts: these tasks, tried again",
        }[comparison.over]
        each = [
            method if len(methods) == 1 else f"{method} ({', '.join(rows)})"
            for method, rows in methods.items()
        ]
        alone = "; each on its own" if is_adjusted(comparison) else ""
        yield "intervals", f"{over}; {', '.join(each)}{alone}"
    if any(_is_by_itself(comparison, row) for row in compared.rows):
        how = ADJUSTED[comparison.adjust]
        among = f"among all comparisons no difference is shown: p ({how})"
        yield _BY_ITSELF, f"the interval of this comparison leaves out 0; {among}"


def decided(comparison: Comparison, compared: Compared) -> list[Decision]:
    """What became of the gates in one comparison, the worst first."""
    dataset = compared.dataset.name if compared.dataset is not None else None
    who = (dataset, compared.base.run, compared.candidate.run)
    own = [d for d in comparison.gates if (d.dataset, d.base, d.candidate) == who]
    return sorted(own, key=lambda decision: OUTCOMES.index(decision.outcome))


def said(decision: Decision) -> str:
    """What became of a gate, and why."""
    return f"{printable(decision.gate)}: {decision.outcome}: {printable(decision.why)}"


def who(decision: Decision) -> str:
    """Whom a gate was asked of."""
    where = f"{decision.dataset}: " if decision.dataset is not None else ""
    return printable(f"{where}{decision.candidate} against {decision.base}")


def together(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Heading and text of what stands below all tables: the places of the runs."""
    found: dict[tuple[str | None, str], list[Rank]] = {}
    for rank in comparison.ranks:
        found.setdefault((rank.dataset, rank.metric), []).append(rank)
    several = len({dataset for dataset, _ in found}) > 1
    for (dataset, metric), ranks in found.items():
        where = f" on {printable(dataset)}" if several and dataset is not None else ""
        order = sorted(ranks, key=lambda rank: (rank.low, rank.high))
        each = ", ".join(f"{printable(rank.run)} {place(rank)}" for rank in order)
        yield "places", f"by {printable(metric)}{where}: {each}"


def place(rank: Rank) -> str:
    """The places that a run can have: `1`, `2 to 3`."""
    return str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}"


def _grouped(texts: Iterator[tuple[str | None, Row]]) -> list[tuple[str, list[str]]]:
    """Each text once, with the names of the rows that have it."""
    found: dict[str, list[str]] = {}
    for text, row in texts:
        if text is not None:
            found.setdefault(text, []).append(name_of(row))
    return [(text, list(dict.fromkeys(rows))) for text, rows in found.items()]


def verdict(comparison: Comparison, compared: Compared) -> str:
    """Who is compared with whom, and what the first difference says."""
    return f"{title(compared)}: {first(comparison, compared)}"


def first(comparison: Comparison, compared: Compared) -> str:
    """What the first difference says."""
    row = next((row for row in compared.rows if row.difference is not None), None)
    return conclusion(comparison, row) if row is not None else "No difference could be computed."


def word(comparison: Comparison, row: Row) -> str:
    """The verdict of a row, and whether it holds for this comparison alone."""
    return f"{row.verdict} {_BY_ITSELF}" if _is_by_itself(comparison, row) else row.verdict


def is_adjusted(comparison: Comparison) -> bool:
    """Whether any p is another one among all comparisons than by itself."""
    return any(row.p_adjusted != row.p for pair in comparison.comparisons for row in pair.rows)


def _is_by_itself(comparison: Comparison, row: Row) -> bool:
    """Whether the interval shows a difference, and p among all comparisons does not."""
    p = row.p_adjusted
    shown = row.verdict not in ("~", "same")
    return shown and p is not None and p != row.p and p > 1 - comparison.level


def conclusion(comparison: Comparison, row: Row) -> str:
    """What the first row says, in a sentence."""
    name, shown = name_of(row), numerals(row.base, row.candidate, row)
    if row.verdict == "~" and row.low is None:
        return f"No difference shown: {name} {shown.difference}, without an interval."
    if row.verdict == "~":
        low, high = shown.ends
        return f"No difference shown: {name} {shown.difference}, and all from {low} to {high} fits."
    if row.verdict == "same":
        return f"The same within {comparison.margin:g}: {name} {shown.difference}."
    return f"{word(comparison, row).capitalize()}: {name} {shown.difference}."


def _planning(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    least = [row for row in compared.rows if row.smallest is not None]
    share = f"{100 * comparison.power:g} of 100 such pairs"
    if least:
        each = ", ".join(f"{_rounded(row.smallest)} ({name_of(row)})" for row in least)
        yield "power", f"{each} or more would show in {share}"
    for row in compared.rows:
        if row.efforts and comparison.detect is not None:
            efforts = [
                "more tasks than anybody plans"
                if effort.tasks is None
                else plural(effort.tasks, "task")
                + (f" with {plural(effort.attempts, 'attempt')}" if effort.attempts else "")
                for effort in row.efforts
            ]
            now = row.efforts[0].attempts
            has = plural(row.n or 0, "task") + (f" with {now}" if now else "")
            yield (
                "detect",
                (f"{name_of(row)} {comparison.detect:g} needs {', '.join(efforts)}; now {has}"),
            )


def _rounded(value: float | None) -> str:
    """The number to two digits, written out: `450`, `0.16`."""
    text = f"{value or 0:.2g}"
    number = float(text)
    return f"{number:g}" if math.isfinite(number) else text


def _tasks(compared: Compared) -> Iterator[tuple[str, str]]:
    """How many tasks are better and worse by the first reward, and the largest changes."""
    if not compared.by_task:
        return
    both = turned(compared)
    same = len(compared.by_task) + compared.not_listed - sum(each.n for each in both)
    of = f" ({printable(compared.key)})" if compared.key else ""
    yield f"tasks{of}", ", ".join([*(f"{each.n} {each.kind}" for each in both), f"{same} the same"])
    for each in reversed(both):
        if each.rows:
            changes = [_change(row) for row in each.rows[:_MOST_TASKS]]
            more = f" and {each.n - _MOST_TASKS} more" if each.n > _MOST_TASKS else ""
            yield f"  {each.kind}", ", ".join(changes) + more


class Turned(msgspec.Struct, frozen=True):
    """The tasks that are better, or worse, the largest change first; `n`: how many there are."""

    kind: str
    rows: list[TaskRow]
    n: int


def turned(compared: Compared) -> tuple[Turned, Turned]:
    """The tasks that have more of the first reward in the candidate, and those that have less."""
    better = compared.higher_is_better
    up, down = ("higher", "lower") if better is None else ("better", "worse")
    if better is False:
        up, down = down, up
    gained = [row for row in compared.by_task if row.difference > 0]
    lost = [row for row in compared.by_task if row.difference < 0]
    return Turned(up, gained, compared.tasks.higher), Turned(down, lost, compared.tasks.lower)


def sides(row: TaskRow) -> tuple[str, str]:
    """The rewards of a task in both runs: `1/5`, of a single attempt `1`."""
    base, candidate = (
        f"{total:g}/{attempts}" if attempts > 1 else f"{total:g}"
        for total, attempts in (row.base, row.candidate)
    )
    return base, candidate


def _change(row: TaskRow) -> str:
    before, after = sides(row)
    return JOINED.join((printable(row.task), before, "→", after))
