"""One metric on both sides: a row for each of its values."""

from __future__ import annotations

import contextlib
from functools import cache

import msgspec

from ..contract.estimate import Estimate
from ..contract.metric import Bound, Value
from ..documents.wording import plural
from ..errors import MetricFailure
from ..evaluation.measurement import policy_of
from ..evaluation.result import Failure
from ..metrics.moments import BEYOND
from ..numbers import exact
from ..numbers.differences import Difference
from ..numbers.exact import Number
from ..trials.trial import times_of
from .document import Method, Row
from .finding import TOTALS, Asked, Finding, is_finite, less
from .grouping import grouped_otherwise
from .influences import moved, names_of, tasks_of
from .means import Answer, of_means
from .measured import Measured, values_of
from .ordered import ORDERED, drawn
from .pairing import Pairs
from .resampled import Ends, jackknife, left_out, number_of

# Of what a difference between two runs says nothing about other tasks.
_WITHOUT = {
    "min": "the smallest of some tasks says nothing of the smallest of others",
    "max": "the largest of some tasks says nothing of the largest of others",
    "count": "a count of trials is not a sample of anything",
    "frequency": "shares of all rewards move together; compare `pass-rate` with a threshold",
    "ci": "the end of an interval has no interval",
    "stderr": "a standard error has no interval here",
    "bootstrap-stderr": "a standard error has no interval here",
    "usage-quantile": "quantiles of attempts have no interval here; compare `quantile` of a reward",
}
_SCRIPT = (
    "a script gives a number, and not how its tasks make it up; --script-error-bars runs it "
    "without some tasks each time"
)
# So often a script is run more on each side to know how tasks move its numbers.
_SCRIPT_GROUPS = 20


def rows_of(asked: Asked, pairs: Pairs) -> list[Row]:
    """A row for each value of the metric; one without a value where it failed on a side."""
    planned = asked.planned
    try:
        if planned.failure is not None:
            raise planned.failure
        if planned.bound is None:
            return _of_script(asked, pairs)
        return _of_bound(asked, planned.bound, pairs)
    except MetricFailure as failure:
        return [asked.row(None, reason=str(failure))]


def _of_script(asked: Asked, pairs: Pairs) -> list[Row]:
    sides = _answers(asked, pairs)
    without: list[Ends] = []
    if asked.settings.script_error_bars and asked.settings.over == "tasks":
        without = left_out(pairs, lambda kept: _known_answers(asked, kept), _SCRIPT_GROUPS)
    rows = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        values = [side.get(name) for side in sides]
        missing = [
            f"{who}: {'null' if name in side else 'not there'}"
            for who, side in zip(asked.names, sides, strict=True)
            if side.get(name) is None
        ]
        n = len(pairs.paired)
        difference = less(values[1], values[0])
        reason = "; ".join(missing) or f"no interval: {_SCRIPT}"
        if without and values[0] is not None and values[1] is not None:
            reason = f"no interval: {BEYOND}"
            with contextlib.suppress(OverflowError):
                ends = (float(values[0]), float(values[1]))
                answer = jackknife(name, ends, without, n, asked.settings.level, amount=False)
                found = Finding(values[0], values[1], difference, answer, n, None, [])
                row = found.row(asked, name, [], 0)
                if is_finite(row):
                    rows.append(row)
                    continue
        rows.append(
            asked.row(
                name,
                base=values[0],
                candidate=values[1],
                difference=difference,
                n=n,
                reason=reason,
            )
        )
    return rows


def _answers(asked: Asked, pairs: Pairs) -> list[dict[str, Number | None]]:
    """What the script answers on both sides."""
    sides = []
    tables, scripts = (pairs.base, pairs.candidate), (asked.planned, asked.there or asked.planned)
    for who, table, script in zip(asked.names, tables, scripts, strict=True):
        (outcome,) = asked.run_scripts([script], table)
        if isinstance(outcome.error, Failure):
            raise MetricFailure(outcome.error.rule, f"{who}: ", said=outcome.error.message)
        sides.append(outcome.values)
    return sides


def _known_answers(asked: Asked, pairs: Pairs) -> Ends:
    """The numbers among them."""
    base, candidate = _answers(asked, pairs)
    return _known(base), _known(candidate)


def _known(side: dict[str, Number | None]) -> dict[str, Value]:
    return {name: value for name, value in side.items() if value is not None}


def _of_bound(asked: Asked, bound: Bound, pairs: Pairs) -> list[Row]:
    n_paired = len(pairs.paired)
    pairs, notes = _scored(asked, bound, pairs, bound.common.key)
    if not pairs.paired:
        return [asked.row(None, reason="no task has a reward on both sides")]
    otherwise = grouped_otherwise(bound, pairs, asked.names)
    if otherwise is not None:
        return [asked.row(None, reason=otherwise)]
    measured = Measured(asked, bound, pairs)

    @cache
    def of_reward(key: str | None) -> tuple[Measured | None, list[str]]:
        # One of several rewards: both values are of the same tasks.
        scored, more = (pairs, []) if key is None else _scored(asked, bound, pairs, key)
        if not scored.paired:
            return None, more
        return Measured(asked, bound, scored) if more else measured, more

    rows = []
    for name in dict.fromkeys([*measured.ends[0], *measured.ends[1]]):
        key = measured.keys.get(name)
        of_name, more = of_reward(key)
        told = [*notes, *more]
        if of_name is None:
            reason = "no task has a value on both sides"
            row = asked.row(name, reason=reason, notes=told, n=0, left_out=n_paired)
        else:
            row = _of_name(asked, bound, of_name, name, told, n_paired)
        rows.append(msgspec.structs.replace(row, key=key))
    return rows


