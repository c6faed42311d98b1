"""The library's verbs; what the commands call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from . import readers
from .documents.diagnostics import Diagnostic
from .engines import opening
from .engines.opening import is_relation
from .errors import UsageError
from .evaluation.asked import Asked, plan_asked
from .evaluation.evaluate import evaluate
from .evaluation.group import group_of, reference_of, unscored
from .evaluation.grouping import by_labels
from .evaluation.plan import Plan, Planned, plan
from .evaluation.remarks import once
from .evaluation.result import Outcome, Result
from .numbers.uncertainty import Over
from .readers import labels as labels_file
from .readers.columns import parse_columns
from .registries.registry import Registries, split
from .trials import labels as task_labels
from .trials import regrouping
from .trials.counts import NotCountableError
from .trials.models import by_short_names
from .trials.pool import Pool, in_order, pool, twice
from .trials.source import Progress, Source
from .trials.table import Missing, Table
from .trials.trial import GroupKey

if TYPE_CHECKING:
    from .scripts.options import ScriptOptions

MAX_SECONDS = 1_000_000
LEVEL = 0.95


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be computed, and from which sources; see `compute` for each field."""

    sources: tuple[Any, ...]
    registries: tuple[str, ...] = ()
    dataset: str | None = None
    metrics: tuple[Asked, ...] = ()
    only_asked: bool = False
    missing: Missing | None = None
    level: float | None = LEVEL
    over: Over = "tasks"
    labels: str | None = None
    group_by: tuple[str, ...] = ()
    as_format: str | None = None
    columns: str | Mapping[str, str] = ""
    scripts: ScriptOptions | None = None
    # Whether labels of tasks are looked for even where no metric asks for them.
    reads_labels: bool = False
    # Whether the sources are jobs of the user's own, whose scripts are the user's word.
    own_jobs: bool = False
    progress: Progress | None = None
    engine: str | None = None


class PreparedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The trials of one agent, model and dataset, and the metrics that would run on them."""

    key: GroupKey
    pool: Pool
    plan: Plan


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Sources that have been read, and their groups by dataset, agent and model."""

    sources: list[Source]
    groups: list[PreparedGroup]
    diagnostics: list[Diagnostic]

    @property
    def inputs(self) -> list[str]:
        """Every file that the numbers depend on and that the plans know the path of."""
        return [path for group in self.groups for path in group.plan.inputs]

    @property
    def planned(self) -> list[Planned]:
        """The metrics of all groups."""
        return [metric for group in self.groups for metric in group.plan.metrics]


def compute(
    *sources: Any,
    registry: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    dataset: str | None = None,
    metrics: Asked | Sequence[Asked] = (),
    only_asked: bool = False,
    missing: Missing | None = None,
    level: float | None = LEVEL,
    over: Over = "tasks",
    labels: str | os.PathLike[str] | None = None,
    group_by: str | Sequence[str] = (),
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    scripts: ScriptOptions | None = None,
    progress: Progress | None = None,
    engine: str | None = None,
) -> Result:
    """Dataset-level results of jobs, logs of other harnesses, rewards, trials and tables.

    Args:
        sources: paths of job directories, directories of jobs, rewards JSONL, trials JSONL,
            Inspect logs, lm-eval samples, evsys rewards, CSV; `-` is standard input. Parquet, or
            data frames of any kind that narwhals takes: their trials stay where they lie.
        registry: registry files to look for the datasets in; by default those the jobs name.
        dataset: `name` or `name@version`; filters sources that name a dataset, names the others.
        metrics: types, types with kwargs as `pass-at-k k=5`, JSON objects, files as
            `mine.py:function`, or functions, to run beside those of registry and job.
        only_asked: run these metrics alone.
        missing: what a missing reward counts as, where a metric's own kwargs do not say.
        level: of the intervals beside means, rates and chances; None for no uncertainty.
        over: what varies: `tasks`, as a sample of such tasks, or `attempts` at these very tasks.
        labels: a file that labels tasks, to group by (JSON, JSONL, CSV).
        group_by: labels that each metric is computed by, as `grouped` does.
        as_format: a name in `readers.formats`, where the content is not to decide.
        columns: which column of a CSV is what: `task=problem_id,reward=score`, or a mapping.
        scripts: how metric scripts are run: their limits and what they may reach.
        progress: called with trials read and trials in all while a job is read.
        engine: what computes from Parquet: `duckdb` (the default), `spark`, `sc://HOST:PORT`.

    Raises:
        UsageError: the arguments contradict each other.
        InputError: a source or a registry cannot be read.
    """
    registries = [registry] if isinstance(registry, str | os.PathLike) else registry
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        metrics = [metrics]
    request = Request(
        sources=tuple(os.fspath(s) if isinstance(s, os.PathLike) else s for s in sources),
        registries=tuple(os.fspath(path) for path in registries),
        dataset=dataset,
        metrics=tuple(metrics),
        only_asked=only_asked,
        missing=missing,
        level=level,
        over=over,
        labels=os.fspath(labels) if labels is not None else None,
        group_by=(group_by,) if isinstance(group_by, str) else tuple(group_by),
        as_format=as_format,
        columns=columns,
        scripts=scripts,
        progress=progress,
        engine=engine,
    )
    return compute_request(request)


