"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..catalogue.names import find_metric, meaning
from ..contract.spec import MetricSpec
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..readers.lm_eval import layout
from ..trials.source import Reported, Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from .reach import bounded_mean, n_missing
from .row import Answer, Instead, Known, Row, Unknown, agree, judge
from .tables import incomplete, measured, named, tables_of

_STDERR = "_stderr"
# More than that takes minutes.
_MOST_DRAWN = 5_000_000
# lm-eval draws no more resamples of scores of texts, however many are asked for.
_FEW = 100
_BOOTSTRAPPED = ("median", "nanmean", "perplexity", *layout.OF_CLASSES, *layout.OF_TEXTS)
_PASS = re.compile(r"pass@(?P<k>[1-9][0-9]*)\((?P<metric>.+)\)")


def rows(source: Source, others: Sequence[Source]) -> Iterator[Row]:
    """A row for reported number; those of groups of tasks need the samples of the others, too."""
    tables = tables_of(others)
    lacking = {key: incomplete(other) for other in others for key in tables_of([other])}
    for reported in source.reported():
        if reported.value is None:
            continue
        try:
            answer = _of_group(reported, tables) if reported.members else _of_task(reported, tables)
        except MetricFailure as error:
            answer = Unknown(str(error))
        if isinstance(answer, Known) and answer.value is None and reported.value == 0:
            answer = Instead(0, f"{answer.reason}; lm-eval says 0 there")
        reasons = (lacking.get(key, "") for key in reported.members or (reported.group,))
        reason = next(filter(None, reasons), incomplete(source))
        if isinstance(answer, Known) and not reported.members and _is_mean(reported, tables):
            missing = n_missing(source, reported.group)
            table = tables[reported.group]
            answer = bounded_mean(answer, table, reported.metric, by_task=True, missing=missing)
        yield judge(source.path, named(reported.group), reported, answer, incomplete=reason)


def _is_mean(reported: Reported, tables: Mapping[GroupKey, Table]) -> bool:
    """Whether it is a plain mean of values that are on disk."""
    table = tables.get(reported.group)
    is_mean = _aggregation(reported.metric, reported.params) == "mean"
    return table is not None and is_mean and reported.metric in table.columns


def _aggregation(metric: str, params: Mapping[str, Any]) -> str:
    """How the values of a metric became its number: as the task says, else as is registered."""
    return str(params.get("aggregation") or layout.AGGREGATIONS.get(metric, "mean"))


def _of_task(reported: Reported, tables: Mapping[GroupKey, Table]) -> Answer:
    if reported.metric == "sample_len":
        _, model, task = reported.group
        of_filters = [
            table.n_tasks
            for (_, other, name), table in tables.items()
            if other == model and str(name).partition(":")[0] == task
        ]
        return Known(max(of_filters, default=0))
    table = tables.get(reported.group)
    if table is None:
        return Unknown("the samples of this filter are not on disk")
    return _recomputed(reported.metric, reported.params, table)


def _recomputed(metric: str, params: Mapping[str, Any], table: Table) -> Answer:
    name = metric.removesuffix(_STDERR)
    aggregation = _aggregation(name, params)
    is_error = metric.endswith(_STDERR)
    if (chance := _PASS.fullmatch(name)) is not None:
        return _of_repeats(chance["metric"], int(chance["k"]), table, is_error=is_error)
    if is_error and aggregation == "mean":
        return _measured(_alias("mean_stderr", key=name), table)
    spec = _alias(aggregation, **_where(name, aggregation, table))
    if spec is None or not is_error:
        return _measured(spec, table)
    if aggregation not in _BOOTSTRAPPED:
        return Unknown(f"lm-eval knows no error of `{aggregation}`")
    return _bootstrapped(spec, aggregation, params, table)


def _alias(name: str, **kwargs: Any) -> MetricSpec | None:
    return meaning(f"lm-eval/{name}", kwargs)