def _of_name(
    asked: Asked, bound: Bound, measured: Measured, name: str, notes: list[str], n_paired: int
) -> Row:
    """The row of one of the metric's values."""
    pairs, (base, candidate) = measured.pairs, measured.ends
    numbers = [number_of(side.get(name)) for side in (base, candidate)]
    known = [None if isinstance(number, str) else number for number in numbers]
    if known[0] is None or known[1] is None:
        whys = [
            f"{who}: {number}"
            for who, number in zip(asked.names, numbers, strict=True)
            if isinstance(number, str)
        ]
        return asked.row(
            name,
            base=known[0],
            candidate=known[1],
            reason="; ".join(dict.fromkeys(whys)),
            notes=notes,
            left_out=n_paired - len(pairs.paired),
        )
    with contextlib.suppress(OverflowError):
        found = _of_means(asked, bound, pairs, name, base[name], candidate[name])
        if found is None:
            found = _of_numbers(asked, bound, measured, name, (known[0], known[1]))
        row = found.row(asked, name, notes, n_paired - found.n)
        if is_finite(row):
            return row
    return asked.row(
        name,
        base=known[0],
        candidate=known[1],
        difference=less(candidate[name], base[name]),
        reason=f"no interval: {BEYOND}",
        notes=notes,
        left_out=n_paired - len(pairs.paired),
    )


def _scored(asked: Asked, bound: Bound, pairs: Pairs, key: str | None) -> tuple[Pairs, list[str]]:
    """The pairs without tasks that have no reward on a side, where such trials are left out.

    A reward of this key, or without one any.
    """
    if policy_of(bound, asked.settings.missing) != "skip":
        return pairs, []
    kept = set(pairs.paired)
    for table in (pairs.base, pairs.candidate):
        columns = [table.columns.get(key, [])] if key is not None else list(table.columns.values())
        kept &= {
            task
            for column in columns
            for task, value in zip(table.tasks, column or (), strict=bool(column))
            if value is not None
        }
    left = len(pairs.paired) - len(kept)
    if not left:
        return pairs, []
    what = "any reward" if bound.common.key == key else "a value"
    return pairs.at(kept), [f"{plural(left, 'task')} without {what} on a side left out"]


def _of_means(
    asked: Asked, bound: Bound, pairs: Pairs, name: str, base: Value, candidate: Value
) -> Finding | None:
    """By the tasks that make two means up; None where they are no means of tasks."""
    settings = asked.settings
    notes: list[str] = []
    while True:
        if not isinstance(base, Estimate) or not isinstance(candidate, Estimate):
            return None
        base, candidate = base.known, candidate.known
        parts = [tasks_of(side) for side in (base, candidate)]
        if parts[0] is None or parts[1] is None:
            return None
        ours, theirs = names_of(parts[0]), names_of(parts[1])
        if ours == theirs:
            break
        # Tasks without a value on a side, such as a cost, are left out of both.
        both = ours & theirs
        if not both:
            return None
        notes = [f"{plural(len(ours ^ theirs), 'task')} without a value on a side left out"]
        pairs = pairs.at(both)
        values = values_of(asked, bound, pairs)
        if name not in values[0] or name not in values[1]:
            return None
        base, candidate = values[0][name], values[1][name]
    found = moved(base, candidate)
    assert found is not None  # both know their tasks
    answer = of_means(
        base,
        candidate,
        found,
        level=settings.level,
        over=settings.over,
        clusters=asked.clusters,
    )
    difference = exact.rounded(found.difference)
    attempts = _attempts(pairs)
    return Finding(
        base.value, candidate.value, difference, answer, len(found.names), attempts, notes
    )


def _of_numbers(
    asked: Asked,
    bound: Bound,
    measured: Measured,
    name: str,
    values: tuple[Number, Number],
) -> Finding:
    """By leaving tasks out or drawing them again, as the metric allows."""
    settings, n = asked.settings, len(measured.pairs.paired)
    ends = measured.ends[0][name], measured.ends[1][name]
    difference = less(ends[1], ends[0])
    statistic = bound.measures.metric.name
    method: Method = "bootstrap" if statistic in ORDERED else "jackknife"
    if settings.over == "attempts":
        reason = "undefined over attempts: the value is not a mean of attempts' own rewards"
        answer = Answer("welch t", Difference(), n, reason=reason)
    elif asked.clusters is not None:
        reason = f"no interval: {method} does not know of clusters"
        answer = Answer(method, Difference(), n, reason=reason)
    elif statistic in _WITHOUT:
        answer = Answer("none", Difference(), n, reason=f"no interval: {_WITHOUT[statistic]}")
    elif statistic in ORDERED:
        return drawn(asked, bound, measured.pairs, name, values)
    else:
        amount = bound.takes == "table" and min(values) > 0
        total = statistic in TOTALS
        answer = jackknife(
            name, ends, measured.without, n, settings.level, amount=amount, total=total
        )
    return Finding(*values, difference, answer, n, None, [])


def _attempts(pairs: Pairs) -> int | None:
    """How many attempts each task has on both sides; None where they are not all as many."""
    counts = [set(times_of(table.tasks).values()) for table in (pairs.base, pairs.candidate)]
    return next(iter(counts[0])) if counts[0] == counts[1] and len(counts[0]) == 1 else None
