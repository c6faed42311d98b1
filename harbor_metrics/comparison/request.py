"""Comparing from sources: reading the runs, then setting each beside the base."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ..computation import preparation
from ..computation.computing import Scripts
from ..computation.request import Request
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.sizes import MOST_DATA, whole
from ..documents.wording import did_you_mean, listed, nearest, plural, shown_path, without_passwords
from ..errors import UsageError
from ..trials.owners import Owners
from ..trials.source import Source
from .beside import all_pairs, compared, tasks_alone
from .directions import names_its_values
from .document import Compared, Comparison, Decision, SourceRef
from .naming import inner_names_of, names_of
from .runs import Part, Run, chosen, named_sources, run_of, runs_by
from .settings import Settings
from .together import ranks, with_adjusted


class ComparisonRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be compared; the sources are `NAME=SOURCE`, and see `api.compare` for the rest.

    `named` are the sources of each run where somebody has read the names already.
    """

    computed: Request
    named: Mapping[str, Sequence[str]] | None = None
    base: str | None = None
    by: str | None = None
    only: tuple[str, ...] = ()
    settings: Settings = Settings()


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Sources that have been read, each with the name of its run, and the runs, the base first."""

    sources: list[tuple[str | None, Source]]
    runs: list[Run]
    computed: dict[str | None, preparation.Prepared]
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
    named = request.named or named_sources(request.computed.sources)
    for paths in named.values():
        _refuse_results(paths)
    if request.by in (None, "run") and len(named) > 1:
        of_runs: dict[str | None, Sequence[str]] = dict(named.items())
        prepared = _all_prepared(request, of_runs)
        _refuse_same_sources(prepared)
        for name, each in prepared.items():
            if not each.groups:
                raise _nothing_read(str(name), each)
        runs = [run_of(str(name), _parts(request, each)) for name, each in prepared.items()]
    elif request.by == "run":
        raise UsageError("--by run compares several sources, and there is one")
    else:
        prepared = _all_prepared(request, {None: [p for paths in named.values() for p in paths]})
        whole = prepared[None]
        runs = runs_by(_parts(request, whole), request.by, Owners(whole.sources))
    return Prepared(
        sources=[(name, source) for name, each in prepared.items() for source in each.sources],
        runs=_base_first(runs, request.base),
        computed=prepared,
        inputs=[path for each in prepared.values() for path in each.inputs],
        diagnostics=[remark for each in prepared.values() for remark in each.diagnostics],
    )


def finish(request: ComparisonRequest, prepared: Prepared, *, ranked: bool = False) -> Comparison:
    """The second half of `compare`: run the metrics.

    `ranked`: every two runs are compared for their places, whichever pairs are shown.

    Raises:
        UsageError: the runs have nothing in common, or a gate is set on what is not there.
    """
    paths = [source.path for _, source in prepared.sources]
    run_scripts = Scripts(request.computed.scripts, paths)
    diagnostics = list(prepared.diagnostics)
    settings = request.settings
    base, *candidates = prepared.runs
    every_two = ranked or settings.pairs == "all"
    runs = all_pairs(prepared.runs) if every_two else [(base, each) for each in candidates]
    pairs = compared(runs, settings, run_scripts, diagnostics)
    shown = pairs
    if settings.pairs == "base":
        shown = [pair for pair in pairs if pair.compared.base.run == base.name]
    comparisons = [pair.compared for pair in with_adjusted(shown, settings.adjust)]
    diagnostics += run_scripts.diagnostics
    alone = {(one.name, other.name): tasks_alone(one, other) for one, other in runs}
    diagnostics += [
        Diagnostic(
            rule="tasks-unpaired",
            message=f"dataset {dataset} is in one run alone, and not compared: {plural(n, 'task')}",
            subject=f"{other} against {one}",
        )
        for (one, other), datasets in alone.items()
        for dataset, n in datasets
    ]
    diagnostics += _unused_directions(settings, comparisons, base)
    of_base = [pair for pair in comparisons if pair.base.run == base.name]
    decisions: list[Decision] = []
    if settings.gates:
        # For weight: most comparisons have none.
        from .decisions import decide, remarks

        decisions = decide(of_base, settings, alone)
        diagnostics += remarks(decisions, settings.level)
    places = ranks(pairs, settings.level, diagnostics) if every_two else []
    return Comparison(
        sources=[
            SourceRef(
                run=name,
                path=without_passwords(shown_path(source.path)),
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
        ranks=places,
        gates=decisions,
        diagnostics=[diagnostic.as_json() for diagnostic in dict.fromkeys(diagnostics)],
    )


def _unused_directions(
    settings: Settings, comparisons: Sequence[Compared], base: Run
) -> Iterator[Diagnostic]:
    """That a name of `--higher-is-better` or of `--lower-is-better` is the name of nothing."""
    if not (settings.higher or settings.lower):
        return
    rows = [row for pair in comparisons for row in pair.rows]
    names = {name: None for row in rows for name in (*names_of(row), *inner_names_of(row))}
    plans = [metric for part in base.parts.values() for metric in part.plan.metrics]
    naming = {metric.name for metric in plans if names_its_values(metric)}
    names |= {row.value: None for row in rows if row.value and row.metric in naming}
    # Which way it is better says which tasks are.
    keys = [*(row.key for row in rows), *(pair.key for pair in comparisons)]
    names |= {key: None for key in keys if key is not None}
    for option, asked in (("higher", settings.higher), ("lower", settings.lower)):
        for name in asked:
            if name not in names:
                yield Diagnostic(
                    rule="direction-unused",
                    message=f"--{option}-is-better: no metric or value has the name `{name}`"
                    + did_you_mean(nearest(name, names)),
                    help=f"the names are {listed([f'`{known}`' for known in names])}",
                )


def _all_prepared(
    request: ComparisonRequest, sources: Mapping[str | None, Sequence[str]]
) -> dict[str | None, preparation.Prepared]:
    """The sources of each run, with all that a metric reads: those of the base run on all."""
    chooses = request.by is not None or request.settings.cluster is not None or bool(request.only)
    computed = msgspec.structs.replace(request.computed, reads_labels=chooses)
    prepared = _each_prepared(computed, sources)
    plans = [group.plan.metrics for each in prepared.values() for group in each.groups]
    labels = {any(metric.reads_labels for metric in plan) for plan in plans}
    texts = {any(metric.reads_texts for metric in plan) for plan in plans}
    if len(labels) < 2 and len(texts) < 2:
        return prepared
    whole = msgspec.structs.replace(
        computed, reads_labels=chooses or True in labels, reads_texts=True in texts
    )
    return _each_prepared(whole, sources)


def _each_prepared(
    computed: Request, sources: Mapping[str | None, Sequence[str]]
) -> dict[str | None, preparation.Prepared]:
    requests = {
        name: msgspec.structs.replace(computed, sources=tuple(paths))
        for name, paths in sources.items()
    }
    return {name: preparation.prepare(each, keep=True) for name, each in requests.items()}


def _parts(request: ComparisonRequest, prepared: preparation.Prepared) -> list[Part]:
    parts = [Part(group.key, group.pool, group.plan) for group in prepared.groups]
    return chosen(parts, request.only, Owners(prepared.sources))


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


def _nothing_read(name: str, prepared: preparation.Prepared) -> UsageError:
    """Of a run without trials: the first mistake in its sources."""
    for found in prepared.diagnostics:
        if found.severity == Severity.ERROR:
            where = f"{found.path}, line {found.span.line}: " if found.path and found.span else ""
            return UsageError(f"no trial of {name} can be read: {where}{found.message}", found.help)
    return UsageError(f"{name} has no trials")


def _refuse_same_sources(prepared: Mapping[str | None, preparation.Prepared]) -> None:
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
            document = msgspec.json.decode(whole(file, MOST_DATA), type=_AnyResult)
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
