"""A group of trials with what its metrics gave, as a part of the result document."""

from __future__ import annotations

import os
from typing import Any

from . import exact, parity
from .diagnostics import Diagnostic
from .plan import Plan
from .pool import Pool, exceptions
from .registry import best_version
from .result import Counts, DatasetRef, Group, Spent
from .table import Table
from .trial import GroupKey, LineTrials


def group_of(
    key: GroupKey, each: Pool, made: Plan, outcomes: list[Any], found: list[Diagnostic]
) -> Group:
    """What one group of trials comes to; that nothing is scored goes to `found`."""
    agent, model, dataset = key
    table = each.table
    failures = exceptions(table)
    if not table.n_scored:
        of_what = f" of dataset {dataset}" if dataset else ""
        found.append(
            Diagnostic(
                rule="nothing-scored",
                message=f"0 of {len(table)} trials{of_what} have rewards: there is no score",
                notes=("Harbor reports 0.0 here",),
            )
        )
    return Group(
        agent=agent,
        model=model,
        dataset=_dataset(dataset, made),
        evals_key=parity.evals_key(agent, model, dataset),
        complete=each.whole,
        counts=Counts(
            expected=each.expected,
            found=len(table),
            unread=each.unread,
            scored=table.n_scored,
            missing=len(table) - table.n_scored,
            errored=sum(failures.values()),
            tasks=table.n_tasks,
        ),
        exceptions=failures,
        usage=_spent(table),
        # Harbor reports it when a job has ended.
        pass_at_k={} if any(job.running for _, job in each.jobs) else parity.pass_at_k(table),
        metrics=outcomes,
    )


def _dataset(name: str | None, made: Plan) -> DatasetRef | None:
    if name is None:
        return None
    versions = made.versions or [dataset.version for dataset in made.datasets]
    return DatasetRef(
        name=name,
        version=best_version(versions) if versions else None,
        registry=shown_path(made.datasets[0].registry) if made.datasets else None,
    )


def _spent(table: Table) -> Spent:
    if isinstance(table.trials, LineTrials):
        return Spent()
    totals = {}
    for name in Spent.__struct_fields__:
        values = [v for trial in table if (v := getattr(trial.usage, name)) is not None]
        totals[name] = exact.total(values) if values else None
    return Spent(**totals)


def shown_path(path: str) -> str:
    """The path as text that can be written anywhere; bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
