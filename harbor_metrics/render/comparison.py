"""A comparison as tables: for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from ..comparison.document import OUTCOMES, Compared, Comparison, Decision, Rank, Row, TaskRow
from ..comparison.naming import name_of
from ..comparison.numerals import Numerals, numerals, ratio
from ..documents.wording import columns, plural, printable
from ..numbers.exact import Number
from .alignment import align, fold, measure
from .sheet import Line, Sheet

_GAP = "  "
# Tasks of one kind that are named; the document has all.
_MOST_TASKS = 10
# Wider names of runs would leave no room for their numbers.
_WIDEST_NAME = 12
_P_PLACES = 3
# A space that no line is folded at.
_JOINED = "\u00a0"


def table(comparison: Comparison, *, width: int = 80) -> str:
    """A table for each candidate and dataset, at most `width` columns wide where numbers allow."""
    lines: list[str] = []
    for compared in comparison.comparisons:
        lines += ["", *_lines(comparison, compared, width)] if lines else []
        lines = lines or list(_lines(comparison, compared, width))
    for name, text in together(comparison):
        lines += _hanging(f"{name}  {text}", width)
    return "".join(f"{line}\n" for line in lines)


def sheet(comparison: Comparison, compared: Compared) -> Sheet:
    """The table of a candidate beside the base, with what stands above and below it."""
    headings, cells = grid(comparison, compared)
    below = [
        (name.strip(), text.replace(_JOINED, " ")) for name, text in details(comparison, compared)
    ]
    lines = [Line(cells_) for cells_ in cells]
    return Sheet(title(compared), counts(compared), headings, lines, below)


def _lines(comparison: Comparison, compared: Compared, width: int) -> Iterator[str]:
    yield from _hanging(title(compared), width)
    yield from _hanging(counts(compared), width)
    headings, cells = grid(comparison, compared)
    widths = measure([headings, *cells])
    room = max(16, width - sum(widths[1:]) - len(widths[1:]) * len(_GAP))
    widths[0] = min(widths[0], room)
    right = range(1, len(widths) - 1)
    yield align(headings, widths, right=right, gap=_GAP)
    yield "─" * (sum(widths) + len(widths[1:]) * len(_GAP))
    for row in cells:
        first, *more = fold(row[0], widths[0])
        yield align([first, *row[1:]], widths, right=right, gap=_GAP)
        yield from (f"  {part}" for part in more)
    for name, text in details(comparison, compared):
        yield from _hanging(f"{name}  {text}" if name else text, width)


def _hanging(text: str, width: int) -> Iterator[str]:
    own = text.lstrip(" ")
    margin = text[: -len(own)]
    first, *more = fold(own, width - len(margin))
    yield f"{margin}{first}".replace(_JOINED, " ")
    yield from (f"{margin}  {part}".replace(_JOINED, " ") for part in more)


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


def counts(compared: Compared) -> str:
    """How many tasks are paired, with how many attempts, and what is missing."""
    tasks, sides = compared.tasks, (compared.base, compared.candidate)
    parts = [f"{plural(tasks.paired, 'task')} paired"]
    attempts = {(row.base[1], row.candidate[1]) for row in compared.by_task}
    if len(attempts) == 1 and not compared.not_listed:
        ((ours, theirs),) = attempts
        each = plural(ours, "attempt")
        parts.append(f"{each} a side" if ours == theirs else f"{ours} and {theirs} attempts")
    left = {
        f"only in {compared.base.run}": len(tasks.only_base),
        f"only in {compared.candidate.run}": len(tasks.only_candidate),
        "changed": len(tasks.changed),
    }
    parts += [f"{n} {where}" for where, n in left.items() if n]
    text = ", ".join(parts)
    for what in ("missing", "errored", "unread"):
        n = [(getattr(side.counts, what), side.run) for side in sides]
        if any(count for count, _ in n):
            text += f"; {what}: {', '.join(f'{count} in {run}' for count, run in n if count)}"
    if not all(side.complete for side in sides):
        unfinished = [side.run for side in sides if not side.complete]
        text += f"; incomplete: {', '.join(unfinished)}"
    return printable(text)


def grid(
    comparison: Comparison, compared: Compared
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headings and cells of a table, without columns that would be empty."""
    names = [printable(side.run) for side in (compared.base, compared.candidate)]
    if max(map(columns, names)) > _WIDEST_NAME:
        names = ["base", "candidate"]
    adjusted = any(row.p_adjusted != row.p for row in compared.rows)
    headings = [
        "metric",
        *names,
        "difference",
        f"{100 * comparison.level:g}% interval",
        f"p ({_ADJUSTED[comparison.adjust]})" if adjusted else "p",
        "",
    ]
    cells: list[tuple[str, ...]] = []
    for row in compared.rows:
        shown: Numerals = numerals(row.base, row.candidate, row)
        cells.append(
            (
                name_of(row),
                *shown,
                _p(row.p_adjusted),
                row.verdict,
            )
        )
    return tuple(headings), cells


