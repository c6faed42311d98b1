"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..exact import Number
from ..measurement import measure
from ..metric import MetricSpec
from ..readers.source import Reported, Source
from ..signature import SpecError
from ..table import Table
from ..trial import GroupKey
from .row import Known, Row, Unknown, agree, judge
from .tables import incomplete, named, tables_of

_STDERR = "_stderr"
# What lm-eval aggregates a metric by where the task does not say.
_DEFAULTS = {
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "f1": "f1",
    "mcc": "matthews_corrcoef",
    "brier_score": "brier_score",
    "bleu": "bleu",
    "chrf": "chrf",
    "chrf++": "chrf++",
    "ter": "ter",
}
_PASS = re.compile(r"pass@(?P<k>[1-9][0-9]*)\((?P<metric>.+)\)")
_Recomputed = Known | Unknown


def rows(source: Source, others: Sequence[Source]) -> Iterator[Row]:
    """A row a number; those of a task's groups need the samples of the other tasks, too."""
    tables = tables_of(others)
    lacking = incomplete(source)
    for each in source.reported():
        if each.value is None:
            continue
        try:
            found = _of_group(each, tables) if each.members else _of_task(each, tables)
        except SpecError as error:
            found = Unknown(str(error))
        yield judge(source.path, named(each.group), each, found, incomplete=lacking)


def _of_task(each: Reported, tables: Mapping[GroupKey, Table]) -> _Recomputed:
    if each.metric == "sample_len":
        _, model, task = each.group
        of_filters = [
            table.n_tasks
            for (_, other, name), table in tables.items()
            if other == model and str(name).partition(":")[0] == task
        ]
        return Known(max(of_filters, default=0))
    table = tables.get(each.group)
    if table is None:
        return Unknown("the samples of this filter are not on disk")
    return _recomputed(each.metric, each.params.get("aggregation"), table)


def _recomputed(metric: str, configured: str | None, table: Table) -> _Recomputed:
    name = metric.removesuffix(_STDERR)
    aggregation = configured or _DEFAULTS.get(name, "mean")
    is_error = metric.endswith(_STDERR)
    if (chance := _PASS.fullmatch(name)) is not None:
        return _of_repeats(chance["metric"], int(chance["k"]), table, is_error=is_error)
    if aggregation in ("mean", "nanmean") and name in table.columns:
        kind = "stderr" if is_error else "mean"
        if is_error and aggregation == "nanmean":
            return Unknown("lm-eval's bootstrap, which is not computed here")
        cluster = {"cluster": None} if is_error else {}
        return _measured(kind, table, key=name, missing="skip", **cluster)
    if is_error:
        return Unknown(f"lm-eval's bootstrap of `{aggregation}`, which is not computed here")
    return _aggregated(name, aggregation, table)


def _aggregated(name: str, aggregation: str, table: Table) -> _Recomputed:
    pair = {"key": f"{name}/0", "weight": f"{name}/1", "missing": "skip"}
    if aggregation == "perplexity":
        return _exp(_measured("mean", table, key=name, missing="skip"))
    if aggregation == "weighted_perplexity":
        return _exp(_measured("micro-average", table, **pair))
    if aggregation == "bits_per_byte":
        found = _measured("micro-average", table, **pair)
        if isinstance(found, Unknown) or found.value is None:
            return found
        return Known(-found.value / math.log(2))
    if aggregation == "brier_score":
        return Unknown("its probabilities are in the log with eight digits only")
    return Unknown(f"no metric here is lm-eval's `{aggregation}`")


def _of_repeats(metric: str, k: int, table: Table, *, is_error: bool) -> _Recomputed:
    if is_error:
        reducer = {"type": "pass-at-k", "kwargs": {"k": k}}
        return _measured("stderr", table, key=metric, missing="skip", reducer=reducer, cluster=None)
    return _measured("pass-at-k", table, key=metric, missing="skip", k=k)


def _measured(kind: str, table: Table, **kwargs: Any) -> Known:
    measured = measure(MetricSpec(type=kind, kwargs=kwargs), table, missing=None, level=None)
    ((name, value),) = measured.values.items()
    return Known(value, measured.reasons.get(name, ""))


def _exp(found: Known) -> Known:
    if found.value is None:
        return found
    try:
        return Known(math.exp(-found.value))
    except OverflowError:
        return Known(None, "beyond binary64")


def _of_group(each: Reported, tables: Mapping[GroupKey, Table]) -> _Recomputed:
    """Weighted by size or every task alike: the log does not say which, so either will do."""
    absent = [str(key[2]) for key in each.members if key not in tables]
    if absent:
        return Unknown(f"the samples of {', '.join(absent)} are not among the sources")
    members = [tables[key] for key in each.members]
    sizes = [table.n_tasks for table in members]
    name = each.metric.removesuffix(_STDERR)
    aggregations: dict[str | None, str | None] = each.params.get("aggregations", {})
    found = [
        _recomputed(each.metric, aggregations.get(key[2]), table)
        for key, table in zip(each.members, members, strict=True)
    ]
    values: list[Number] = []
    for one in found:
        if isinstance(one, Unknown):
            return one
        if one.value is None:
            return one
        values.append(one.value)
    if each.metric != name:
        by_size, alike = _pooled(values, sizes), _unweighted(values)
    else:
        total = sum(sizes)
        by_size = math.fsum(v * n for v, n in zip(values, sizes, strict=True)) / total
        alike = math.fsum(values) / len(values)
    if not agree(each.value, by_size) and agree(each.value, alike):
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
