"""The first half of a computation: everything is read, metrics are found, nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec

from .. import readers
from ..documents.diagnostics import Diagnostic
from ..documents.paths import STANDARD_INPUT
from ..engines.recognition import is_relation
from ..errors import UsageError
from ..evaluation import changes
from ..evaluation.plan import Plan, plan
from ..evaluation.planned import Planned
from ..evaluation.remarks import once
from ..readers.files.entries import Entries, copied
from ..registries.registry import Registries, split
from ..trials import regrouping
from ..trials.counts import NotCountableError
from ..trials.models import by_short_names
from ..trials.owners import Owners
from ..trials.pool import Pool, in_order, pool, twice
from ..trials.repeated import of_copies
from ..trials.source import Source
from ..trials.trial import GroupKey
from .labelling import Labelling
from .request import Request


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
        """Every path that was read, and every file that the plans know of beside."""
        read = [path for source in self.sources for path in source.inputs]
        return [*read, *(path for group in self.groups for path in group.plan.inputs)]

    @property
    def planned(self) -> list[Planned]:
        """The metrics of all groups."""
        return [metric for group in self.groups for metric in group.plan.metrics]


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
    asked = _asked(request)
    registries = Registries(request.registries)
    if any(is_relation(source, request.engine) for source in request.sources):
        # For weight: engines are asked for.
        from .relations import relations

        sources = relations(request, asked, keep=keep)
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
    lacking = any(source.lacks_texts for source in sources)
    if lacking and (request.reads_texts or any(m.reads_texts for m in prepared.planned)):
        sources = [readers.with_texts(source) for source in sources]
        prepared = plan_groups(request, sources, diagnostics, registries, asked)
    return prepared


def _asked(request: Request) -> list[Planned]:
    if not request.metrics:
        return []
    # For weight: most computations ask for no other metric.
    from ..evaluation.asked import plan_asked

    return [plan_asked(metric) for metric in request.metrics]


def _foreseen(request: Request, prepared: Prepared) -> Prepared:
    """The same with those metrics as failed that an engine cannot answer, before it is asked."""
    # For weight: engines are asked for.
    from ..evaluation.foresight import foreseen

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
    pools = pool(sources, diagnostics)
    if name is not None:
        pools = regrouping.of_dataset(pools, name, diagnostics)
    elif registries.given and regrouping.nameless(pools):
        pools = regrouping.named(pools, registries.only_name(), diagnostics)
    # Of groups that are whole: two models of one short name are two on any dataset.
    pools = by_short_names(pools, diagnostics)
    if any(said.rule == "repeated-trial" for said in diagnostics):
        of_keys = {key: group for group, members in pools.items() for key in members.keys}
        diagnostics += of_copies(sources, of_keys)
    if request.labels is not None:
        # For weight: few labels have a file of their own.
        from ..readers import labels as labels_file

        pools = regrouping.labelled(pools, labels_file.read(request.labels), request.labels)
    scripts = request.scripts
    outside = scripts is not None and scripts.allow_outside
    of_jobs = scripts is not None and scripts.job_scripts
    owners = Owners(sources)
    groups = []
    for key, members in in_order(pools):
        jobs = sorted(members.jobs, key=itemgetter(0))
        metrics = plan(
            key.dataset,
            version,
            jobs,
            registries,
            asked,
            without_job=sorted(members.without_job),
            allow_outside=outside,
            job_scripts=of_jobs,
            only_asked=request.only_asked,
            own_jobs=request.own_jobs,
        )
        if request.group_by:
            # For weight: most computations have one group.
            from ..evaluation.grouping import by_labels

            metrics = by_labels(metrics, request.group_by)
        diagnostics += metrics.diagnostics
        labelling = Labelling(
            dataset=key.dataset,
            version=version,
            registries=registries,
            of_jobs=request.reads_labels or any(m.reads_labels for m in metrics.metrics),
            own_jobs=request.own_jobs,
            diagnostics=diagnostics,
        )
        if labelling.of_jobs:
            diagnostics += changes.of_labels(metrics.datasets, key.dataset, jobs, registries)
        label = partial(labelling.joined, jobs=jobs, owners=owners, groups=members.keys)
        groups.append(PreparedGroup(key=key, pool=members.labelled(label), plan=metrics))
    found = once(diagnostics, sources)
    if found:
        # For weight: most sources have nothing wrong.
        from ..documents.quoting import without_quotes

        found = without_quotes(found, [*(source.path for source in sources), *registries.given])
    return Prepared(sources=sources, groups=groups, diagnostics=found)


def _read(request: Request, *, counts: bool) -> tuple[list[Source], list[Diagnostic]]:
    """Every source once, and that some were named twice."""
    sources: list[Source] = []
    entries = Entries()
    kept: dict[str, Any] = {}
    for path in dict.fromkeys(request.sources):
        found = request.read_once.get(path) or readers.read(
            path,
            request.progress,
            as_format=request.as_format,
            columns=request.columns,
            counts=counts,
            kept=kept,
        )
        if path == STANDARD_INPUT:
            request.read_once[path] = found
        sources += [source for source in found if entries.admits(source.path)]
    known = [said for source in sources for said in source.diagnostics]
    return sources, [*entries.diagnostics, *(d for d in _copies(sources) if d not in known)]


def _copies(sources: Sequence[Source]) -> Iterator[Diagnostic]:
    """That a source is a copy of another, where no ids say which of their trials are the same."""
    first: dict[tuple[str, str | None], Source] = {}
    for source in sources:
        if not len(source.trials):
            continue
        other = first.setdefault((source.sha256, source.digest_of), source)
        if other is not source and not source.repeats(other):
            yield copied(source.path, other.path)