_ADJUSTED = {"holm": "Holm", "bh": "BH", "none": "as it is"}


def _p(value: Number | None) -> str:
    if value is None:
        return "—"
    least = 10**-_P_PLACES
    return f"<{least}" if value < least else f"{value:.{_P_PLACES}f}"


def details(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    """Heading and text of what stands below a table."""
    yield from _tasks(compared)
    shown = [row for row in compared.rows if row.difference is not None]
    if shown:
        yield "", conclusion(comparison, shown[0])
    yield from _gates(comparison, compared)
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
        yield "intervals", f"{over}; {', '.join(each)}"


def _gates(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    for decision in decided(comparison, compared):
        yield "gate", f"{printable(decision.gate)}: {decision.outcome}: {printable(decision.why)}"
        if decision.help is not None:
            yield "  ", printable(decision.help)


def decided(comparison: Comparison, compared: Compared) -> list[Decision]:
    """What became of the gates in one comparison, the worst first."""
    dataset = compared.dataset.name if compared.dataset is not None else None
    who = (dataset, compared.base.run, compared.candidate.run)
    own = [d for d in comparison.gates if (d.dataset, d.base, d.candidate) == who]
    return sorted(own, key=lambda decision: OUTCOMES.index(decision.outcome))


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
    row = next((row for row in compared.rows if row.difference is not None), None)
    said = conclusion(comparison, row) if row is not None else "no difference could be computed."
    return f"{title(compared)}: {said}"


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
    return f"{row.verdict.capitalize()}: {name} {shown.difference}."


def _planning(comparison: Comparison, compared: Compared) -> Iterator[tuple[str, str]]:
    least = [row for row in compared.rows if row.smallest is not None]
    share = f"{100 * comparison.power:g} of 100 such pairs"
    if least:
        each = ", ".join(f"{row.smallest:.2g} ({name_of(row)})" for row in least)
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


def _tasks(compared: Compared) -> Iterator[tuple[str, str]]:
    """How many tasks are better and worse by the first reward, and the largest changes."""
    if not compared.by_task:
        return
    direction = next((r.higher_is_better for r in compared.rows if r.value is not None), None)
    up, down = ("better", "worse") if direction else ("higher", "lower")
    if direction is False:
        up, down = "worse", "better"
    n = {up: compared.tasks.higher, down: compared.tasks.lower}
    same = len(compared.by_task) + compared.not_listed - sum(n.values())
    of = f" ({printable(compared.key)})" if compared.key else ""
    each = [*(f"{count} {kind}" for kind, count in n.items()), f"{same} the same"]
    yield f"tasks{of}", ", ".join(each)
    for kind in (down, up):
        rows = [
            row
            for row in compared.by_task
            if row.difference and (row.difference > 0) == (kind == up)
        ]
        if rows:
            changes = [_change(row) for row in rows[:_MOST_TASKS]]
            more = f" and {n[kind] - _MOST_TASKS} more" if n[kind] > _MOST_TASKS else ""
            yield f"  {kind}", ", ".join(changes) + more


def _change(row: TaskRow) -> str:
    sides = []
    for total, attempts in (row.base, row.candidate):
        sides.append(f"{total:g}/{attempts}" if attempts > 1 else f"{total:g}")
    return _JOINED.join((printable(row.task), sides[0], "→", sides[1]))
