"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from ..exact import Number
from ..measurement import measure
from ..metric import MetricSpec
from ..readers.source import Reported, Source
from ..signature import SpecError
from ..table import Table
from ..trial import GroupKey
from .lm_eval_aggregations import (
    BOOTSTRAPPED,
    PAIRS,
    SCALARS,
    TEXTS,
    bootstrap_stderr,
    brier_score,
    draws,
)
from .row import Known, Row, Unknown, agree, judge
from .tables import incomplete, named, tables_of

_STDERR = "_stderr"
# More than that takes minutes.
_MOST_DRAWN = 20_000_000
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
        except SpecError as error:
            found = Unknown(str(error))
        reasons = (lacking.get(key, "") for key in each.members or (each.group,))
        why = next(filter(None, reasons), incomplete(source))
        yield judge(source.path, named(each.group), each, found, incomplete=why)


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
    if aggregation == "mean" and name in table.columns:
        cluster = {"cluster": None} if is_error else {}
        kind = "stderr" if is_error else "mean"
        return _measured(kind, table, key=name, missing="skip", **cluster)
    known = {**SCALARS, **PAIRS, **TEXTS, "brier_score": brier_score}.get(aggregation)
    if known is None:
        return Unknown(f"no metric here is lm-eval's `{aggregation}`")
    items = _items(name, aggregation, table)
    if not items:
        return Unknown("the samples do not hold what it is made of")
    try:
        return _bootstrapped(aggregation, items, params) if is_error else Known(known(items))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return Known(None, str(error))
    except ImportError:
        return Unknown("it needs sacrebleu, which is not installed")


def _items(name: str, aggregation: str, table: Table) -> list[Any]:
    """The value of each document, in the order of the file: that of the documents' numbers."""
    trials = sorted(table, key=lambda t: (0, int(t.task)) if t.task.isdigit() else (1, 0))
    if aggregation in TEXTS:
        names = [(f"{name}/reference", f"{name}/prediction"), ("reference", "prediction")]
        pairs = [next((p for p in names if p[0] in t.texts), names[1]) for t in trials]
        return [
            (trial.texts[pair[0]], trial.texts[pair[1]])
            for trial, pair in zip(trials, pairs, strict=True)
            if pair[0] in trial.texts
        ]
    rewards = [trial.rewards or {} for trial in trials]
    if aggregation in SCALARS:
        return [each[name] for each in rewards if name in each]
    first, second = f"{name}/0", f"{name}/1"
    if aggregation in PAIRS:
        return [(e[first], e[second]) for e in rewards if first in e and second in e]
    return [
        (each[first], list(takewhile(_is_there, (each.get(f"{second}/{i}") for i in count()))))
        for each in rewards
        if first in each
    ]


def _is_there(value: Number | None) -> bool:
    return value is not None


def _bootstrapped(aggregation: str, items: list[Any], params: Mapping[str, Any]) -> _Recomputed:
    n = draws(aggregation, int(params.get("bootstrap_iters") or 0))
    if aggregation not in BOOTSTRAPPED or n < 2:
        return Unknown(f"lm-eval knows no error of `{aggregation}`")
    if n * len(items) > _MOST_DRAWN:
        return Unknown(f"{n:,} resamples of {len(items):,} samples would take too long")
    return Known(
        bootstrap_stderr({**SCALARS, **PAIRS, **TEXTS}[aggregation], items, n),
        f"{n} resamples, drawn as lm-eval draws them",
    )


def _of_repeats(metric: str, k: int, table: Table, *, is_error: bool) -> _Recomputed:
    if is_error:
        reducer = {"type": "pass-at-k", "kwargs": {"k": k}}
        return _measured("stderr", table, key=metric, missing="skip", reducer=reducer, cluster=None)
    return _measured("pass-at-k", table, key=metric, missing="skip", k=k)


def _measured(kind: str, table: Table, **kwargs: Any) -> Known:
    measured = measure(MetricSpec(type=kind, kwargs=kwargs), table, missing=None, level=None)
    ((name, value),) = measured.values.items()
    return Known(value, measured.reasons.get(name, ""))


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
