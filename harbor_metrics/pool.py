"""Sources -> groups of trials: each trial counts once, each group knows what was planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .diagnostics import Diagnostic, Severity
from .readers.source import Job, Source
from .table import Table
from .trial import GroupKey, LineTrials, Trial, group_key

MOST_NAMED = 3


@dataclass(slots=True, kw_only=True)
class Pool:
    """The trials of one agent, model and dataset from all the sources."""

    table: Table
    expected: int | None = None
    unread: int = 0
    whole: bool = True
    jobs: list[tuple[str, Job]] = field(default_factory=list)

    def __add__(self, other: Pool) -> Pool:
        known = self.expected is not None and other.expected is not None
        return Pool(
            table=self.table + other.table,
            expected=(self.expected or 0) + (other.expected or 0) if known else None,
            unread=self.unread + other.unread,
            whole=self.whole and other.whole,
            jobs=self.jobs + other.jobs,
        )


def pool(sources: Sequence[Source], found: list[Diagnostic]) -> dict[GroupKey, Pool]:
    """Every group of the sources; findings go to `found`."""
    pools: dict[GroupKey, Pool] = {}
    seen: dict[tuple[str | None, ...], Trial] = {}
    repeated = [0, 0]
    # Rewards files first: their lines are numbered on, and only then meet tasks with names.
    for source in sorted(sources, key=lambda source: not isinstance(source.trials, LineTrials)):
        tables = _by_group(source.trials, seen, repeated)
        planned = _expected(source, tables)
        for key in tables.keys() | {key for key in source.unread if key is not None}:
            _add(pools, key, tables.get(key, Table([])), source, planned.get(key))
        _say(source, found)
    if repeated[0]:
        found.append(
            Diagnostic(
                rule="repeated-trial",
                severity=Severity.ERROR if repeated[1] else Severity.NOTE,
                message=f"{_count(repeated[0], 'trial')} found more than once, counted once"
                + (
                    f"; {repeated[1]} of them with other contents, the first is kept"
                    if repeated[1]
                    else ""
                ),
            )
        )
    return pools


def in_order(pools: dict[GroupKey, Pool]) -> list[tuple[GroupKey, Pool]]:
    """The groups by dataset, agent and model, null first."""

    def rank(item: tuple[GroupKey, Pool]) -> tuple[tuple[bool, str], ...]:
        agent, model, dataset = item[0]
        return tuple((part is not None, part or "") for part in (dataset, agent, model))

    return sorted(pools.items(), key=rank)


def _by_group(
    trials: Sequence[Trial], seen: dict[tuple[str | None, ...], Trial], repeated: list[int]
) -> dict[GroupKey, Table]:
    if isinstance(trials, LineTrials):
        return {(None, None, None): Table(trials)}
    groups: dict[GroupKey, list[Trial]] = {}
    for trial in trials:
        if trial.trial is not None or trial.id is not None:
            identity = (trial.id,) if trial.id else (*group_key(trial), trial.task, trial.trial)
            first = seen.setdefault(identity, trial)
            if first is not trial:
                repeated[0] += 1
                repeated[1] += first != trial
                continue
        groups.setdefault(group_key(trial), []).append(trial)
    return {key: Table(members) for key, members in groups.items()}


def _expected(source: Source, tables: dict[GroupKey, Table]) -> dict[GroupKey, int]:
    """How many trials the job planned for each group, where it tells."""
    job = source.job
    if job is None or job.n_total_trials is None:
        return {}
    read = {key: len(table) for key, table in tables.items()}
    for key in source.unread:
        if key is not None:
            read[key] = read.get(key, 0) + 1
    if sum(read.values()) == job.n_total_trials:
        return read
    share, rest = divmod(job.n_total_trials, job.n_agents)
    if len(job.datasets) <= 1 and not rest and len(read) <= job.n_agents:
        return dict.fromkeys(read, share)
    return {}


def _add(
    pools: dict[GroupKey, Pool], key: GroupKey, table: Table, source: Source, expected: int | None
) -> None:
    unread = source.unread.count(key)
    job = source.job
    whole = not source.unread and not (job and (job.waiting or job.running))
    if job and job.n_total_trials is not None:
        whole = whole and len(source.trials) == job.n_total_trials
    jobs = [(source.path, job)] if job else []
    new = Pool(table=table, expected=expected, unread=unread, whole=whole, jobs=jobs)
    pools[key] = pools[key] + new if key in pools else new


def _say(source: Source, found: list[Diagnostic]) -> None:
    """What the counts of a source mean, in words."""
    found += source.diagnostics
    job = source.job
    if job is None:
        return
    if job.waiting:
        found.append(
            _note(
                "trial-without-result",
                f"{_count(len(job.waiting), 'trial')} of {source.path} with no result yet: "
                f"{_named(job.waiting)}",
                source.path,
            )
        )
    read = len(source.trials) + len(source.unread)
    if job.running:
        planned = f" of {job.n_total_trials}" if job.n_total_trials is not None else ""
        found.append(
            _note(
                "job-not-finished",
                f"job {source.path} is not finished: {read}{planned} trials have ended",
                source.path,
            )
        )
    elif job.n_total_trials is not None and read < job.n_total_trials:
        found.append(
            Diagnostic(
                rule="trials-missing",
                severity=Severity.WARNING,
                message=f"job {source.path} planned {job.n_total_trials} trials, "
                f"only {read} are on disk",
                path=source.path,
                notes=("the numbers are over the trials that are there",),
            )
        )


def _note(rule: str, message: str, path: str) -> Diagnostic:
    return Diagnostic(rule=rule, severity=Severity.NOTE, message=message, path=path)


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def exceptions(table: Table) -> dict[str, int]:
    """How often each exception ended a trial, sorted by name."""
    if isinstance(table.trials, LineTrials):
        return {}
    return dict(sorted(Counter(t.error for t in table if t.error is not None).items()))
