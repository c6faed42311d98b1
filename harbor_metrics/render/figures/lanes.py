"""Lanes: a line of text, and below it a mark or a bar for each series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from ...documents.wording import columns
from ...numbers.exact import Number
from .. import svg
from ..markup import Markup, joined
from ..svg import Scale
from .figure import HIGHEST, Block

_TEXT, _MARK, _GAP, _FOOT = 15, 15, 7, 22
# So many columns fit beside each other on a telephone.
_NAME, _SHOWN = 34, 26


class Spot(NamedTuple):
    """The value of one series, and the interval around it where there is one."""

    series: int
    value: Number
    low: Number | None = None
    high: Number | None = None

    @property
    def numbers(self) -> list[Number]:
        """All its numbers."""
        return [n for n in (self.value, self.low, self.high) if n is not None]


class Lane(NamedTuple):
    """What is drawn of one value; `shown` stands on the right, `unit` is the value's."""

    name: str
    spots: list[Spot]
    shown: str = ""
    unit: str | None = None

    @property
    def numbers(self) -> list[Number]:
        """All numbers in it."""
        return [number for spot in self.spots for number in spot.numbers]

    @property
    def below(self) -> float:
        """How far below the name `shown` stands: nothing where both fit beside each other."""
        wide = min(columns(self.name), _NAME) + min(columns(self.shown), _SHOWN)
        return _TEXT if self.shown and wide >= _NAME else 0

    @property
    def height(self) -> float:
        """How high it is."""
        return _TEXT + self.below + _MARK * len(self.spots) + _GAP


def blocks(
    drawn: Sequence[Lane],
    *,
    bars: bool = False,
    zero: bool = False,
    band: Number | None = None,
    whole: bool = False,
) -> list[Block]:
    """The lanes over one axis, as many together as a sheet of paper has room for.

    `bars` begin at 0; with `zero` a line stands there, and what is within `band` of it is shaded.
    `whole`: only whole numbers mean something, as of bars.
    """
    numbers = [number for lane in drawn for number in lane.numbers]
    around = [] if band is None else [-band, band]
    shares = not zero and all(lane.unit is None for lane in drawn)
    places = svg.scale([*numbers, *around, *([0] if zero else [])], shares=shares)
    if bars:
        places = places._replace(low=Fraction(0), high=Fraction(max(numbers) or 1))
    names = svg.cut_apart([lane.name for lane in drawn], _NAME)
    drawn = [lane._replace(name=name) for lane, name in zip(drawn, names, strict=True)]
    n = max(1, int((HIGHEST - _FOOT) // max(lane.height for lane in drawn)))
    sheets = [drawn[i : i + n] for i in range(0, len(drawn), n)]
    return [
        partial(_lanes, sheet, places, bars=bars, zero=zero, band=band or 0, whole=whole or bars)
        for sheet in sheets
    ]


def _lanes(
    drawn: Sequence[Lane],
    places: Scale,
    top: float,
    *,
    bars: bool,
    zero: bool,
    band: Number,
    whole: bool,
) -> tuple[Markup, float]:
    """The lanes over one axis, and where they end."""
    parts: list[Markup] = []
    y = top
    for lane in drawn:
        parts.append(svg.label(lane.name, "0", y + 11, bold=True))
        y += lane.below
        if lane.shown:
            parts.append(svg.label(svg.cut(lane.shown, _SHOWN), "100%", y + 11, anchor="end"))
        y += _TEXT
        # The ground is drawn below marks alone, so that no line runs through a text.
        foot = y + _MARK * len(lane.spots)
        parts.append(svg.rules_across(places, y, foot, whole=whole))
        if band:
            parts.append(svg.shade(places.at(-band), places.at(band), y, foot))
        if zero:
            parts.append(svg.line(places.across(0), y, places.across(0), foot, width=1.5))
        for spot in lane.spots:
            parts += _bar(spot, places, y) if bars else _mark(spot, places, y)
            y += _MARK
        y += _GAP
    return joined([*parts, svg.numbers_across(places, y - _GAP + 13, whole=whole)]), y + _FOOT


def _mark(spot: Spot, places: Scale, y: float) -> Iterable[Markup]:
    middle = y + _MARK / 2
    if spot.low is not None and spot.high is not None:
        yield svg.whisker(places, spot.low, spot.high, middle, spot.series)
    yield svg.mark(places.across(spot.value), middle, spot.series)


def _bar(spot: Spot, places: Scale, y: float) -> Iterable[Markup]:
    start, end = places.at(0), places.at(spot.value)
    yield svg.bar(svg.percent(start), y + 2, svg.percent(end - start), _MARK - 5, spot.series)