def compute_request(request: Request) -> Result:
    """What `compute` does, and raises, of a request."""
    return finish(request, prepare(request))


def prepare(request: Request, *, keep: bool = False) -> Prepared:
    """The first half of `compute`: read everything, find the metrics, run nothing.

    Trials of large sources are counted and not kept, unless `keep` says so or something needs them.

    Raises:
        UsageError: the request contradicts itself.
        InputError: a source or a registry cannot be read.
    """
    if not request.sources:
        raise UsageError("no source was given")
    if request.only_asked and not request.metrics:
        raise UsageError("only the metrics that were asked for should run, and none was asked for")
    asked = [plan_asked(metric) for metric in request.metrics]
    registries = Registries(request.registries)
    if any(is_relation(source, request.engine) for source in request.sources):
        sources = _relations(request, asked, keep=keep)
        return _foreseen(request, plan_groups(request, sources, [], registries, asked))
    sources, diagnostics = _read(request, counts=not keep and request.labels is None)
    counted = [source.counted for source in sources if source.counted is not None]
    if counted and (len(counted) < len(sources) or twice(counted)):
        return prepare(request, keep=True)
    try:
        prepared = plan_groups(request, sources, diagnostics, registries, asked)
    except NotCountableError:
        return prepare(request, keep=True)
    if counted and any(metric.of_strangers or metric.reads_labels for metric in prepared.planned):
        return prepare(request, keep=True)
    bound = [metric.bound for metric in prepared.planned if metric.bound is not None]
    if any(source.lacks_texts for source in sources) and any(b.reads_texts for b in bound):
        sources = [readers.with_texts(source) for source in sources]
        prepared = plan_groups(request, sources, diagnostics, registries, asked)
    return prepared


def _relations(request: Request, asked: Sequence[Planned], *, keep: bool) -> list[Source]:
    """The sources that an engine is asked about.

    Raises:
        UsageError: something is asked for that needs the trials, or other sources stand beside.
        InputError: the engine is not installed, or cannot read them.
    """
    opening.require("narwhals", "engine")
    # For weight, and because what it imports is installed with an extra.
    from .engines.sources import read

    if not all(is_relation(source, request.engine) for source in request.sources):
        raise UsageError(
            "some sources lie on an engine, and some are read: they cannot be pooled",
            "harbor-metrics convert SOURCE -o trials.parquet makes one of the other kind",
        )
    if keep:
        raise UsageError(
            "this needs every trial, and of Parquet and data frames an engine gives counts and sums"
        )
    if request.as_format is not None:
        raise UsageError("--as names the format of a file, and these sources lie on an engine")
    if request.labels is not None:
        raise UsageError(
            "--labels joins a file to trials, which stay on the engine",
            "join it there, as a column `label.NAME`",
        )
    columns = request.columns
    own = [metric.bound.common.key if metric.bound else None for metric in asked]
    return read(
        request.sources,
        engine=request.engine,
        columns=parse_columns(columns) if isinstance(columns, str) else columns,
        keys=[key for key in own if key] if request.only_asked and all(own) else None,
        totals_only=request.level is None,
    )


def _foreseen(request: Request, prepared: Prepared) -> Prepared:
    """The same with those metrics as failed that an engine cannot answer, before it is asked."""
    # For weight, as above.
    from .evaluation.foresight import foreseen

    groups = []
    for group in prepared.groups:
        metrics = foreseen(group.plan.metrics, group.pool.table, request.missing)
        plan = msgspec.structs.replace(group.plan, metrics=metrics)
        groups.append(msgspec.structs.replace(group, plan=plan))
    return msgspec.structs.replace(prepared, groups=groups)


