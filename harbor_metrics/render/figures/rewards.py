"""Picture 6: where the rewards lie, where they are not 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

from ...documents.wording import plural, printable
from ...reports.rewards import Bins
from ...reports.series import Series
from .. import svg
from ..markup import Markup, joined
from ..numerals import exact
from .figure import Figure, Numbers, called, of_each, stacked

_HEIGHT = 90


def rewards(series: Sequence[Series]) -> Figure | None:
    """How often the rewards of each series lie where."""
    found = [(i, each.rewards) for i, each in enumerate(series) if each.rewards is not None]
    if not found:
        return None
    who = called(series)
    across = svg.scale((edge for _, bins in found for edge in bins.edges), svg.INSIDE)
    blocks = [partial(_block, index, bins, across) for index, bins in found]
    sentence = of_each(
        [
            _sentence(each, who[i] if len(series) > 1 else "")
            for i, each in enumerate(series)
            if each.rewards is not None
        ]
    )
    return Figure(
        "rewards",
        "Rewards",
        f"{sentence}.",
        stacked("Rewards", sentence, series, blocks),
        _numbers(series, found),
    )


def _block(index: int, bins: Bins, across: svg.Scale, top: float) -> tuple[Markup, float]:
    foot = top + _HEIGHT + 14
    down = svg.scale([0, *bins.times], foot, top + 14)._replace(low=Fraction(0))
    axes = [svg.axis_down(down), svg.axis_across(across, foot, foot)]
    return joined([*axes, *_bars(index, bins, across, down)]), foot + 22


def _bars(index: int, bins: Bins, across: svg.Scale, down: svg.Scale) -> list[Markup]:
    foot = down.at(0)
    drawn = []
    for (low, high), times in zip(pairwise(bins.edges), bins.times, strict=True):
        start, end = across.at(low), across.at(high)
        if start == end:
            start, end = start - 1, end + 1
        if times:
            top = min(down.at(times), foot - 1)
            x, width = svg.percent(start), svg.percent((end - start) * 0.94)
            drawn.append(svg.bar(x, top, width, foot - top, index))
    return drawn


def _sentence(series: Series, name: str) -> str:
    assert series.tasks is not None
    column = series.tasks.column
    n = len(column)
    least, most = exact(column.least), exact(column.most)
    middle = exact(column.ordered[n // 2])
    who = f"{name}: " if name else ""
    of = f" {printable(series.tasks.key)}" if series.tasks.n_keys > 1 else ""
    text = f"{who}{plural(n, 'reward')}{of} from {least} to {most}, the middle one {middle}"
    missing = series.tasks.n_missing
    return text + (f"; {missing} of them missing, as 0" if missing else "")


def _numbers(series: Sequence[Series], found: Sequence[tuple[int, Bins]]) -> Numbers:
    who = called(series)
    several = len(series) > 1
    lines = []
    for index, bins in found:
        for (low, high), times in zip(pairwise(bins.edges), bins.times, strict=True):
            own = (f"{exact(low)} to {exact(high)}", str(times))
            lines.append((who[index], *own) if several else own)
    heads = ("rewards", "how many")
    return Numbers((("run", *heads) if several else heads), lines, (), 1 + several)
