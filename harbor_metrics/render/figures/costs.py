"""Picture 7: what an attempt costs against the first value, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ...documents.wording import listed
from ...evaluation.naming import Identity, names, told_by
from ...evaluation.result import Outcome, Uncertainty
from ...numbers.exact import Number
from ...reports.series import Series
from .. import rows, svg
from ..markup import Markup
from ..numerals import Numerals
from ..svg import Scale, picture
from ..together import higher_is_better
from .figure import Figure, Numbers, called, key_of, of_each

_HEIGHT = 190


class _Point(NamedTuple):
    """`of`: which value of which metric it is; `worth`: more of it is better, if that is known."""

    series: int
    of: tuple[Identity, str]
    cost: Number
    value: Number
    sure_cost: Uncertainty | None
    sure_value: Uncertainty | None
    worth: Number | None


def costs(series: Sequence[Series]) -> Figure | None:
    """The series whose cost is known and whose first metric has one value."""
    points = [point for i, each in enumerate(series) if (point := _point(i, each)) is not None]
    if not points:
        return None
    # One axis is of one metric.
    found = [point for point in points if point.of == points[0].of]
    who = called(series)
    name = _value(series[found[0].series])
    legend, top = key_of(series)
    spent = [n for p in found for n in (p.cost, *_ends(p.sure_cost))]
    across = svg.scale([0, *spent], svg.INSIDE, shares=False)
    down = svg.scale(
        [n for p in found for n in (p.value, *_ends(p.sure_value))], top + _HEIGHT + 14, top + 14
    )
    drawn = [legend, svg.axis_down(down), svg.axis_across(across, top + 14, top + 14 + _HEIGHT)]
    drawn += _steps(found, across, down)
    for point in found:
        drawn += _cross(point, across, down)
    foot = top + _HEIGHT + 46
    drawn.append(svg.label("US dollars an attempt", "50%", foot - 2, anchor="middle", size=11))
    sentence = _sentence(series, found, who, name[0] if name else "")
    return Figure(
        "costs",
        "Cost and value",
        sentence,
        picture("Cost and value", sentence, foot + 4, *drawn),
        _numbers(found, who, series, name[0] if name else ""),
    )


def _value(series: Series) -> tuple[str, str, Outcome] | None:
    """The first value of the group: what it is called, its key, and whose it is."""
    for outcome in series.group.metrics:
        for name, value in outcome.values.items():
            if value is not None:
                return names(outcome, rows.said_once(series.group)).whole(name), name, outcome
    return None


def _spent(series: Series) -> Number | None:
    return series.cost.values.get("cost-per-task") if series.cost is not None else None


def _point(index: int, series: Series) -> _Point | None:
    cost, spent, value = series.cost, _spent(series), _value(series)
    if cost is None or spent is None or value is None:
        return None
    _, name, outcome = value
    own = outcome.values[name]
    assert own is not None
    sure = outcome.uncertainty.get(name)
    of = (told_by(outcome), name)
    higher = higher_is_better(outcome, name)
    worth = None if higher is None else own if higher else -own
    return _Point(index, of, spent, own, cost.uncertainty.get("cost-per-task"), sure, worth)


def _ends(sure: Uncertainty | None) -> list[Number]:
    return [end for end in (sure.low, sure.high) if end is not None] if sure else []


def _cross(point: _Point, across: Scale, down: Scale) -> list[Markup]:
    colour = svg.COLOURS[point.series % len(svg.COLOURS)]
    x, y = across.across(point.cost), down.at(point.value)
    drawn = []
    if len(ends := _ends(point.sure_cost)) == 2:
        left, right = map(across.across, ends)
        drawn.append(svg.line(left, y, right, y, colour=colour, width=1.5))
    if len(ends := _ends(point.sure_value)) == 2:
        drawn.append(svg.line(x, down.at(ends[0]), x, down.at(ends[1]), colour=colour, width=1.5))
    return [*drawn, svg.mark(x, y, point.series)]


def best(found: Sequence[_Point]) -> list[_Point]:
    """The points that none is both cheaper and better than, cheapest first.

    None of values of which nobody says which is better.
    """
    worths = [(point.worth, point) for point in found]
    known = [(worth, point) for worth, point in worths if worth is not None]
    if len(known) < len(found):
        return []
    kept: list[tuple[Number, _Point]] = []
    for worth, point in sorted(known, key=lambda pair: (pair[1].cost, -pair[0])):
        if not kept or worth > kept[-1][0]:
            kept.append((worth, point))
    return [point for _, point in kept]


def _steps(found: Sequence[_Point], across: Scale, down: Scale) -> list[Markup]:
    """The most that each cost has bought so far."""
    kept = best(found)
    if len(kept) < 2:
        return []
    drawn = []
    for one, other in pairwise(kept):
        turn = across.across(other.cost)
        y = down.at(one.value)
        drawn += [
            svg.line(across.across(one.cost), y, turn, y, opacity=0.5, dashes="3 3"),
            svg.line(turn, y, turn, down.at(other.value), opacity=0.5, dashes="3 3"),
        ]
    return drawn


def _sentence(
    series: Sequence[Series], found: Sequence[_Point], who: Sequence[str], name: str
) -> str:
    texts = []
    for point in found:
        whose = f"{who[point.series]}: " if len(series) > 1 else ""
        spent, own = _texts(series[point.series])
        texts.append(f"{whose}{spent.value} US dollars an attempt for {name} {own.value}")
    front = [who[point.series] for point in best(found)]
    more = ""
    if len(front) == len(found) > 1:
        more = " Each dearer one is better."
    elif front and len(found) > 1:
        more = f" None is both cheaper and better than {listed(front, 3)}."
    known = {point.series for point in found}
    others = {i for i, each in enumerate(series) if i not in known and _spent(each) is not None}
    unknown = [whose for i, whose in enumerate(who) if i not in known | others]
    if unknown:
        more += f" What it costs is not known of {listed(unknown, 3)}."
    if others:
        more += f" {name} is not the first value of {listed([who[i] for i in sorted(others)], 3)}."
    return f"{of_each(texts)}.{more}"


def _texts(series: Series) -> tuple[Numerals, Numerals]:
    """The cost and the value as people read them."""
    value = _value(series)
    assert series.cost is not None
    assert value is not None
    _, name, outcome = value
    return (
        rows.cells(series.cost, "cost-per-task", "significant"),
        rows.cells(outcome, name, "significant"),
    )


def _numbers(
    found: Sequence[_Point], who: Sequence[str], series: Sequence[Series], name: str
) -> Numbers:
    lines = []
    for point in found:
        spent, own = _texts(series[point.series])
        lines.append((who[point.series], spent.value, spent.interval, own.value, own.interval))
    heads = ("run", "US dollars an attempt", "interval", name or "value", "interval")
    return Numbers(heads, lines)
