"""What lm-eval makes one number of in a run, as entries of metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from . import layout

# What a reduction of repeats makes of a metric.
_REDUCED = re.compile(r"(?P<reduction>pass@[1-9][0-9]{0,8}|mean|take_first)\((?P<metric>.+)\)")
# Their values are texts, which the metric of their name here would take otherwise.
_AS_THEY_ARE = ("exact_match", *layout.OF_TEXTS)


class Aggregated(NamedTuple):
    """The entries, and the names of metrics that are aggregated by code of the task's own."""

    entries: list[dict[str, Any]]
    unknown: list[str]


def aggregated(
    metrics: Iterable[tuple[str, object]], keys: Collection[str], texts: Collection[str]
) -> Aggregated:
    """The entries of metrics and their aggregations.

    Args:
        metrics: names, and what the configuration says of their aggregation.
        keys: the rewards that the samples have.
        texts: the names of their texts.
    """
    found = Aggregated([], [])
    for metric, given in metrics:
        aggregation = layout.aggregation(metric, given)
        if aggregation == layout.BYPASS:
            continue
        entry = _entry(metric, aggregation, keys, texts)
        if entry is None:
            found.unknown.append(metric)
        else:
            found.entries.append(entry)
    return found


def _entry(
    metric: str, aggregation: str, keys: Collection[str], texts: Collection[str]
) -> dict[str, Any] | None:
    if metric in keys and aggregation == "brier_score":
        # From 0.5 on each document has its own score.
        aggregation = "mean"
    inner = None if metric in keys else _REDUCED.fullmatch(metric)
    if inner is not None and aggregation == "mean":
        # Of repeats whose scores stand on the line: each is an attempt.
        kwargs = {"key": inner["metric"], "reducer": f"lm-eval/{inner['reduction']}"}
        return {"type": "lm-eval/mean", "kwargs": kwargs}
    if aggregation in layout.OF_TEXTS:
        kwargs = {kind: layout.part(metric, kind) for kind in (layout.REFERENCE, layout.PREDICTION)}
        apart = kwargs[layout.REFERENCE] in texts
        return {"type": f"lm-eval/{aggregation}", "kwargs": kwargs if apart else {}}
    if aggregation not in layout.KNOWN:
        return None
    if aggregation == layout.AGGREGATIONS.get(metric) and metric not in _AS_THEY_ARE:
        return {"type": f"lm-eval/{metric}", "kwargs": {}}
    return {"type": f"lm-eval/{aggregation}", "kwargs": layout.kwargs(metric, aggregation)}
