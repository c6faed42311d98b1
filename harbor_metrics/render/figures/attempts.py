"""Picture 3: a row a task and a square an attempt, easiest first; of many tasks bins of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from ...documents.wording import plural, printable
from ...numbers.exact import Number, add_up
from ...reports.series import Series
from ...reports.tasks import Attempts, Tasks, easiest
from .. import svg
from ..markup import Markup, element, joined
from ..numerals import exact
from .figure import MOST_LINES, Block, Figure, Numbers, called, heads_of, of_each, stacked

# Beyond these a page is too small for a row a task, and a telephone for a square an attempt.
_MOST_TASKS, _MOST_SQUARES = 150, 48
_ROWS, _NAME = 60, 40
_TITLE = "Attempts by task"
_BINS, _BIN_HEIGHT = 60, 90
_LARGEST, _SMALLEST, _WIDTH, _BETWEEN, _ROW = 11, 3, 180, 8, 14
# How much ink a reward of the lowest and of the highest value gets, and in how many steps.
LIGHTEST, DARKEST = 0.13, 1.0
_STEPS = 5


class _Run(NamedTuple):
    number: int
    tasks: Tasks


def attempts(series: Sequence[Series]) -> Figure | None:
    """The attempts of the series whose tasks are known; None where there are none."""
    runs = [_Run(i, each.tasks) for i, each in enumerate(series) if each.tasks is not None]
    if not runs:
        return None
    n = max(len(run.tasks) for run in runs)
    if len(runs) > 1:
        n = max(n, len({task for run in runs for task in run.tasks.means}))
    order = easiest([run.tasks for run in runs], MOST_LINES if n > MOST_LINES else None)
    squares = sum(run.tasks.most_attempts for run in runs)
    each_task = n <= _MOST_TASKS and squares <= _MOST_SQUARES and bool(order)
    sentence = _sentence(series, runs, each_task=each_task)
    blocks: list[Block]
    if each_task:
        names = svg.told_apart([printable(task) for task in order], _NAME)
        rows = list(zip(order, names, strict=True))
        blocks = [partial(_grid, runs, rows[i : i + _ROWS]) for i in range(0, len(rows), _ROWS)]
    else:
        blocks = [partial(_bins, run) for run in runs]
    return Figure(
        "attempts",
        _TITLE,
        sentence,
        stacked(_TITLE, sentence, series, blocks),
        _numbers(series, runs, order, n),
    )


def _sentence(series: Sequence[Series], runs: Sequence[_Run], *, each_task: bool) -> str:
    who = called(series)
    parts = []
    for index, tasks in runs:
        always = sum(times for mean, times in tasks.spread if mean >= 1)
        never = sum(times for mean, times in tasks.spread if mean <= 0)
        name = f"{who[index]}: " if len(series) > 1 else ""
        what = "passed in every attempt" if tasks.binary else "got 1 or more on average"
        none = "in none" if tasks.binary else "got 0 or less"
        parts.append(f"{name}{always} of {plural(len(tasks), 'task')} {what}, {never} {none}")
    by = [f"by the reward `{printable(t.key)}`" if t.n_keys > 1 else "" for _, t in runs]
    of = f", {by[0]}" if by[0] else ""
    if len(set(by)) > 1:
        parts, of = (
            [f"{part} ({key})" if key else part for part, key in zip(parts, by, strict=True)],
            "",
        )
    full, higher = "full where it passes", "the fuller the higher its reward"
    how = f"A square is an attempt, {full if runs[0].tasks.binary else higher}"
    if len({tasks.binary for _, tasks in runs}) > 1:
        how = f"A square is an attempt, {full} (all rewards are 0 or 1), or {higher}"
    how += "; hatched where the reward is missing, crossed where it ended in an error"
    bins = f"Tasks from the easiest to the hardest in up to {_BINS} bars, each as high as its mean"
    return f"{of_each(parts)}{of}. {how if each_task else bins}."


def _grid(
    runs: Sequence[_Run], rows: Sequence[tuple[str, str]], top: float
) -> tuple[Markup, float]:
    """The squares of tasks, each with the name that stands beside it."""
    order = [task for task, _ in rows]
    squares = sum(run.tasks.most_attempts for run in runs)
    room = _WIDTH - _BETWEEN * (len(runs) - 1)
    step = max(_SMALLEST + 1, min(_LARGEST + 1, room // max(1, squares)))
    parts, left = [], 0
    for index, tasks in runs:
        found = tasks.attempts(order)
        parts.append(_squares(index, tasks, [found.get(t) for t in order], (left, top), step))
        left += step * tasks.most_attempts + _BETWEEN
    for row, (_, name) in enumerate(rows):
        y = top + row * _ROW + step / 2 + 4
        parts.append(svg.label(name, str(left), y, size=11))
    return joined(parts), top + len(order) * _ROW + 2


def _squares(
    index: int, tasks: Tasks, rows: Sequence[Attempts | None], at: tuple[float, float], step: int
) -> Markup:
    """One path for all squares of one kind: a page of them stays small."""
    side = step - 1
    low, high = _ends(tasks)
    # A square is a thick stroke: a page of them stays half as large.
    square, hatched = f"h{side}", f"h{side}v{side}h-{side}zm0 {side}l{side}-{side}"
    cross = f"l{side} {side}m0-{side}l-{side} {side}"
    paths: dict[int | str, list[str]] = {}
    for row, attempts in enumerate(rows):
        pairs = zip(*attempts, strict=True) if attempts else ()
        for column, (reward, error) in enumerate(pairs):
            x, y = at[0] + column * step, at[1] + row * _ROW
            start = f"M{x:g} {y:g}"
            if reward is not None:
                level = _level(reward, low, high)
                paths.setdefault(level, []).append(f"M{x:g} {y + side / 2:g}{square}")
            elif not error:
                paths.setdefault("missing", []).append(f"{start}{hatched}")
            if error:
                paths.setdefault("error", []).append(f"{start}{cross}")
    colour = svg.COLOURS[index % len(svg.COLOURS)]
    return joined(_path(kind, "".join(d), colour, side) for kind, d in paths.items())


def _path(kind: int | str, d: str, colour: str, side: int) -> Markup:
    if isinstance(kind, str):
        return element("path", d=d, fill="none", stroke="currentColor")
    return element("path", d=d, stroke=colour, stroke_width=side, stroke_opacity=ink(kind / _STEPS))


def ink(share: float) -> float:
    """The opacity of a reward: the ground shines through low ones, be it white or black."""
    return LIGHTEST + (DARKEST - LIGHTEST) * share


def _ends(tasks: Tasks) -> tuple[Number, Number]:
    """The rewards that get the least and the most ink."""
    least, most = tasks.column.least, tasks.column.most
    return (0, 1) if least >= 0 and most <= 1 else (least, most)


def _level(reward: Number, low: Number, high: Number) -> int:
    return round(_STEPS * svg.share(reward, low, high))


def _bins(run: _Run, top: float) -> tuple[Markup, float]:
    means = [mean for mean, times in run.tasks.spread for _ in range(times)]
    n = min(_BINS, len(means))
    edges = [round(i * len(means) / n) for i in range(n + 1)]
    heights = [add_up(means[a:b]) / (b - a) for a, b in pairwise(edges)]
    foot = top + _BIN_HEIGHT + 12
    places = svg.scale([0, *heights], foot, top + 12)
    width = (svg.RIGHT - svg.INSIDE) / n
    zero = places.at(0)
    parts = [svg.axis_down(places)]
    for i, height in enumerate(heights):
        at = places.at(height)
        x = svg.percent(svg.INSIDE + i * width)
        y, high = min(at, zero), abs(zero - at)
        parts.append(svg.bar(x, y, svg.percent(width * 0.85), high, run.number))
    parts += [
        svg.label("easiest", svg.percent(svg.INSIDE), foot + 14, size=11),
        svg.label("hardest", "98%", foot + 14, anchor="end", size=11),
    ]
    return joined(parts), foot + 24


def _numbers(
    series: Sequence[Series], runs: Sequence[_Run], order: Sequence[str], n: int
) -> Numbers:
    who = called(series)
    if not order:
        return _shares(runs, who)
    shown = order[:MOST_LINES]
    found = [run.tasks.attempts(shown) for run in runs]
    lines = [
        (
            printable(task),
            *(_said(own.get(task), run.tasks) for own, run in zip(found, runs, strict=True)),
        )
        for task in shown
    ]
    several = len(series) > 1
    short = heads_of(who)
    heads = [
        short[run.number] if several else "attempts that pass" if run.tasks.binary else "rewards"
        for run in runs
    ]
    more = f"and {plural(n - len(shown), 'task')} more" if n > len(shown) else ""
    return Numbers(("task", *heads), lines, shown, 1, more)


def _shares(runs: Sequence[_Run], who: Sequence[str]) -> Numbers:
    """How many tasks have each mean, where nobody kept their names."""
    lines = [
        (who[run.number], exact(mean), str(times))
        for run in runs
        for mean, times in run.tasks.spread
    ]
    more = len(lines) - MOST_LINES
    return Numbers(
        ("run", "mean", "tasks"), lines[:MOST_LINES], (), 1, f"and {more} more" if more > 0 else ""
    )


def _said(attempts: Attempts | None, tasks: Tasks) -> str:
    """`3 of 5`, or the rewards; with how many of the attempts lack one, or had an error."""
    if attempts is None:
        return "—"
    rewards = [reward for reward in attempts.rewards if reward is not None]
    n = len(attempts.rewards)
    if tasks.binary:
        text = f"{sum(reward == 1 for reward in rewards)} of {n}"
    else:
        text = ", ".join(exact(reward) for reward in rewards[:10]) or "none"
        text += f" and {len(rewards) - 10} more" if len(rewards) > 10 else ""
    missing, errors = n - len(rewards), sum(attempts.errors)
    text += f", {missing} missing" if missing else ""
    return text + (f", {plural(errors, 'error')}" if errors else "")
