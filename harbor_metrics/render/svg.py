"""What pictures are drawn with: scales, ticks, axes, marks; numbers in, SVG out.

Across, places are shares of the width, so that a picture fits a telephone and a page without its
text growing or shrinking; downwards they are pixels. Shapes, sizes and colours are attributes,
for a policy may drop every style; ink is `currentColor`, so that it can be read on any ground.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ..documents.wording import columns
from ..evaluation.distinct import apart
from ..numbers.exact import Number
from .markup import Markup, decimal, element, joined

FONT = 12
# Marks that can be told from white and from black paper, by their light and by their shape.
COLOURS = ("#2a7fd4", "#c65d07", "#2e8b57", "#a050c8", "#b8860b", "#cc4477")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down")
_PATHS = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "M-4-4h8v8h-8z",
    "triangle": "M0-5l5 9h-10z",
    "down": "M0 5l5-9h-10z",
    "diamond": "M0-5l5 5l-5 5l-5-5z",
    "cross": "M-4-4l8 8M4-4l-8 8",
}
# What `#2` behind a name takes.
_NUMBER = 3
# Whole words at the beginning of a name.
_WORDS = re.compile(r".*[^0-9A-Za-z]")
# The plot's share of the width, so that marks and numbers at its ends are not cut.
LEFT, RIGHT = 2.0, 98.0
# Where plots begin that have numbers on their left.
INSIDE = 9.0


class Scale(NamedTuple):
    """From numbers to places between `start` and `end`: percents across, or pixels downwards."""

    low: Fraction
    high: Fraction
    start: float = LEFT
    end: float = RIGHT

    def at(self, value: Number | Fraction) -> float:
        """The place of a number; beyond the ends, the end."""
        return self.start + share(value, self.low, self.high) * (self.end - self.start)

    def across(self, value: Number | Fraction) -> str:
        """The place of a number as a share of the width."""
        return percent(self.at(value))


def share(value: Number | Fraction, low: Number | Fraction, high: Number | Fraction) -> float:
    """How far a number is from low to high, from 0 to 1; in between where both are one."""
    reach = Fraction(high) - Fraction(low)
    if not reach:
        return 0.5
    return min(1.0, max(0.0, float((Fraction(value) - Fraction(low)) / reach)))


def exact(number: Number) -> Fraction:
    """The number as an end of a scale."""
    return Fraction(number)


def scale(
    values: Iterable[Number | Fraction],
    start: float = LEFT,
    end: float = RIGHT,
    *,
    shares: bool = True,
) -> Scale:
    """From 0 to 1 for shares that lie there; else as far as they reach, and a little more."""
    known = list(values)
    low, high = Fraction(min(known, default=0)), Fraction(max(known, default=1))
    if shares and low >= 0 and high <= 1:
        return Scale(Fraction(0), Fraction(1), start, end)
    margin = (high - low or abs(high) or Fraction(1)) / 20
    return Scale(low - margin, high + margin, start, end)


def ticks(low: Fraction, high: Fraction, most: int = 6) -> list[Decimal]:
    """Round numbers from low to high, evenly spaced by 1, 2 or 5 of some power of ten."""
    gap = (high - low) / most or Fraction(1)
    place = (Decimal(gap.numerator) / gap.denominator).adjusted()
    for exponent in range(place, place + 3):
        for step in (1, 2, 5):
            size = step * Fraction(10) ** exponent
            first, last = math.ceil(low / size), math.floor(high / size)
            if last - first < most:
                return [Decimal(i * step).scaleb(exponent) for i in range(first, last + 1)]
    return []


def tick_text(value: Decimal) -> str:
    """A tick as people read it: `0.5`, `2000`, `1e+6`."""
    if not value:
        return "0"
    plain = Decimal("0.0001") <= abs(value) < 10**6
    return f"{value.normalize():f}" if plain else f"{value.normalize():e}"


def percent(share: float) -> str:
    """A share of the width."""
    return f"{decimal(share)}%"


def label(
    text: str,
    x: str,
    y: float,
    *,
    anchor: str | None = None,
    bold: bool = False,
    size: int | None = None,
) -> Markup:
    """A text with its foot at y."""
    return element(
        "text",
        text,
        x=x,
        y=y,
        text_anchor=anchor,
        font_weight="600" if bold else None,
        font_size=size,
    )


def cut(text: str, most: int) -> str:
    """The text, or its beginning and its end in as much as `most` columns hold."""
    if columns(text[: 2 * most]) <= most and len(text) <= 2 * most:
        return text
    start, end = text[: most - most // 2 - 1], text[len(text) - most // 2 :]
    while columns(start) + columns(end) >= most:
        start, end = start[:-1], end[1:]
    return f"{start}…{end}"


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """The names cut, without the words that all begin with where one is too long."""
    if len(names) > 1 and any(columns(name[: 2 * most]) > most for name in names):
        beginning = os.path.commonprefix(list(names))  # noqa: RUF071  # of characters
        shared = _WORDS.match(beginning)
        names = [f"…{name[shared.end() :]}" for name in names] if shared else names
    return cut_apart(names, most)


def cut_apart(names: Sequence[str], most: int) -> list[str]:
    """The names cut; of several that would read alike the others have a number."""
    cuts = {name: cut(name, most) for name in names}
    if len(set(cuts.values())) < len(cuts):
        cuts = apart({name: cut(name, most - _NUMBER) for name in cuts})
    return [cuts[name] for name in names]


def line(
    x1: str,
    y1: float,
    x2: str,
    y2: float,
    *,
    colour: str = "currentColor",
    width: float = 1,
    opacity: float | None = None,
    dashes: str | None = None,
) -> Markup:
    """A straight line."""
    return element(
        "line",
        x1=x1,
        y1=y1,
        x2=x2,
        y2=y2,
        stroke=colour,
        stroke_width=width,
        stroke_opacity=opacity,
        stroke_dasharray=dashes,
    )


def mark(x: str, y: float, number: int, shape: str | None = None) -> Markup:
    """The sign of the n-th run, by colour and shape, in the middle of a place."""
    kind = shape or SHAPES[(number + number // len(SHAPES)) % len(SHAPES)]
    colour = COLOURS[number % len(COLOURS)]
    ink = {"fill": "none", "stroke": colour} if kind == "cross" else {"fill": colour}
    drawn = element("path", d=_PATHS[kind], stroke_width=3 if kind == "cross" else None, **ink)
    return element("svg", drawn, x=x, y=y, overflow="visible")


def whisker(places: Scale, low: Number, high: Number, y: float, number: int) -> Markup:
    """An interval across, with a stroke at both ends."""
    colour = COLOURS[number % len(COLOURS)]
    ends = [places.across(low), places.across(high)]
    return joined(
        [
            line(ends[0], y, ends[1], y, colour=colour, width=2),
            *(line(end, y - 4, end, y + 4, colour=colour, width=2) for end in ends),
        ]
    )


def bar(x: str, y: float, width: str, height: float, number: int) -> Markup:
    """A filled rectangle in the colour of the n-th run."""
    return element(
        "rect", x=x, y=y, width=width, height=height, fill=COLOURS[number % len(COLOURS)]
    )


def shade(left: float, right: float, top: float, foot: float) -> Markup:
    """A part of the ground that is darker."""
    return element(
        "rect",
        x=percent(left),
        y=top,
        width=percent(right - left),
        height=foot - top,
        fill_opacity=0.12,
    )


def _round(places: Scale, *, whole: bool) -> list[Decimal]:
    """Where an axis has its lines; of what is counted at whole numbers alone."""
    found = ticks(places.low, places.high)
    return [tick for tick in found if not whole or tick == tick.to_integral_value()]


def rules_across(places: Scale, top: float, foot: float, *, whole: bool = False) -> Markup:
    """Lines from top to foot at round numbers."""
    across = (places.across(Fraction(tick)) for tick in _round(places, whole=whole))
    return joined(line(at, top, at, foot, opacity=0.2) for at in across)


def numbers_across(places: Scale, y: float, *, whole: bool = False) -> Markup:
    """The round numbers of an axis."""
    texts = []
    for tick in _round(places, whole=whole):
        at = places.at(Fraction(tick))
        anchor = "start" if at < 3 else "end" if at > 97 else "middle"
        texts.append(label(tick_text(tick), percent(at), y, anchor=anchor, size=11))
    return joined(texts)


def axis_across(places: Scale, top: float, foot: float) -> Markup:
    """Lines from top to foot at round numbers, with the numbers below."""
    return joined([rules_across(places, top, foot), numbers_across(places, foot + 13)])


def axis_down(places: Scale) -> Markup:
    """Lines across at round numbers, each with its number above it on the left."""
    marks = []
    for tick in ticks(places.low, places.high):
        y = places.at(Fraction(tick))
        marks += [
            line("0%", y, "100%", y, opacity=0.2),
            label(tick_text(tick), "0%", y - 3, size=11),
        ]
    return joined(marks)


def stretched(
    path: str, places: tuple[float, float], top: float, height: float, **ink: str
) -> Markup:
    """A path in percents across and pixels downwards; `places` are its left and right end."""
    left, right = places
    drawn = element("path", d=path, vector_effect="non-scaling-stroke", **ink)
    return element(
        "svg",
        drawn,
        x=percent(left),
        y=top,
        width=percent(right - left),
        height=height,
        viewBox=f"{decimal(left)} {decimal(top)} {decimal(right - left)} {decimal(height)}",
        preserveAspectRatio="none",
    )


def legend(names: Sequence[str], top: float, most: int = 36) -> Markup:
    """A line for each run: its sign and its name; none for a single one."""
    return joined(
        joined([mark("6", top + 8 + i * 17, i), label(name, "18", top + 12 + i * 17)])
        for i, name in enumerate(told_apart(names, most))
    )


LEGEND_LINE = 17


def picture(name: str, described: str, height: float, *drawn: str) -> Markup:
    """A whole picture, as wide as there is room."""
    return element(
        "svg",
        element("title", name),
        element("desc", described),
        *drawn,
        role="img",
        width="100%",
        height=height,
        font_family="system-ui, sans-serif",
        font_size=FONT,
        fill="currentColor",
    )
