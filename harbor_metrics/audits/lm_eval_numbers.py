"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import aliases, metric
from ..column import LabelError
from ..exact import Number
from ..metric import MetricSpec
from ..readers.source import Reported, Source
from ..signature import SpecError
from ..table import Table
from ..trial import GroupKey
from .reach import bounded, n_missing
from .row import Known, Row, Unknown, agree, judge
from .tables import incomplete, measured, named, tables_of

_STDERR = "_stderr"
# More than that takes minutes.
_MOST_DRAWN = 5_000_000
# Of scores of texts lm-eval draws no more, however many are asked for.
_FEW = 100
_OF_TEXTS = ("bleu", "chrf", "chrf++", "ter")
_BOOTSTRAPPED = ("median", "nanmean", "perplexity", "f1", "matthews_corrcoef", *_OF_TEXTS)
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
    lacking = {key: incomplete(other) for other in others for key in tables_of([other])}
    for each in source.reported():
        if each.value is None:
            continue
        try:
            found = _of_group(each, tables) if each.members else _of_task(each, tables)
        except (SpecError, LabelError) as error:
            found = Unknown(str(error))
        if isinstance(found, Known) and found.value is None and each.value == 0:
            found = Unknown(f"{found.reason}; lm-eval says 0 there")
        reasons = (lacking.get(key, "") for key in each.members or (each.group,))
        why = next(filter(None, reasons), incomplete(source))
        if isinstance(found, Known) and not each.members:
            found = _bounded(found, each, source, tables)
        yield judge(source.path, named(each.group), each, found, incomplete=why)


def _bounded(
    found: Known, each: Reported, source: Source, tables: Mapping[GroupKey, Table]
) -> Known:
    """A plain mean with what it can be; of all else that is not known."""
    name = each.metric
    aggregation = each.params.get("aggregation") or _DEFAULTS.get(name, "mean")
    table = tables.get(each.group)
    if table is None or aggregation != "mean" or name not in table.columns:
        return found
    scored = [t for t in table if t.rewards is not None and name in t.rewards]
    values = [t.rewards[name] for t in scored if t.rewards is not None]
    n = len({t.task for t in scored})
    return bounded(found, values, n, n_missing(source, each.group))


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
    return _recomputed(each.metric, each.params, table)


def _recomputed(metric: str, params: Mapping[str, Any], table: Table) -> _Recomputed:
    name = metric.removesuffix(_STDERR)
    aggregation = str(params.get("aggregation") or _DEFAULTS.get(name, "mean"))
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
    return aliases.metric_of(f"lm-eval/{name}", kwargs)


def _where(name: str, aggregation: str, table: Table) -> dict[str, Any]:
    """Which rewards or texts the reader has put the values into."""
    first, second = f"{name}/0", f"{name}/1"
    if aggregation in _OF_TEXTS:
        own = any(f"{name}/reference" in trial.texts for trial in table)
        prefix = f"{name}/" if own else ""
        return {"reference": f"{prefix}reference", "prediction": f"{prefix}prediction"}
    if aggregation in ("weighted_perplexity", "bits_per_byte"):
        return {"key": first, "weight": second}
    if aggregation in ("f1", "matthews_corrcoef"):
        return {"key": second, "reference": first}
    if aggregation == "brier_score":
        return {"key": first, "probabilities": second}
    return {"key": name}


def _bootstrapped(
    spec: MetricSpec, aggregation: str, params: Mapping[str, Any], table: Table
) -> _Recomputed:
    """The same of resamples, drawn by lm-eval's own seeds."""
    wanted = _count(params.get("bootstrap_iters"))
    n = min(wanted, _FEW) if aggregation in _OF_TEXTS else wanted
    if n < 2:
        return Unknown("the log does not say how many resamples were drawn")
    if n * len(table) > _MOST_DRAWN:
        return Unknown(f"{n:,} resamples of {len(table):,} samples would take too long")
    beside = {k: v for k, v in spec.kwargs.items() if k in metric.lookup(spec.type).common}
    own = {k: v for k, v in spec.kwargs.items() if k not in beside}
    inner = {"type": spec.type, "kwargs": own}
    kwargs = {**beside, "metric": inner, "method": "lm-eval", "samples": n}
    return _measured(MetricSpec(type="bootstrap-stderr", kwargs=kwargs), table)


def _count(given: Any) -> int:
    return given if type(given) is int else 0


def _of_repeats(metric: str, k: int, table: Table, *, is_error: bool) -> _Recomputed:
    common = {"key": metric, "missing": "skip"}
    if not is_error:
        return _measured(MetricSpec(type="pass-at-k", kwargs={**common, "k": k}), table)
    reducer = {"type": "pass-at-k", "kwargs": {"k": k}}
    kwargs = {**common, "reducer": reducer, "cluster": None}
    return _measured(MetricSpec(type="stderr", kwargs=kwargs), table)


def _measured(spec: MetricSpec | None, table: Table) -> _Recomputed:
    if spec is None:
        return Unknown("no metric here is this aggregation of lm-eval")
    found = measured(spec, table)
    ((name, value),) = found.values.items()
    return Known(value, found.reasons.get(name, ""))


def _of_group(each: Reported, tables: Mapping[GroupKey, Table]) -> _Recomputed:
    """Weighted by size or every task alike: the log does not say which, so either will do."""
    absent = [str(key[2]) for key in each.members if key not in tables]
    if absent:
        return Unknown(f"the samples of {', '.join(absent)} are not among the sources")
    members = [tables[key] for key in each.members]
    sizes = [table.n_tasks for table in members]
    name = each.metric.removesuffix(_STDERR)
    params = each.params["members"]
    found = [
        _recomputed(each.metric, params[key[2]], table)
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
