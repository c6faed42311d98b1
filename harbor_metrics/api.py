"""The library's verbs; what the commands call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from . import labels as task_labels
from . import readers
from .diagnostics import Diagnostic, Severity
from .errors import InputError, UsageError
from .evaluate import Planned, evaluate
from .group import group_of, shown_path
from .metric import UV_SCRIPT, MetricSpec, reads_texts
from .plan import Plan, Registries, asked, plan
from .pool import Pool, in_order, pool
from .readers.file import STANDARD_INPUT
from .readers.source import Progress, Source
from .registry import part_of, split
from .result import Outcome, Result, SourceRef
from .table import Missing, Table
from .trial import GroupKey

if TYPE_CHECKING:
    from .scripts.file import Script
    from .scripts.options import ScriptOptions

MAX_SECONDS = 1_000_000
LEVEL = 0.95
# A metric that a caller asks for: what `--metric` takes, a spec, or a function of its own.
Asked = str | MetricSpec | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Sources that have been read and the metrics that would run on each group."""

    sources: list[Source]
    groups: list[tuple[GroupKey, Pool, Plan]]
    diagnostics: list[Diagnostic]


def compute(
    *sources: str | os.PathLike[str],
    registry: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    dataset: str | None = None,
    metrics: Asked | Sequence[Asked] = (),
    missing: Missing | None = None,
    level: float | None = LEVEL,
    labels: str | os.PathLike[str] | None = None,
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    scripts: ScriptOptions | None = None,
    progress: Progress | None = None,
) -> Result:
    """Dataset-level results of jobs, logs of other harnesses, rewards, trials and tables.

    Args:
        sources: paths of job directories, directories of jobs, rewards JSONL, trials JSONL,
            Inspect logs, lm-eval samples, evsys rewards, CSV; `-` is standard input.
        registry: registry files to look for the datasets in; by default those the jobs name.
        dataset: `name` or `name@version`; filters sources that name a dataset, names the others.
        metrics: types, JSON objects, files as `mine.py:function`, or functions, to run beside
            those of registry and job.
        missing: what a missing reward counts as, where a metric's own kwargs do not say.
        level: of the intervals beside means, rates and chances; None for no uncertainty.
        labels: a file that labels tasks, to group by (JSON, JSONL, CSV).
        as_format: one of `readers.FORMATS`, where the content is not to decide.
        columns: which column of a CSV is what: `task=problem_id,reward=score`, or a mapping.
        scripts: how metric scripts are run: their limits and what they may reach.
        progress: called with trials read and trials in all while a job is read.

    Raises:
        UsageError: the arguments contradict each other.
        InputError: a source or a registry cannot be read.
    """
    prepared = prepare(
        *sources,
        registry=registry,
        dataset=dataset,
        metrics=metrics,
        as_format=as_format,
        columns=columns,
        labels=labels,
        progress=progress,
    )
    return finish(
        prepared,
        missing=missing,
        level=level,
        scripts=scripts,
    )


