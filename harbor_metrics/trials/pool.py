"""From sources to groups of trials: a trial counts once, a group knows how many were planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from . import lacking
from .check import check_group
from .counts import Seen, grouped, parted
from .owners import Owners
from .plans import Plans, planned_once
from .repeated import Repeated, may_repeat
from .source import Counted, Job, Source
from .table import Table
from .trial import NO_GROUP, GroupKey, LineTrials, Trial, group_key


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """The trials of one agent, model and dataset from all the sources.

    `left_out` are those that their harness leaves out of its numbers; `table` is without them.
    `provider` is of the model, where a job's trials say it with the model's name; `written` is that
    name where no job has another. `without_job` are the paths of sources that are no jobs. `keys`
    are the groups that its trials name, several where these were united.
    """

    table: Table
    left_out: Table = msgspec.field(default_factory=lambda: Table([]))
    expected: int | None = None
    unread: int = 0
    whole: bool = True
    jobs: list[tuple[str, Job]] = []
    without_job: list[str] = []
    keys: frozenset[GroupKey] = frozenset()
    provider: str | None = None
    written: str | None = None

    def __add__(self, other: Pool) -> Pool:
        known = self.expected is not None and other.expected is not None
        return Pool(
            table=_both(self.table, other.table),
            left_out=_both(self.left_out, other.left_out),
            expected=(self.expected or 0) + (other.expected or 0) if known else None,
            unread=self.unread + other.unread,
            whole=self.whole and other.whole,
            jobs=self.jobs + other.jobs,
            without_job=self.without_job + other.without_job,
            keys=self.keys | other.keys,
            provider=self.provider if self.provider == other.provider else None,
            written=self.written if self.written == other.written else None,
        )

    def united(self, other: Pool, repeated: Repeated) -> Pool:
        """Both pools as one group, in which a trial counts once."""
        mine, theirs = self.everything, other.everything
        table = repeated.united(mine, theirs)
        whole = self + other
        if whole.expected is not None and len(table) < len(mine) + len(theirs):
            plans = ((mine, self.expected), (theirs, other.expected))
            once = planned_once((trials, (n or 0) - len(trials)) for trials, n in plans)
            whole = msgspec.structs.replace(whole, expected=once)
        if not len(whole.left_out):
            return msgspec.structs.replace(whole, table=table)
        if not table.has_rows:
            return whole
        counting, left_out = parted(list(table))
        return msgspec.structs.replace(whole, table=Table(counting), left_out=Table(left_out))

    @property
    def everything(self) -> Table:
        """The trials that count, and those that are left out."""
        return _both(self.table, self.left_out)

    @property
    def settings(self) -> dict[str, set[str]]:
        """The settings of the runs that it is of, as far as they say them."""
        found: dict[str, set[str]] = {}
        for _, job in self.jobs:
            for name, value in job.settings.items():
                found.setdefault(name, set()).add(value)
        return found

    def labelled(self, label: Callable[[Table], Table]) -> Pool:
        """The pool with all its trials labelled."""
        left_out = label(self.left_out) if len(self.left_out) else self.left_out
        return msgspec.structs.replace(self, table=label(self.table), left_out=left_out)

    def part(self, table: Table, left_out: Table, owners: Owners) -> Pool:
        """Some trials of the pool, of the sources that they were found in.

        How many of them were planned nobody knows.
        """
        trials = [*table, *left_out]
        found = [owners.of(trial, self.keys) for trial in trials]
        jobs, without_job = self.jobs, self.without_job
        # One that does not say which it is may be of any source.
        if all(found):
            paths = {source.path for own in found for source in own}
            jobs = [(path, job) for path, job in jobs if path in paths]
            without_job = [path for path in without_job if path in paths]
        return msgspec.structs.replace(
            self, table=table, left_out=left_out, expected=None, jobs=jobs, without_job=without_job
        )


class _Tables(NamedTuple):
    """The groups of one source: the trials that count, and those that are left out."""

    groups: dict[GroupKey, Table]
    left_out: dict[GroupKey, Table]


def pool(sources: Sequence[Source], diagnostics: list[Diagnostic]) -> dict[GroupKey, Pool]:
    """Every group of the sources, each trial in it once; remarks go to `diagnostics`."""
    pools: dict[GroupKey, Pool] = {}
    # Rewards files apart: their lines are numbered on, and only then meet tasks with names.
    of_lines: dict[GroupKey, Pool] = {}
    # Group -> source -> its reward keys.
    keys: dict[GroupKey, dict[str, set[str]]] = {}
    kept = [source.trials for source in sources if source.counted is None]
    named = [trials for trials in kept if not isinstance(trials, LineTrials)]
    repeated = Repeated() if may_repeat(named) else None
    plans = Plans()
    for source in sorted(sources, key=_is_of_lines, reverse=True):
        counted = source.counted
        found = (
            _Tables(counted.groups, counted.left_out)
            if counted
            else _by_group(source.trials, repeated)
        )
        tables = found.groups
        # A group of trials that were all found before, too: which source is first changes nothing.
        times = _times(source, found)
        planned = _count_planned(source, times)
        for key in times.keys() | {key for key in source.unread if key is not None}:
            again = times[key] - len(tables.get(key, ())) - len(found.left_out.get(key, ()))
            plans.add(key, source, planned.get(key, 0) - times[key], copies=again > 0)
            of_kind = of_lines if _is_of_lines(source) else pools
            _add(of_kind, key, found, source, planned.get(key))
        for key, table in tables.items() if len(sources) > 1 else ():
            if names := table.key_times.times:
                keys.setdefault(key, {}).setdefault(source.path, set()).update(names)
        diagnostics += [*source.diagnostics, *remarks(source), *lacking.remarks(source, tables)]
    pools = {
        key: msgspec.structs.replace(each, expected=plans.once(key, each.expected))
        for key, each in pools.items()
    }
    for key, lines in of_lines.items():
        pools[key] = pools[key] + lines if key in pools else lines
    if repeated is not None:
        named_by = [source for source in sources if not _is_of_lines(source)]
        diagnostics += repeated.diagnostics(named_by)
    diagnostics += _by_place(
        # Lines of rewards are numbered on: each is a task of its own.
        [s for s in sources if s.by_place and not _is_of_lines(s)]
    )
    for key, each in in_order(pools):
        check_group(key)
        diagnostics += lacking.of_sources(key, keys.get(key, {}))
        if len(each.left_out):
            whole = each.everything
            emptied = whole.n_tasks - each.table.n_tasks
            jobs, files = [path for path, _ in each.jobs], each.without_job
            said = lacking.left_out(key, each.left_out, whole, emptied, jobs, sorted(files))
            diagnostics.append(said)
    return pools


def _by_place(sources: Sequence[Source]) -> Iterator[Diagnostic]:
    """That sources which name no tasks are taken for attempts at the same ones."""
    first: dict[GroupKey, str] = {}
    for source in sources if len(sources) > 1 else ():
        groups = {group_key(trial) for trial in source.trials}
        others = sorted({first[group] for group in groups if group in first})
        for group in groups:
            first.setdefault(group, source.path)
        if others:
            yield Diagnostic(
                rule="tasks-by-place",
                message=f"{source.path} names no tasks, nor does {listed(others, counted=False)}: "
                "what stands at the same place in both is taken for attempts at one task",
                path=source.path,
                help="name the tasks, in a column `task` or by --columns task=COLUMN",
            )


def twice(counted: Sequence[Counted]) -> bool:
    """Whether a trial of these sources may have come twice."""
    seen = Seen()
    for source in counted:
        seen += source.seen
    return seen.twice


def in_order(pools: dict[GroupKey, Pool]) -> list[tuple[GroupKey, Pool]]:
    """The groups by dataset, agent and model, null first."""

    def rank(item: tuple[GroupKey, Pool]) -> tuple[tuple[bool, str], ...]:
        agent, model, dataset = item[0]
        return tuple((part is not None, part or "") for part in (dataset, agent, model))

    return sorted(pools.items(), key=rank)


def _both(table: Table, other: Table) -> Table:
    """The trials of both; one that is empty adds nothing, whether rows were kept or counted."""
    if not len(table) or not len(other):
        return table if len(table) else other
    return table + other


def _by_group(trials: Sequence[Trial], repeated: Repeated | None) -> _Tables:
    if isinstance(trials, LineTrials):
        return _Tables({NO_GROUP: Table(trials)}, {})
    once = trials
    if repeated is not None:
        once = list(filter(repeated.is_new, trials))
    found = _Tables({}, {})
    for group, members in grouped(once):
        counting, left_out = parted(members)
        found.groups[GroupKey(*group)] = Table(counting)
        if left_out:
            found.left_out[GroupKey(*group)] = Table(left_out)
    return found


def _times(source: Source, found: _Tables) -> Counter[GroupKey]:
    """How many trials of each group a source has, those that were found before among them."""
    times: Counter[GroupKey] = Counter()
    if source.counted is not None or _is_of_lines(source):
        for tables in found:
            times.update({key: len(table) for key, table in tables.items()})
    else:
        times.update({GroupKey(*key): len(each) for key, each in grouped(source.trials)})
    return times


def _is_of_lines(source: Source) -> bool:
    return isinstance(source.trials, LineTrials)


def _count_planned(source: Source, times: Mapping[GroupKey, int]) -> dict[GroupKey, int]:
    """How many trials the job planned for each group; empty where it does not say."""
    job = source.job
    if job is None or job.n_expected is None:
        return {}
    read = Counter(times)
    read.update(key for key in source.unread if key is not None)
    if sum(read.values()) == job.n_expected:
        return dict(read)
    share, rest = divmod(job.n_expected, job.n_groups)
    if len(job.datasets) <= 1 and not rest and len(read) <= job.n_groups:
        return dict.fromkeys(read, share)
    return {}


def _add(
    pools: dict[GroupKey, Pool], key: GroupKey, found: _Tables, source: Source, expected: int | None
) -> None:
    unread = source.unread.count(key)
    job = source.job
    whole = not source.unread and not (job and (job.waiting or job.running or job.lacks_trials))
    if job and job.n_expected is not None:
        whole = whole and len(source.trials) == job.n_expected
    jobs = [(source.path, job)] if job else []
    new = Pool(
        table=found.groups.get(key, Table([])),
        left_out=found.left_out.get(key, Table([])),
        expected=expected,
        unread=unread,
        whole=whole,
        jobs=jobs,
        without_job=[] if job else [source.path],
        keys=frozenset([key]),
    )
    pools[key] = pools[key] + new if key in pools else new


def remarks(source: Source) -> Iterator[Diagnostic]:
    """What there is to say of a job that has fewer results than it planned, or more."""
    job, path = source.job, source.path
    if job is None:
        return
    expected = job.n_expected
    if job.waiting:
        yield Diagnostic(
            rule="trial-without-result",
            message=f"{plural(len(job.waiting), 'trial')} of {path} with no result yet: "
            f"{listed(job.waiting)}",
            path=path,
        )
    read = len(source.trials) + len(source.unread)
    if job.running:
        planned = f" of {expected}" if expected is not None else ""
        yield Diagnostic(
            rule="job-not-finished",
            message=f"job {path} is not finished: {read}{planned} trials have ended",
            path=path,
        )
    elif expected is not None and read < expected:
        yield Diagnostic(
            rule="trials-missing",
            message=f"job {path} planned {expected} trials, only {read} are on disk",
            path=path,
            notes=("the numbers are over the trials that are there",),
        )
    elif expected is not None and read > expected:
        yield Diagnostic(
            rule="trials-not-planned",
            message=f"job {path} planned {expected} trials, and {read} are on disk",
            path=path,
            notes=("the numbers are over all of them",),
        )
