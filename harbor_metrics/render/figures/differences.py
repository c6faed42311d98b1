"""Pictures 2 and 4: by how much a candidate differs from the base, and which tasks turned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...comparison.document import Compared, Comparison, Row, TaskRow
from ...comparison.naming import name_of
from ...comparison.numerals import numerals
from ...documents.wording import plural, printable
from ...evaluation.naming import unit
from .. import comparison as beside
from .. import sentences, svg
from ..markup import Markup, joined
from .figure import MOST_LINES, Figure, Numbers, heads_of, stacked
from .lanes import Lane, Spot, blocks

_MOST_LANES = 60
_HEIGHT, _MOST_MARKS = 150, 150
_SHAPES = {"up": "triangle", "same": "circle", "down": "down"}


def differences(
    comparison: Comparison, compared: Compared, number: int, *, most_lanes: int = _MOST_LANES
) -> Figure:
    """Every difference with its interval, and where nothing would differ."""
    rows = [row for row in compared.rows if row.difference is not None]
    shown = rows[:most_lanes]
    shares = [row for row in shown if _is_share(row)]
    apart = [[row] for row in shown if not _is_share(row)]
    # The n-th run has the same colour in every picture.
    parts = [
        each
        for together in ([shares] if shares else []) + apart
        for each in blocks(
            [_lane(comparison, row, number) for row in together],
            zero=True,
            band=comparison.margin,
        )
    ]
    title = f"Differences: {sentences.title(compared)}"
    sentence = (
        sentences.conclusion(comparison, rows[0]) if rows else "No difference could be computed."
    )
    sheet = beside.sheet(comparison, compared)
    lines = [line.cells for line in sheet.lines]
    ids = [f"difference {name_of(row)}" for row in compared.rows]
    return Figure(
        "differences",
        title,
        f"{sentence} {beside.counts(compared)}.",
        stacked(title, sentence, (), parts),
        Numbers(tuple(h or "verdict" for h in sheet.headings), lines, ids),
        f"Differences{_whose(comparison, compared)}",
    )


def _is_share(row: Row) -> bool:
    reach = max(abs(n) for n in (row.difference, row.low, row.high) if n is not None)
    return reach <= 1 and unit(row.type, row.kwargs) is None


def _lane(comparison: Comparison, row: Row, number: int) -> Lane:
    text = numerals(row.base, row.candidate, row)
    assert row.difference is not None
    spot = Spot(number, row.difference, row.low, row.high)
    measured_in = unit(row.type, row.kwargs)
    name = name_of(row) + (f" in {measured_in}" if measured_in else "")
    return Lane(name, [spot], f"{text.difference} {sentences.word(comparison, row)}")


def changes(comparison: Comparison, compared: Compared) -> Figure | None:
    """The difference of each task, the largest gain first; None where no task is known."""
    rows = sorted(compared.by_task, key=lambda row: (-row.difference, row.task))
    if not rows:
        return None
    title = f"Differences by task: {sentences.title(compared)}"
    sentence = _sentence(compared)
    return Figure(
        "changes",
        title,
        sentence,
        stacked(title, sentence, (), [partial(_block, rows)]),
        _numbers(compared, rows),
        f"Differences by task{_whose(comparison, compared)}",
    )


def _whose(comparison: Comparison, compared: Compared) -> str:
    """The candidate, where there are several."""
    return f": {printable(compared.candidate.run)}" if len(comparison.beside_base) > 1 else ""


def _sentence(compared: Compared) -> str:
    up, down = compared.tasks.higher, compared.tasks.lower
    same = len(compared.by_task) + compared.not_listed - up - down
    of = f" of {printable(compared.key)}" if compared.key else ""
    base, candidate = printable(compared.base.run), printable(compared.candidate.run)
    return (
        f"{plural(up, 'task')} with more{of} in {candidate} than in {base} (▲), {down} with less "
        f"(▼), {same} with the same (●)."
    )


def _block(rows: Sequence[TaskRow], top: float) -> tuple[Markup, float]:
    shown = rows
    if len(rows) > _MOST_MARKS:
        # So many that they overlap: those at even distances, the first and the last among them.
        steps = [round(i * (len(rows) - 1) / (_MOST_MARKS - 1)) for i in range(_MOST_MARKS)]
        shown = [rows[i] for i in steps]
    reach = max(1, *(abs(row.difference) for row in rows))
    places = svg.Scale(-svg.exact(reach), svg.exact(reach), top + _HEIGHT + 12, top + 12)
    zero = places.at(0)
    parts = [svg.axis_down(places), svg.line("0%", zero, "100%", zero, width=1.5)]
    width = (svg.RIGHT - svg.INSIDE) / len(shown)
    for i, row in enumerate(shown):
        kind = "up" if row.difference > 0 else "down" if row.difference < 0 else "same"
        x = svg.percent(svg.INSIDE + (i + 0.5) * width)
        y = places.at(row.difference)
        parts.append(svg.mark(x, y, 1 if kind == "down" else 0, _SHAPES[kind]))
    return joined(parts), top + _HEIGHT + 20


def _numbers(compared: Compared, rows: Sequence[TaskRow]) -> Numbers:
    """The tasks that changed most, both ways, and how many others there are."""
    most = sorted(rows, key=lambda row: (-abs(row.difference), row.task))[:MOST_LINES]
    lines = [
        (
            printable(row.task),
            *sentences.sides(row),
            f"{row.difference:+.3g}" if row.difference else "0",
        )
        for row in most
    ]
    rest = len(rows) + compared.not_listed - len(most)
    runs = (compared.base.run, compared.candidate.run)
    return Numbers(
        ("task", *heads_of([printable(run) for run in runs]), "difference"),
        lines,
        [f"change {row.task}" for row in most],
        1,
        f"and {plural(rest, 'task')} more" if rest else "",
    )