def _where(name: str, aggregation: str, table: Table) -> dict[str, str]:
    """Which rewards or texts the reader has put the values into."""
    texts = {kind: layout.part(name, kind) for kind in (layout.REFERENCE, layout.PREDICTION)}
    if aggregation in layout.OF_TEXTS and any(
        texts[layout.REFERENCE] in trial.texts for trial in table
    ):
        return texts
    return layout.kwargs(name, aggregation)


def _bootstrapped(
    spec: MetricSpec, aggregation: str, params: Mapping[str, Any], table: Table
) -> Answer:
    """The standard error over resamples, drawn by lm-eval's own seeds."""
    wanted = _count(params.get("bootstrap_iters"))
    n = min(wanted, _FEW) if aggregation in layout.OF_TEXTS else wanted
    if n < 2:
        return Unknown("the log does not say how many resamples were drawn")
    if n * len(table) > _MOST_DRAWN:
        return Unknown(f"{n:,} resamples of {len(table):,} samples would take too long")
    common = {k: v for k, v in spec.kwargs.items() if k in find_metric(spec.type).common}
    inner = {k: v for k, v in spec.kwargs.items() if k not in common}
    metric = {"type": spec.type, "kwargs": inner}
    kwargs = {**common, "metric": metric, "method": "lm-eval", "samples": n}
    return _measured(MetricSpec(type="bootstrap-stderr", kwargs=kwargs), table)


def _count(given: Any) -> int:
    return given if type(given) is int else 0


def _of_repeats(metric: str, k: int, table: Table, *, is_error: bool) -> Answer:
    common = {"key": metric, "missing": "skip"}
    if not is_error:
        return _measured(MetricSpec(type="pass-at-k", kwargs={**common, "k": k}), table)
    reducer = {"type": "pass-at-k", "kwargs": {"k": k}}
    kwargs = {**common, "reducer": reducer, "cluster": None}
    return _measured(MetricSpec(type="stderr", kwargs=kwargs), table)


def _measured(spec: MetricSpec | None, table: Table) -> Answer:
    if spec is None:
        return Unknown("no metric here is this aggregation of lm-eval")
    measurement = measured(spec, table)
    ((name, value),) = measurement.values.items()
    return Known(value, measurement.reasons.get(name, ""))


def _of_group(reported: Reported, tables: Mapping[GroupKey, Table]) -> Answer:
    """Weighted by size or every task alike: the log does not say which, so either will do."""
    absent = [str(key.dataset) for key in reported.members if key not in tables]
    if absent:
        return Unknown(f"the samples of {', '.join(absent)} are not among the sources")
    members = [tables[key] for key in reported.members]
    sizes = [table.n_tasks for table in members]
    name = reported.metric.removesuffix(_STDERR)
    params = reported.params["members"]
    values: list[Number] = []
    for key, table in zip(reported.members, members, strict=True):
        answer = _recomputed(reported.metric, params[key.dataset], table)
        if not isinstance(answer, Known) or answer.value is None:
            return answer
        values.append(answer.value)
    if reported.metric != name:
        by_size, alike = _pooled(values, sizes), _unweighted(values)
    else:
        total = sum(sizes)
        by_size = math.fsum(v * n for v, n in zip(values, sizes, strict=True)) / total
        alike = math.fsum(values) / len(values)
    if not agree(reported.value, by_size) and agree(reported.value, alike):
        return Known(alike, "every task weighs the same")
    return Known(by_size, "tasks weigh as they have samples")


def _pooled(errors: Sequence[Number], sizes: Sequence[int]) -> float:
    """lm-eval's error of a mean that is weighted by size."""
    spread = math.fsum((n - 1) * n * e * e for e, n in zip(errors, sizes, strict=True))
    total = sum(sizes)
    return math.sqrt(spread / (total - len(sizes)) / total) if total > len(sizes) else 0.0


def _unweighted(errors: Sequence[Number]) -> float:
    """The error of a mean of means."""
    return math.sqrt(math.fsum(e * e for e in errors)) / len(errors)
