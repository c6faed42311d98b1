"""Picture 1: every value with its interval, a mark for each run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ...documents.wording import plural
from ...evaluation.naming import Identity, asked_for, in_columns, names, told_by, unit
from ...evaluation.result import Outcome, Uncertainty
from ...reports.series import Series
from .. import rows
from ..markup import indented
from .figure import Figure, Numbers, called, listed_by, stacked
from .lanes import Lane, Spot, blocks

# Lanes beyond these are in the table alone.
_MOST_MARKS = 120
_SHARES = (0, 1)


def values(series: Sequence[Series], *, most_marks: int = _MOST_MARKS) -> Figure:
    """The values of all series."""
    who = called(series)
    found = _lanes(series)
    apart, more = _drawn(found, max(1, most_marks // len(series)))
    sentence = _sentence(series, who)
    if not any(apart):
        sentence += " There is no number to draw."
    return Figure(
        "values",
        "Values",
        sentence,
        stacked("Values", sentence, series, [each for lanes in apart for each in blocks(lanes)]),
        _numbers(series, who, more),
    )


def _lanes(series: Sequence[Series]) -> dict[str, Lane]:
    """Name of a value -> what is drawn of it."""
    lanes: dict[str, Lane] = {}
    without, alone = _said_once(series), len(series) == 1
    drawn = (_drawn_of(index, each, without, alone=alone) for index, each in enumerate(series))
    asked = asked_for((each.group for each in series), without)
    for own in in_columns(drawn, asked=asked):
        for name, lane in own.items():
            lanes.setdefault(name, Lane(name, [], *lane[2:])).spots.extend(lane.spots)
    return lanes


def _said_once(series: Sequence[Series]) -> tuple[str, ...]:
    return rows.said_once(*(each.group for each in series))


def _drawn_of(
    index: int, series: Series, without: Collection[str], *, alone: bool
) -> Iterator[tuple[Identity, str, str, Lane]]:
    """What a series has: of which value of which metric, what that is called, and its lane."""
    for outcome in series.group.metrics:
        name_of, metric = names(outcome, without), told_by(outcome, without)
        measured_in = unit(outcome.type, outcome.kwargs)
        for value, number in outcome.values.items():
            if number is None:
                continue
            sure = outcome.uncertainty.get(value)
            spot = Spot(index, number, *((sure.low, sure.high) if sure else ()))
            whole = name_of.whole(value) + (f" in {measured_in}" if measured_in else "")
            shown = _shown(outcome, value) if alone else ""
            yield metric, value, whole, Lane(whole, [spot], shown, measured_in)


def _shown(outcome: Outcome, name: str) -> str:
    text = rows.cells(outcome, name, "significant")
    return f"{text.value} {text.interval}" if "[" in text.interval else text.value


def _drawn(found: dict[str, Lane], room: int) -> tuple[list[list[Lane]], int]:
    """The lanes by their axis, those of shares on one; and how many are in the table alone."""
    shares = [lane for lane in found.values() if _is_share(lane)]
    # A number alone on an axis of its own says nothing.
    others = [
        lane for lane in found.values() if lane not in shares and (len(set(lane.numbers)) > 1)
    ]
    kept = list(islice([*shares, *others], room))
    together = [lane for lane in kept if _is_share(lane)]
    apart = [[lane] for lane in kept if not _is_share(lane)]
    return [*([together] if together else []), *apart], len(found) - len(kept)


def _is_share(lane: Lane) -> bool:
    low, high = _SHARES
    return lane.unit is None and all(low <= number <= high for number in lane.numbers)


def _sentence(series: Sequence[Series], who: Sequence[str]) -> str:
    """What the first metric gives, with its interval."""
    first = next((o for each in series for o in each.group.metrics if o.values), None)
    if first is None:
        return "No metric has a value."
    name = next(iter(first.values))
    called_ = names(first, _said_once(series)).whole(name)
    shown, having, sure = [], [], []
    for each, whose in zip(series, who, strict=True):
        outcome = _same(each, first)
        if outcome is not None and name in outcome.values:
            text = rows.cells(outcome, name, "significant")
            interval = f" {text.interval}" if "[" in text.interval else ""
            shown.append(f"{text.value}{interval}")
            having.append(whose)
            sure.append(_explained(outcome.uncertainty.get(name)))
    if len(set(sure)) > 1:
        shown = [text + f", {how}" * bool(how) for text, how in zip(shown, sure, strict=True)]
        return f"{called_}: {listed_by(having, shown, of=len(series))}."
    how = f"; in brackets {sure[0]}" if sure and sure[0] else ""
    return f"{called_}: {listed_by(having, shown, of=len(series))}{how}."


def _explained(sure: Uncertainty | None) -> str:
    if sure is None or sure.low is None:
        return ""
    method = sure.method.replace("wilson", "Wilson")
    return f"the {100 * sure.level:g}% interval ({method})"


def _same(series: Series, outcome: Outcome) -> Outcome | None:
    """What this series has of a metric of another."""
    wanted = told_by(outcome)
    return next((o for o in series.group.metrics if told_by(o) == wanted), None)


def _numbers(series: Sequence[Series], who: Sequence[str], more: int) -> Numbers:
    several, without = len(series) > 1, _said_once(series)
    lines, ids = [], []
    for each, whose in zip(series, who, strict=True):
        for row in rows.rows(each.group, without=without):
            cells = (
                indented(row.metric, row.indent),
                row.value,
                row.stderr,
                row.interval,
                row.n,
                row.why,
            )
            lines.append((whose, *cells) if several else cells)
            ids.append(f"{whose} {row.metric}" if several else row.metric)
    headings = ("metric", "value", "stderr", "interval", "trials / tasks", "why")
    filled = [i for i in range(len(headings)) if i < 2 or any(li[i + several] for li in lines)]
    head = ["run"] if several else []
    kept = [*range(len(head)), *(i + several for i in filled)]
    note = f"{plural(more, 'value')} of these {'is' if more == 1 else 'are'} not in the picture"
    return Numbers(
        (*head, *(headings[i] for i in filled)),
        [tuple(line[i] for i in kept) for line in lines],
        ids,
        1 + several,
        note if more else "",
    )