def prepare(
    *sources: str | os.PathLike[str],
    registry: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    dataset: str | None = None,
    metrics: Asked | Sequence[Asked] = (),
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    labels: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """The first half of `compute`: read everything, find the metrics, run nothing."""
    if not sources:
        raise UsageError("no source was given")
    if isinstance(metrics, str | MetricSpec) or callable(metrics):
        metrics = [metrics]
    specs = [asked(metric) for metric in metrics]
    given = [registry] if isinstance(registry, str | os.PathLike) else registry
    registries = Registries([os.fspath(path) for path in given])
    paths = dict.fromkeys([os.fspath(source) for source in sources])

    def read(*, whole: bool) -> Prepared:
        found: list[Diagnostic] = []
        done = _read(paths, found, progress, as_format, columns, whole=whole)
        return planned(done, registries, found, dataset=dataset, metrics=specs, labels=labels)

    # Standard input cannot be read twice.
    prepared = read(whole=STANDARD_INPUT in paths)
    if any(source.shortened for source in prepared.sources) and any(
        reads_texts(one.spec) for _, _, made in prepared.groups for one in made.metrics
    ):
        prepared = read(whole=True)
    return prepared


def planned(
    read: list[Source],
    registries: Registries,
    found: list[Diagnostic],
    *,
    dataset: str | None = None,
    metrics: Sequence[Planned] = (),
    labels: str | os.PathLike[str] | None = None,
) -> Prepared:
    """Sources that have been read, with the metrics that run on their groups."""
    name, version = split(dataset) if dataset is not None else (None, None)
    pools = pool(read, found)
    if name is not None:
        pools = _of_dataset(pools, name)
    elif registries.given:
        _name_the_only(pools, registries)
    if labels is not None:
        _label(pools, os.fspath(labels))
    groups = []
    for key, each in in_order(pools):
        made = plan(key[2], version, each.jobs, registries, metrics)
        found += made.diagnostics
        found += _shadowed(made)
        for of_dataset in made.datasets:
            each.table = task_labels.joined(each.table, task_labels.of_tasks(of_dataset.tasks))
        groups.append((key, each, made))
    return Prepared(sources=read, groups=groups, diagnostics=found)


def finish(
    prepared: Prepared,
    *,
    missing: Missing | None = None,
    level: float | None = LEVEL,
    scripts: ScriptOptions | None = None,
) -> Result:
    """The second half of `compute`: run the metrics."""
    if level is not None and not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, as 0.95 does, and {level} does not")
    if missing not in (None, *get_args(Missing)):
        raise UsageError(f"missing must be one of {', '.join(get_args(Missing))}, not {missing!r}")
    found = list(prepared.diagnostics)
    run_scripts = _Scripts(scripts, [source.path for source in prepared.sources])
    groups = []
    for key, each, made in prepared.groups:
        outcomes = evaluate(
            made.metrics,
            each.table,
            missing=missing,
            level=level,
            scripts=run_scripts,
        )
        groups.append(group_of(key, each, made, outcomes, found))
    found += run_scripts.diagnostics
    if not groups:
        found.append(Diagnostic(rule="nothing-scored", message="no trial was found in any source"))
    return Result(
        sources=[
            SourceRef(path=shown_path(s.path), kind=s.kind, trials=len(s.trials), sha256=s.sha256)
            for s in prepared.sources
        ],
        groups=groups,
        diagnostics=[diagnostic.as_json() for diagnostic in found],
    )


class _Scripts:
    """Who runs scripts, loaded when there is one: its imports take as long as all others."""

    def __init__(self, options: ScriptOptions | None, sources: list[str]) -> None:
        self.options = options
        self.sources = sources
        self.diagnostics: list[Diagnostic] = []
        if options is not None and not 0 < options.timeout < MAX_SECONDS:
            raise UsageError(
                f"a script takes between 0 and {MAX_SECONDS} s, not {options.timeout} s"
            )

    def __call__(self, planned: Sequence[Planned], table: Table) -> list[Outcome]:
        from .scripts.options import ScriptOptions
        from .scripts.outcomes import ScriptRunner

        runner = ScriptRunner(self.options or ScriptOptions(), self.sources)
        outcomes = runner(planned, table)
        self.diagnostics += [d for d in runner.diagnostics if d not in self.diagnostics]
        return outcomes


def _script_paths(made: Plan) -> list[tuple[str | None, str]]:
    """Registry and path of every script that the plan names and no git repository holds."""
    return [
        (one.registry, path)
        for one in made.metrics
        if one.spec.type == UV_SCRIPT
        and one.spec.kwargs.get("git_url") is None
        and isinstance(path := one.spec.kwargs.get("script_path"), str)
    ]


def _shadowed(made: Plan) -> list[Diagnostic]:
    """Scripts of which another one of that name lies in the current directory."""
    found = []
    for registry, path in _script_paths(made):
        if registry is None:
            continue
        from .scripts.file import other_copy

        if other_copy(path, registry):
            found.append(
                Diagnostic(
                    rule="script-twice",
                    severity=Severity.WARNING,
                    message=f"script {path} lies beside the registry and, with other contents, "
                    "in the current directory; the one beside the registry runs",
                    path=registry,
                    notes=("Harbor takes the one in the current directory",),
                )
            )
    return found


def inputs(prepared: Prepared, *, allow_outside: bool = False) -> list[str]:
    """Every file that a result depends on and that is known by its path."""
    found = [
        script.path for script in scripts(prepared, allow_outside=allow_outside).values() if script
    ]
    return found + [d.registry for _, _, made in prepared.groups for d in made.datasets]


def scripts(
    prepared: Prepared, *, allow_outside: bool = False
) -> dict[tuple[str | None, str], Script | None]:
    """The scripts that would run, by registry and path; None for one that cannot be found."""
    from .scripts.file import ScriptError, find

    found: dict[tuple[str | None, str], Script | None] = {}
    for _, _, made in prepared.groups:
        for registry, path in _script_paths(made):
            try:
                found[registry, path] = find(path, registry, allow_outside=allow_outside)
            except ScriptError:
                found[registry, path] = None
    return found


def _read(
    paths: dict[str, None],
    found: list[Diagnostic],
    progress: Progress | None,
    as_format: str | None,
    columns: str | Mapping[str, str],
    *,
    whole: bool,
) -> list[Source]:
    read: list[Source] = []
    known: dict[str, str] = {}
    for path in paths:
        for source in readers.read(
            path, progress, as_format=as_format, columns=columns, whole=whole
        ):
            real = os.path.realpath(source.path)
            if real in known:
                found.append(
                    Diagnostic(
                        rule="repeated-source",
                        severity=Severity.NOTE,
                        message=f"{source.path} is the same as {known[real]} and counts once",
                        path=source.path,
                    )
                )
                continue
            known[real] = source.path
            read.append(source)
    return read


def _label(pools: dict[GroupKey, Pool], path: str) -> None:
    """Give every trial the labels that the file has for its task."""
    labels = task_labels.read(path)
    tasks = {task for each in pools.values() for task in each.table.tasks}
    if not labels.keys() & tasks:
        examples = f"it has {min(labels)}, the trials have {min(tasks)}" if tasks else "no trials"
        raise InputError(f"{path} labels no task of these trials: {examples}")
    for each in pools.values():
        each.table = task_labels.joined(each.table, labels, path=path)


def _of_dataset(pools: dict[GroupKey, Pool], name: str) -> dict[GroupKey, Pool]:
    """The groups of that dataset; a group that names none is taken to be of it.

    Where none is of that very name, those of its scorers and filters (`name:scorer`).
    """
    kept: dict[GroupKey, Pool] = {}
    whole = any(dataset in (None, name) for _, _, dataset in pools)
    for (agent, model, dataset), each in pools.items():
        if dataset in (None, name) or (not whole and part_of(dataset) == name):
            key = (agent, model, name if whole else dataset)
            kept[key] = kept[key] + each if key in kept else each
    if not kept:
        others = ", ".join(sorted({str(key[2]) for key in pools}))
        raise InputError(
            f"no source has trials of dataset {name}; they are of {others or 'none'}",
            "name one of these with --dataset",
        )
    return kept


def _name_the_only(pools: dict[GroupKey, Pool], registries: Registries) -> None:
    """Give groups without a dataset the only one of the registry, or ask which is meant."""
    nameless = [key for key in pools if key[2] is None and not pools[key].jobs]
    if not nameless:
        return
    datasets = registries.all_given()
    names = {dataset.name for dataset in datasets}
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "none"
        raise UsageError(
            f"a source names no dataset, and the registry has {len(names)}: {listed}",
            "say which with --dataset",
        )
    (name,) = names
    for agent, model, _ in nameless:
        each = pools.pop((agent, model, None))
        key = (agent, model, name)
        pools[key] = pools[key] + each if key in pools else each
