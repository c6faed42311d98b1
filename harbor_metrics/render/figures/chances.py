"""Picture 5: pass@k and pass^k over k, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...documents.wording import printable
from ...evaluation.result import Outcome
from ...reports.series import Series
from .. import rows, svg
from ..markup import Markup, decimal, joined
from ..numerals import significant
from ..svg import Scale, picture
from .figure import Figure, Numbers, called, key_of, listed_by

_HEIGHT = 170
_SIGNS = ("pass@k", "pass^k")


def chances(series: Sequence[Series]) -> Figure | None:
    """The curves of the series that have several attempts of 0 or 1 at each task."""
    curves = [
        (index, sign, outcome)
        for index, each in enumerate(series)
        for sign, outcome in zip(_SIGNS, (each.pass_at_k, each.pass_hat_k), strict=True)
        if outcome is not None and outcome.status == "ok"
    ]
    if not curves:
        return None
    sentence = _sentence(series, curves)
    legend, top = key_of(series)
    most = max(int(k) for _, _, outcome in curves for k in outcome.values)
    across = svg.Scale(svg.exact(1), svg.exact(most), svg.INSIDE, 95.0)
    down = svg.scale([], top + _HEIGHT + 14, top + 14)
    drawn = [legend, svg.axis_down(down)]
    # No curve lies below the band of another.
    drawn += [_band(index, outcome, across, down) for index, _, outcome in curves]
    for index, sign, outcome in curves:
        drawn.append(_curve(index, outcome, across, down, dashed=sign == _SIGNS[1]))
    foot = top + _HEIGHT + 30
    ks = sorted({int(k) for _, _, outcome in curves for k in outcome.values})
    drawn += [svg.label(str(k), across.across(k), foot, anchor="middle", size=11) for k in ks]
    drawn.append(svg.label("k", "100%", foot, anchor="end", size=11))
    return Figure(
        "chances",
        "Chances of k attempts",
        sentence,
        picture("Chances of k attempts", sentence, foot + 6, *drawn),
        _numbers(series, curves),
    )


def _sentence(series: Sequence[Series], curves: Sequence[tuple[int, str, Outcome]]) -> str:
    who = _by_rewards(series)
    parts = []
    for wanted, what in zip(_SIGNS, ("at least one passes", "all pass"), strict=True):
        # Of each run its own largest k.
        ends: dict[str, list[tuple[str, str]]] = {}
        for i, sign, outcome in curves:
            k, value = list(outcome.values.items())[-1]
            if sign == wanted and value is not None:
                ends.setdefault(k, []).append((who[i], svg.cut(significant(value, 3), 12)))
        for k, found in ends.items():
            names, texts = zip(*found, strict=True)
            parts.append(f"of {k} attempts {what}: {listed_by(names, texts, of=len(series))}")
    by = f", by the reward {who[0]}" if len(series) == 1 and who[0] else ""
    text = f"{'; '.join(parts)}{by}. Full lines are pass@k, dashed ones pass^k."
    return text[0].upper() + text[1:]


def _by_rewards(series: Sequence[Series]) -> list[str]:
    """What the runs are called, with the reward of each that a metric chose; of one that."""
    rewards = [
        f"`{printable(t.key)}`" if (t := each.tasks) is not None and each.by_metric else ""
        for each in series
    ]
    if len(series) == 1:
        return rewards
    return [
        f"{name} ({key})" if key else name
        for name, key in zip(called(series), rewards, strict=True)
    ]


def _curve(index: int, outcome: Outcome, across: Scale, down: Scale, *, dashed: bool) -> Markup:
    colour = svg.COLOURS[index % len(svg.COLOURS)]
    points = [(int(k), value) for k, value in outcome.values.items() if value is not None]
    parts = []
    for (k1, v1), (k2, v2) in pairwise(points):
        parts.append(
            svg.line(
                across.across(k1),
                down.at(v1),
                across.across(k2),
                down.at(v2),
                colour=colour,
                width=2,
                dashes="5 4" if dashed else None,
            )
        )
    parts += [svg.mark(across.across(k), down.at(value), index) for k, value in points]
    return joined(parts)


def _band(index: int, outcome: Outcome, across: Scale, down: Scale) -> Markup:
    found = ((int(k), outcome.uncertainty.get(k)) for k in outcome.values)
    ends = [
        (across.at(k), down.at(sure.low), down.at(sure.high))
        for k, sure in found
        if sure is not None and sure.low is not None and sure.high is not None
    ]
    if len(ends) < 2:
        return Markup()
    there = [f"{decimal(x)} {decimal(low)}" for x, low, _ in ends]
    back = [f"{decimal(x)} {decimal(high)}" for x, _, high in reversed(ends)]
    top, foot = down.end, down.start
    return svg.stretched(
        f"M{'L'.join([*there, *back])}z",
        (across.start, across.end),
        top,
        foot - top,
        fill=svg.COLOURS[index % len(svg.COLOURS)],
        fill_opacity="0.15",
    )


def _numbers(series: Sequence[Series], curves: Sequence[tuple[int, str, Outcome]]) -> Numbers:
    who = _by_rewards(series)
    several = len(series) > 1
    lines = []
    for index, sign, outcome in curves:
        for k in outcome.values:
            text = rows.cells(outcome, k, "significant")
            own = (f"{sign[:-1]}{k}", text.value, text.stderr, text.interval)
            lines.append((who[index], *own) if several else own)
    heads = ("chance", "value", "stderr", "interval")
    return Numbers((("run", *heads) if several else heads), lines, (), 1 + several)
