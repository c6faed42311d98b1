"""Comparing from sources: reading the runs, then setting each beside the base."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from .. import api
from ..api import LEVEL, Request
from ..documents.diagnostics import Diagnostic
from ..documents.wording import did_you_mean, listed, nearest, plural, shown_path
from ..errors import UsageError
from ..evaluation.asked import Asked
from ..numbers.adjustment import Adjust
from ..numbers.uncertainty import Over
from ..trials.source import Progress, Source
from ..trials.table import Missing
from .beside import all_pairs, compared, tasks_alone
from .decisions import decide, remarks
from .document import Comparison, SourceRef
from .gates import gates
from .runs import Part, Run, chosen, named_sources, run_of, runs_by
from .settings import Pairs, Settings, Unpaired
from .together import ranks

if TYPE_CHECKING:
    from ..scripts.options import ScriptOptions


class ComparisonRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be compared; the sources are `NAME=SOURCE`, and see `compare` for the rest."""

    computed: Request
    base: str | None = None
    by: str | None = None
    only: tuple[str, ...] = ()
    settings: Settings = Settings()


def compare(
    *sources: str | os.PathLike[str],
    base: str | None = None,
    by: str | None = None,
    only: str | Sequence[str] = (),
    level: float = LEVEL,
    over: Over = "tasks",
    missing: Missing | None = None,
    cluster: str | None = None,
    adjust: Adjust = "holm",
    pairs: Pairs = "base",
    margin: float | None = None,
    detect: float | None = None,
    power: float = 0.8,
    no_worse: str | Sequence[str] = (),
    non_inferior: str | Sequence[str] = (),
    better: str | Sequence[str] = (),
    fail_if: str | Sequence[str] = (),
    unpaired: Unpaired | None = None,
    script_error_bars: bool = False,
    higher_is_better: str | Sequence[str] = (),
    lower_is_better: str | Sequence[str] = (),
    registry: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    dataset: str | None = None,
    metrics: Asked | Sequence[Asked] = (),
    labels: str | os.PathLike[str] | None = None,
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    scripts: ScriptOptions | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Whether runs of the same tasks differ, and by how much, with an interval.

    Args:
        sources: as of `compute`, each with or without a name, `main=jobs/one`; sources of one name
            are one run, and the name is the end of the path where none is given.
        base: the run that the others are compared with; by default the first.
        by: `run`, `agent`, `model` or a label, where one source has several runs.
        only: `KEY=VALUE`: only trials of that agent, model, dataset or label.
        level: of the intervals.
        over: what varies: `tasks`, as a sample of such tasks, or `attempts` at these very tasks.
        missing: what a missing reward counts as, where a metric's own kwargs do not say.
        cluster: a label of tasks that are alike, such as those of one repository.
        adjust: for several comparisons of one metric: `holm`, `bh` or `none`.
        pairs: `all` compares every two runs, and ranks three or more.
        margin: differences within it either way are `same`.
        detect: a difference; says how many tasks would show it.
        power: with which probability they would.
        no_worse, non_inferior, better, fail_if: gates, `METRIC[:BY]` or expressions; the
            `outcome` of a comparison tells whether all passed.
        unpaired: whether gates `drop` tasks of one run alone or, by default, are undecided.
        script_error_bars: run each metric script 20 times more on either side, without some
            tasks each time, for an interval.
        higher_is_better, lower_is_better: metrics or values, by name, where none says it.
        registry, dataset, metrics, labels, as_format, columns, scripts, progress: as of `compute`.

    Raises:
        UsageError: the arguments contradict each other, a gate is set on what is not there, or the
            runs have nothing in common.
        InputError: a source or a registry cannot be read.
    """
    request = ComparisonRequest(
        computed=Request(
            sources=tuple(os.fspath(source) for source in sources),
            registries=_several(registry),
            dataset=dataset,
            metrics=_metrics(metrics),
            missing=missing,
            labels=os.fspath(labels) if labels is not None else None,
            as_format=as_format,
            columns=columns,
            scripts=scripts,
            progress=progress,
        ),
        base=base,
        by=by,
        only=_several(only),
        settings=Settings(
            level=level,
            over=over,
            missing=missing,
            cluster=cluster,
            adjust=adjust,
            margin=margin,
            detect=detect,
            power=power,
            pairs=pairs,
            unpaired=unpaired,
            script_error_bars=script_error_bars,
            gates=gates(
                no_worse=_several(no_worse),
                non_inferior=_several(non_inferior),
                better=_several(better),
                fail_if=_several(fail_if),
            ),
            higher=_several(higher_is_better),
            lower=_several(lower_is_better),
        ),
    )
    return finish(request, prepare(request))


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Sources that have been read, each with the name of its run, and the runs, the base first."""

    sources: list[tuple[str | None, Source]]
    runs: list[Run]
    computed: dict[str | None, api.Prepared]
    inputs: list[str]
    diagnostics: list[Diagnostic]


def prepare(request: ComparisonRequest) -> Prepared:
    """The first half of `compare`: read everything, find the runs, compute nothing.

    Raises:
        UsageError: the request contradicts itself, or there is one run.
        InputError: a source or a registry cannot be read.
    """
    request.settings.check()
    if not request.computed.sources:
        raise UsageError("no source was given")
    named = named_sources(request.computed.sources)
    for paths in named.values():
        _refuse_results(paths)
    if request.by in (None, "run") and len(named) > 1:
        prepared: dict[str | None, api.Prepared] = {
            name: _prepared(request, paths) for name, paths in named.items()
        }
        _refuse_same_sources(prepared)
        runs = [run_of(str(name), _parts(request, each)) for name, each in prepared.items()]
    elif request.by == "run":
        raise UsageError("--by run compares several sources, and there is one")
    else:
        whole = _prepared(request, [path for paths in named.values() for path in paths])
        prepared = {None: whole}
        runs = runs_by(_parts(request, whole), request.by)
    return Prepared(
        sources=[(name, source) for name, each in prepared.items() for source in each.sources],
        runs=_base_first(runs, request.base),
        computed=prepared,
        inputs=[path for each in prepared.values() for path in each.inputs],
        diagnostics=[remark for each in prepared.values() for remark in each.diagnostics],
    )


def finish(request: ComparisonRequest, prepared: Prepared) -> Comparison:
    """The second half of `compare`: run the metrics.

    Raises:
        UsageError: the runs have nothing in common, or a gate is set on what is not there.
    """
    paths = [source.path for _, source in prepared.sources]
    run_scripts = api.Scripts(request.computed.scripts, paths)
    diagnostics = list(prepared.diagnostics)
    settings = request.settings
    base, *candidates = prepared.runs
    every_two = settings.pairs == "all"
    pairs = all_pairs(prepared.runs) if every_two else [(base, each) for each in candidates]
    comparisons = compared(pairs, settings, run_scripts, diagnostics)
    diagnostics += run_scripts.diagnostics
    alone = {(one.name, other.name): tasks_alone(one, other) for one, other in pairs}
    diagnostics += [
        Diagnostic(
            rule="tasks-unpaired",
            message=f"dataset {dataset} is in one run alone, and not compared: {plural(n, 'task')}",
            subject=f"{other} against {one}",
        )
        for (one, other), datasets in alone.items()
        for dataset, n in datasets
    ]
    of_base = [pair for pair in comparisons if pair.base.run == base.name]
    decisions = decide(of_base, settings, alone)
    diagnostics += remarks(decisions, settings.level)
    return Comparison(
        sources=[
            SourceRef(
                run=name,
                path=shown_path(source.path),
                kind=source.kind,
                trials=len(source.trials),
                sha256=source.sha256,
                digest_of=source.digest_of,
            )
            for name, source in prepared.sources
        ],
        level=settings.level,
        over=settings.over,
        adjust=settings.adjust,
        margin=settings.margin,
        power=settings.power,
        detect=settings.detect,
        base=base.name,
        pairs=settings.pairs,
        unpaired=settings.unpaired,
        comparisons=comparisons,
        ranks=ranks(comparisons, settings.level) if every_two else [],
        gates=decisions,
        diagnostics=[diagnostic.as_json() for diagnostic in dict.fromkeys(diagnostics)],
    )


def _prepared(request: ComparisonRequest, paths: Sequence[str]) -> api.Prepared:
    labels = request.by is not None or request.settings.cluster is not None or bool(request.only)
    computed = msgspec.structs.replace(request.computed, sources=tuple(paths), reads_labels=labels)
    return api.prepare(computed, keep=True)


def _parts(request: ComparisonRequest, prepared: api.Prepared) -> list[Part]:
    parts = [Part(group.key, group.pool, group.plan) for group in prepared.groups]
    return chosen(parts, request.only)


def _base_first(runs: list[Run], base: str | None) -> list[Run]:
    if base is None:
        return runs
    first = [run for run in runs if run.name == base]
    if not first:
        names = [run.name for run in runs]
        raise UsageError(
            f"--base {base}: there is no such run{did_you_mean(nearest(base, names))}",
            f"the runs are {listed(names, 8)}",
        )
    return [*first, *(run for run in runs if run.name != base)]


def _refuse_same_sources(prepared: Mapping[str | None, api.Prepared]) -> None:
    seen: dict[str, tuple[str | None, str]] = {}
    for name, each in prepared.items():
        for source in each.sources:
            other, path = seen.setdefault(source.sha256, (name, source.path))
            if other != name and source.trials:
                raise UsageError(
                    f"{other} and {name} are the same trials: {path} and {source.path} have the "
                    f"same digest"
                )


def _refuse_results(paths: Sequence[str]) -> None:
    for path in paths:
        sources = _sources_of_result(path)
        if sources is not None:
            raise UsageError(
                f"{path} is a result document: it has numbers of whole datasets and no tasks, "
                "which a comparison pairs",
                f"compare its sources: {listed(sources, 5) or 'it names none'}",
            )


def _sources_of_result(path: str) -> list[str] | None:
    """The paths of the sources that a result document names; None where it is none."""
    if not path.endswith(".json") or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            document = msgspec.json.decode(file.read(), type=_AnyResult)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return None
    return [source.path for source in document.sources]


class _AnySource(msgspec.Struct):
    path: str


class _AnyResult(msgspec.Struct):
    """What every result document has, and no log of another system."""

    schema_version: str
    groups: list[msgspec.Raw]
    sources: list[_AnySource]


def _several(names: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    several = [names] if isinstance(names, str | os.PathLike) else names
    return tuple(os.fspath(name) for name in several)


def _metrics(metrics: Asked | Sequence[Asked]) -> tuple[Asked, ...]:
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        return (metrics,)
    return tuple(metrics)
