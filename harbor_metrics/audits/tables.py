"""The trials of sources by group, and what is known to be missing among them."""

from __future__ import annotations

from collections.abc import Iterable

from ..catalogue.names import bind
from ..contract.spec import MetricSpec
from ..evaluation.measurement import Measured, measure
from ..trials.source import Source
from ..trials.table import Table
from ..trials.trial import GroupKey, LineTrials, Trial, group_key


def tables_of(sources: Iterable[Source]) -> dict[GroupKey, Table]:
    """The trials of all the sources, in a table for reported group."""
    groups: dict[GroupKey, list[Trial]] = {}
    for source in sources:
        if isinstance(source.trials, LineTrials):
            continue
        for trial in source.trials:
            groups.setdefault(group_key(trial), []).append(trial)
    return {key: Table(trials) for key, trials in groups.items()}


def incomplete(source: Source) -> str:
    """Why the trials that were read may be fewer than the numbers are over; empty where not."""
    read, job = len(source.trials), source.job
    per_sample = job.trials_per_sample if job is not None else 1
    noun = "samples" if per_sample > 1 else "trials"
    if source.unread:
        return f"{-(-len(source.unread) // per_sample)} {noun} could not be read"
    if job is None or job.n_total_trials is None or read >= job.n_total_trials:
        return ""
    still = "the run is not finished: " if job.running else ""
    absent, total = -(-(job.n_total_trials - read) // per_sample), job.n_total_trials // per_sample
    return f"{still}{absent} of {total} {noun} are missing on disk"


def measured(spec: MetricSpec, table: Table) -> Measured:
    """What a metric gives for a table, without an error bar.

    Raises:
        MetricFailure: the metric does not exist or does not take these kwargs, or a trial lacks a
            label that was asked for.
    """
    return measure(bind(spec), spec, table, missing=None, level=None)
