"""A group of trials with what its metrics gave, as a part of the result document."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import listed, plural, shown_path, without_passwords
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..registries.registry import best_version
from ..trials.pool import Pool
from ..trials.source import Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from . import parity
from .plan import Plan
from .result import Counts, DatasetRef, EngineRef, Group, Outcome, SourceRef, Spent


def unscored(key: GroupKey, pool: Pool) -> list[Diagnostic]:
    """That a group has no score, where no trial of it has rewards."""
    if pool.table.n_scored:
        return []
    where = f" of dataset {key.dataset}" if key.dataset else ""
    rewards, says = ("rewards", "0.0") if len(pool.table) else ("valid rewards", "no number")
    return [
        Diagnostic(
            rule="nothing-scored",
            message=f"0 of {len(pool.everything)} trials{where} have {rewards}: there is no score",
            notes=(f"Harbor reports {says} here",),
        )
    ]


def pooled_versions(key: GroupKey, pool: Pool) -> Iterator[Diagnostic]:
    """That trials of several versions of a task count as attempts at one."""
    tasks = pool.table.changed_tasks
    if tasks:
        where = f" of dataset {key.dataset}" if key.dataset else ""
        yield Diagnostic(
            rule="task-versions-pooled",
            message=f"{plural(len(tasks), 'task')}{where} ran at several versions, whose trials "
            f"count as attempts at one task: {listed(tasks)}",
        )
    differing = [name for name, values in pool.settings.items() if len(values) > 1]
    if differing:
        where = f"dataset {key.dataset}" if key.dataset else "trials"
        yield Diagnostic(
            rule="task-versions-pooled",
            message=f"{where}: runs of one group differ in {listed(differing)}, and their samples "
            "of the same names count as attempts at one task",
        )


def evals_key_of(key: GroupKey, pool: Pool) -> str | None:
    """Harbor's key of a group, with the model's name as the trials have it."""
    return parity.evals_key(key.agent, pool.written or key.model, key.dataset)


def group_of(
    key: GroupKey, pool: Pool, plan: Plan, outcomes: list[Outcome], *, only_asked: bool = False
) -> Group:
    """What one group of trials comes to, with the outcomes of its metrics.

    With `only_asked` without the pass@k that Harbor itself reports.
    """
    table = pool.table
    everything = pool.everything
    running = any(job.running for _, job in pool.jobs)
    return Group(
        agent=key.agent,
        model=key.model,
        provider=msgspec.UNSET if pool.provider is None else pool.provider,
        dataset=dataset_of(key.dataset, plan),
        evals_key=evals_key_of(key, pool),
        complete=pool.whole,
        counts=counts_of(pool),
        exceptions=everything.errors,
        usage=_spent(everything),
        # Harbor reports it when a job has ended.
        pass_at_k={} if only_asked or running else parity.pass_at_k(table),
        metrics=outcomes,
    )


def counts_of(pool: Pool) -> Counts:
    """How many trials of a group there are, and how many lack what."""
    table, everything = pool.table, pool.everything
    return Counts(
        expected=pool.expected,
        found=len(everything),
        unread=pool.unread,
        scored=table.n_scored,
        missing=len(everything) - table.n_scored,
        errored=sum(everything.errors.values()),
        tasks=table.n_tasks,
        left_out=len(pool.left_out) or msgspec.UNSET,
    )


def dataset_of(name: str | None, plan: Plan) -> DatasetRef | None:
    """The dataset by that name, and the registry file that its metrics were found in."""
    if name is None:
        return None
    found = plan.datasets
    versions = [each.version for each in found if each.version]
    if plan.is_disputed:
        found, versions = [], versions if len(set(versions)) == 1 else []
    versions = plan.versions or versions
    return DatasetRef(
        name=name,
        version=best_version(versions) if versions else None,
        registry=shown_path(found[0].registry) if found else None,
    )


def _spent(table: Table) -> Spent:
    return Spent(**{name: _used(table, name) for name in Spent.__struct_fields__})


def not_added(table: Table) -> Iterator[Diagnostic]:
    """What was used, and an engine cannot add up."""
    for name in Spent.__struct_fields__:
        try:
            table.used(name)
        except MetricFailure as failure:
            yield Diagnostic(rule=failure.rule, severity=Severity.WARNING, message=str(failure))


def _used(table: Table, name: str) -> Number | None:
    try:
        total = table.used(name)
    except MetricFailure:
        return None
    return None if total == math.inf else total


def reference_of(source: Source) -> SourceRef:
    """Where trials came from, and a digest of them or of what their engine answered."""
    path, n = without_passwords(shown_path(source.path)), len(source.trials)
    if source.engine is None:
        return SourceRef(
            path=path,
            kind=source.kind,
            trials=n,
            sha256=source.sha256,
            digest_of=source.digest_of,
        )
    return SourceRef(
        path=path,
        kind=source.kind,
        trials=n,
        sha256=None,
        answers_sha256=source.engine.answers_sha256(),
        engine=EngineRef(name=source.engine.name, version=source.engine.version),
    )
