"""The trials of sources by group, and what is known to be missing among them."""

from __future__ import annotations

from collections.abc import Iterable

from ..measurement import Measured, measure
from ..metric import MetricSpec, lookup
from ..readers.source import Source
from ..table import Table
from ..trial import GroupKey, LineTrials, Trial, group_key


def tables_of(sources: Iterable[Source]) -> dict[GroupKey, Table]:
    """A table a group, over all the sources."""
    groups: dict[GroupKey, list[Trial]] = {}
    for source in sources:
        if isinstance(source.trials, LineTrials):
            continue
        for trial in source.trials:
            groups.setdefault(group_key(trial), []).append(trial)
    return {key: Table(trials) for key, trials in groups.items()}


def incomplete(source: Source) -> str:
    """Why the trials that were read may not be all that the numbers are over; else nothing."""
    read, job = len(source.trials), source.job
    # A sample is a trial of each scorer.
    each = job.n_agents if job is not None and source.kind == "inspect" else 1
    what = "samples" if each > 1 else "trials"
    if source.unread:
        return f"{-(-len(source.unread) // each)} {what} could not be read"
    if job is None or job.n_total_trials is None or read >= job.n_total_trials:
        return ""
    still = "the run is not finished: " if job.running else ""
    absent, total = -(-(job.n_total_trials - read) // each), job.n_total_trials // each
    return f"{still}{absent} of {total} {what} are missing on disk"


def named(group: GroupKey) -> str:
    """Agent, model and dataset in words."""
    agent, model, dataset = group
    who = " · ".join(part for part in (agent, model) if part)
    return " on ".join(part for part in (who, dataset) if part)


def measured(spec: MetricSpec, table: Table) -> Measured:
    """What a metric says of a table.

    Raises:
        SpecError: the metric does not exist, or does not take these kwargs.
        LabelError: a trial lacks a label that was asked for.
    """
    return measure(lookup(spec.type).bind(spec.kwargs), spec, table, missing=None, level=None)
