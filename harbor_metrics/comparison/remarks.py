"""What is not compared, and what makes two runs less alike than they should be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from ..trials.table import Missing, Table
from ..trials.trial import times_of
from ..trials.validity import is_left_out
from .pairing import Pairs
from .runs import Part

# What readers call a task that has no name, by its place.
_NUMBERED = re.compile(r"(line|task):[0-9]+")
_CALLED = {"line": "lines of rewards", "task": "rewards without tasks"}


def remarks(
    pairs: Pairs, parts: tuple[Part, Part], names: tuple[str, str], subject: str
) -> Iterator[Diagnostic]:
    """Remarks on the tasks and attempts of two runs, and on what each was planned to be."""
    left = {
        f"only in {names[0]}": pairs.only_base,
        f"only in {names[1]}": pairs.only_candidate,
        "changed": pairs.changed,
    }
    for where, tasks in left.items():
        if tasks:
            verb = "is" if len(tasks) == 1 else "are"
            yield Diagnostic(
                rule="tasks-unpaired",
                message=f"{plural(len(tasks), 'task')} {verb} {where}, and not compared: "
                f"{listed(tasks)}",
                subject=subject,
            )
    for name, other, tasks in zip(names, names[::-1], pairs.unsaid, strict=True):
        if tasks:
            yield Diagnostic(
                rule="versions-not-said",
                message=f"{name} says no version of {plural(len(tasks), 'task')}, and {other} "
                f"does: they are paired by their names alone ({listed(tasks)})",
                subject=subject,
            )
    tables = (pairs.base, pairs.candidate)
    numbered = next(filter(_NUMBERED.fullmatch, pairs.paired), None)
    if numbered is not None:
        kind, _, number = numbered.partition(":")
        yield Diagnostic(
            rule="paired-by-line",
            message=f"{_CALLED[kind]} are paired by their numbers: {kind} {number} of {names[0]} "
            f"with {kind} {number} of {names[1]}",
            subject=subject,
        )
    ours, theirs = (times_of(table.tasks) for table in tables)
    if ours != theirs:
        shown = [_span(counts) for counts in (ours, theirs)]
        yield Diagnostic(
            rule="attempts-differ",
            message=f"attempts at a task: {shown[0]} in {names[0]}, {shown[1]} in {names[1]}",
            subject=subject,
        )
    yield from (
        _not_whole(name) for name, part in zip(names, parts, strict=True) if not part.pool.whole
    )
    yield from _remarks_on_plans(parts, names, subject)


def by_two_rules(
    parts: tuple[Part, Part], names: tuple[str, str], missing: Missing | None
) -> tuple[str, str] | None:
    """Which run leaves trials without a valid reward out while such of the other count, if any.

    To leave out those without rewards leaves the rest of them in.
    """
    for leaving, counting in ((0, 1), (1, 0)):
        if len(parts[leaving].pool.left_out) and _counts(parts[counting].pool.table, missing):
            return names[leaving], names[counting]
    return None


def _counts(table: Table, missing: Missing | None) -> bool:
    if not table.has_rows:
        return missing != "skip" and len(table) > table.n_scored
    return any(
        is_left_out(trial.rewards, [(trial.error, None)] if trial.error else [])
        for trial in table
        if missing != "skip" or trial.rewards
    )


def remark_on_rules(leaving: str, counting: str, subject: str) -> Diagnostic:
    """That a missing reward counts as 0 in one run, and is left out in the other."""
    return Diagnostic(
        rule="missing-by-two-rules",
        message=f"{leaving} leaves trials without a valid reward out, as Harbor does since "
        f"0.26, and those of {counting} count",
        help="--missing skip leaves those without rewards out of both",
        subject=subject,
    )


def _not_whole(name: str) -> Diagnostic:
    return Diagnostic(
        rule="run-incomplete",
        message=f"{name} is not whole, and what ended first may be easier than the rest",
    )


def _span(counts: Counter[str]) -> str:
    fewest, most = min(counts.values()), max(counts.values())
    return str(most) if fewest == most else f"{fewest} to {most}"


def _remarks_on_plans(
    parts: tuple[Part, Part], names: tuple[str, str], subject: str
) -> Iterator[Diagnostic]:
    ours, theirs = (part.plan for part in parts)
    if ours.versions and theirs.versions and set(ours.versions) != set(theirs.versions):
        yield Diagnostic(
            rule="versions-differ",
            message=f"{names[0]} ran version {', '.join(ours.versions)} of the dataset, and "
            f"{names[1]} {', '.join(theirs.versions)}",
            subject=subject,
        )
    ran, other_ran = (part.pool.settings for part in parts)
    differing = [
        name
        for name, said in ran.items()
        # Another solver is what runs are compared for.
        if name != "solver" and other_ran.get(name, said) != said
    ]
    if differing:
        yield Diagnostic(
            rule="versions-differ",
            message=f"{names[0]} and {names[1]} differ in {listed(differing)}: their tasks are "
            "paired by their names, and may be others",
            subject=subject,
        )
    plans = [
        [(metric.spec, metric.script.path if metric.script else None) for metric in plan.metrics]
        for plan in (ours, theirs)
    ]
    if plans[0] != plans[1]:
        yield Diagnostic(
            rule="plans-differ",
            message=f"{names[1]} has other metrics; those of {names[0]} are computed for both",
            subject=subject,
        )
    keys = [sorted(part.pool.table.columns) for part in parts]
    if all(keys) and keys[0] != keys[1]:
        both = set(keys[0]) & set(keys[1])
        others = [key for own in keys for key in own if key not in both]
        yield Diagnostic(
            rule="rewards-differ",
            message=f"{plural(len(others), 'reward')} of one run alone not compared: "
            f"{listed(others)}",
            subject=subject,
        )
