"""The library's verbs, with every argument spelled out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .comparison.document import Comparison
from .comparison.gates import gates
from .comparison.request import ComparisonRequest, finish, prepare
from .comparison.settings import Pairs, Settings, Unpaired
from .computation.computing import compute_request
from .computation.request import LEVEL, Request
from .evaluation.asked import Asked
from .evaluation.result import Result
from .numbers.adjustment import Adjust
from .numbers.uncertainty import Over
from .trials.source import Progress
from .trials.table import Missing

if TYPE_CHECKING:
    from .scripts.options import ScriptOptions


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
    request = Request(
        sources=tuple(os.fspath(s) if isinstance(s, os.PathLike) else s for s in sources),
        registries=_several(registry),
        dataset=dataset,
        metrics=_metrics(metrics),
        only_asked=only_asked,
        missing=missing,
        level=level,
        over=over,
        labels=os.fspath(labels) if labels is not None else None,
        group_by=_several(group_by),
        as_format=as_format,
        columns=columns,
        scripts=scripts,
        progress=progress,
        engine=engine,
    )
    return compute_request(request)


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
    only_asked: bool = False,
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
        unpaired: whether gates `drop` tasks of one run alone, and rewards of the base alone, or by
            default are undecided.
        script_error_bars: run each metric script 20 times more on either side, without some
            tasks each time, for an interval.
        higher_is_better, lower_is_better: metrics, values or rewards, by name, where none says it.
        registry, dataset, metrics, only_asked, labels, as_format, columns, scripts, progress: as
            of `compute`.

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
            only_asked=only_asked,
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


def _several(names: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    several = [names] if isinstance(names, str | os.PathLike) else names
    return tuple(os.fspath(name) for name in several)


def _metrics(metrics: Asked | Sequence[Asked]) -> tuple[Asked, ...]:
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        return (metrics,)
    return tuple(metrics)
