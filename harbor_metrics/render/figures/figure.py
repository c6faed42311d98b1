"""A picture with what stands around it: a heading, a sentence, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...documents.wording import printable
from ...evaluation.distinct import joined_apart
from ...reports.series import Series
from .. import rows
from ..markup import Markup, joined
from ..svg import LEGEND_LINE, legend, picture, told_apart

# The longest table; how many lines more there are is said.
MOST_LINES = 200
# Of so many runs the sentence of a picture says something: each part of the picture has it, and of
# many runs there are many parts.
_MOST_SAID = 12


class Numbers(NamedTuple):
    """The numbers of a picture as a table; the first `names` columns say what a row is.

    `ids` are what each row can be linked to by. `more`: what is left out, in words.
    """

    headings: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    ids: Sequence[str] = ()
    names: int = 1
    more: str = ""


class Figure(NamedTuple):
    """One picture; `id` is what a link to it ends in."""

    id: str
    heading: str
    sentence: str
    drawn: Markup
    numbers: Numbers
    # What links to it say, where the heading is long.
    short: str = ""

    @property
    def link(self) -> str:
        """What a link to it says."""
        return self.short or self.heading


def called(series: Sequence[Series]) -> list[str]:
    """What each series is called: what tells it from the others."""
    parts = [
        (each.run or "", each.group.agent or "", each.group.model or "", rows.dataset(each.group))
        for each in series
    ]
    apart = [i for i in range(4) if len({part[i] for part in parts}) > 1]
    if not apart:
        return [rows.title(each.group) for each in series]
    # A run's name stands for its agent and model.
    if 0 in apart and len({part[0] for part in parts}) == len(parts):
        apart = [0]
    return joined_apart([[printable(part[i]) for i in apart] for part in parts], " · ")


def key_of(series: Sequence[Series], top: float = 0) -> tuple[Markup, float]:
    """The legend of several series, and where it ends; nothing for a single one."""
    if len(series) < 2:
        return Markup(), top
    names = called(series)
    return legend(names, top), top + LEGEND_LINE * len(names) + 6


# Longer names in the headings of columns would leave no room for what stands beside them.
_HEADING = 20


def heads_of(names: Sequence[str]) -> list[str]:
    """What columns of these runs are headed by."""
    return told_apart(names, _HEADING)


# A sheet of paper has room for so much, and no picture is cut in two.
HIGHEST = 900
Block = Callable[[float], tuple[Markup, float]]


def stacked(
    title: str, described: str, series: Sequence[Series], blocks: Sequence[Block]
) -> Markup:
    """Blocks below each other, below the legend, in as many pictures as they need.

    A block is told where it begins, and says what it draws and where it ends.
    """
    legend, y = key_of(series)
    sheets: list[Markup] = []
    drawn = [legend]
    for block in blocks:
        own, foot = block(y)
        if foot > HIGHEST and y:
            sheets.append(_sheet(title, described, y, drawn, len(sheets)))
            drawn, (own, foot) = [], block(0)
        drawn.append(own)
        y = foot
    sheets.append(_sheet(title, described, y, drawn, len(sheets)))
    return joined(sheets)


def _sheet(title: str, described: str, foot: float, drawn: Sequence[Markup], before: int) -> Markup:
    name = f"{title}, part {before + 1}" if before else title
    return picture(name, described, max(foot, 1), *drawn)


def of_each(texts: Sequence[str]) -> str:
    """What is said of each run, as a sentence without its end; of many runs of the first ones."""
    more = [f"and {len(texts) - _MOST_SAID} more"] if len(texts) > _MOST_SAID else []
    return "; ".join([*texts[:_MOST_SAID], *more])


def listed_by(names: Sequence[str], texts: Sequence[str], *, of: int) -> str:
    """`0.46 (sail-1), 0.5 (sail-2)`; its text alone `of` a single run; of many the first three."""
    if of == 1:
        return texts[0]
    shown = [f"{text} ({name})" for name, text in zip(names, texts, strict=True)]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")