def plan_groups(
    request: Request,
    sources: list[Source],
    diagnostics: list[Diagnostic],
    registries: Registries,
    asked: Sequence[Planned] = (),
) -> Prepared:
    """The groups of sources that have been read, each with the metrics that run on it."""
    name, version = split(request.dataset) if request.dataset is not None else (None, None)
    diagnostics = list(diagnostics)
    pools = by_short_names(pool(sources, diagnostics), diagnostics)
    if name is not None:
        pools = regrouping.of_dataset(pools, name)
    elif registries.given and regrouping.nameless(pools):
        pools = regrouping.named(pools, registries.only_name())
    if request.labels is not None:
        pools = regrouping.labelled(pools, labels_file.read(request.labels), request.labels)
    scripts = request.scripts
    outside = scripts is not None and scripts.allow_outside
    of_jobs = scripts is not None and scripts.job_scripts
    groups = []
    for key, members in in_order(pools):
        metrics = plan(
            key.dataset,
            version,
            members.jobs,
            registries,
            asked,
            allow_outside=outside,
            job_scripts=of_jobs,
            only_asked=request.only_asked,
            own_jobs=request.own_jobs,
        )
        if request.group_by:
            metrics = by_labels(metrics, request.group_by)
        diagnostics += metrics.diagnostics
        table = members.table
        for entry in metrics.datasets:
            table = task_labels.joined(table, task_labels.of_tasks(entry.tasks))
        if request.reads_labels or any(metric.reads_labels for metric in metrics.metrics):
            for _, job in members.jobs:
                found = job.labels()
                table = task_labels.joined(table, found.get(key.dataset, found.get(None, {})))
        groups.append(PreparedGroup(key=key, pool=members.with_table(table), plan=metrics))
    return Prepared(sources=sources, groups=groups, diagnostics=once(diagnostics, sources))


def finish(request: Request, prepared: Prepared) -> Result:
    """The second half of `compute`: run the metrics.

    Raises:
        UsageError: the level, the policy, what varies or a limit of scripts is not one.
    """
    level, missing = request.level, request.missing
    if level is not None and not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, as 0.95 does, and {level} does not")
    if missing not in (None, *get_args(Missing)):
        raise UsageError(f"missing must be one of {', '.join(get_args(Missing))}, not {missing!r}")
    if request.over not in get_args(Over):
        raise UsageError(f"over must be one of {', '.join(get_args(Over))}, not {request.over!r}")
    diagnostics = list(prepared.diagnostics)
    run_scripts = Scripts(request.scripts, [source.path for source in prepared.sources])
    groups = []
    for group in prepared.groups:
        outcomes = evaluate(
            group.plan.metrics,
            group.pool.table,
            missing=missing,
            level=level,
            over=request.over,
            run_scripts=run_scripts,
        )
        of_engine = any(source.engine for source in prepared.sources)
        if any(outcome.needs_rows for outcome in outcomes) and not of_engine:
            return finish(request, prepare(request, keep=True))
        diagnostics += unscored(group.key, group.pool)
        made = group_of(group.key, group.pool, group.plan, outcomes, only_asked=request.only_asked)
        groups.append(made)
    diagnostics += run_scripts.diagnostics
    if not groups:
        diagnostics.append(
            Diagnostic(rule="nothing-scored", message="no trial was found in any source")
        )
    return Result(
        sources=[reference_of(source) for source in prepared.sources],
        groups=groups,
        diagnostics=[diagnostic.as_json() for diagnostic in diagnostics],
    )


class Scripts(msgspec.Struct):
    """Runs scripts; loaded for weight where there is one: its imports take as long as all others.

    Raises:
        UsageError: the time limit is not one.
    """

    options: ScriptOptions | None
    sources: list[str]
    diagnostics: list[Diagnostic] = []

    def __post_init__(self) -> None:
        timeout = self.options.timeout if self.options is not None else 1
        if not 0 < timeout < MAX_SECONDS:
            raise UsageError(f"a script takes between 0 and {MAX_SECONDS} s, not {timeout} s")

    def __call__(self, planned: Sequence[Planned], table: Table) -> list[Outcome]:
        """An outcome a script, in order."""
        # For weight: most computations run no script.
        from .scripts.options import ScriptOptions
        from .scripts.outcomes import ScriptRunner

        runner = ScriptRunner(self.options or ScriptOptions(), self.sources)
        outcomes = runner(planned, table)
        self.diagnostics += [d for d in runner.diagnostics if d not in self.diagnostics]
        return outcomes


def _read(request: Request, *, counts: bool) -> tuple[list[Source], list[Diagnostic]]:
    """Every source once, and that some were named twice."""
    sources: dict[str, Source] = {}
    diagnostics = []
    for path in dict.fromkeys(request.sources):
        for source in readers.read(
            path,
            request.progress,
            as_format=request.as_format,
            columns=request.columns,
            counts=counts,
        ):
            first = sources.setdefault(os.path.realpath(source.path), source)
            if first is not source:
                diagnostics.append(
                    Diagnostic(
                        rule="repeated-source",
                        message=f"{source.path} is the same as {first.path} and counts once",
                        path=source.path,
                    )
                )
    return list(sources.values()), diagnostics
