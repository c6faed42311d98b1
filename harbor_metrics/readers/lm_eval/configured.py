"""What a results file of lm-eval says of how the numbers of its tasks were made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .steps import array, member, members

_REDUCED = re.compile(r"[^()]+\((?P<metric>.+)\)")
Params = dict[str, Any]


class Configured:
    """What the configuration says of metrics: their aggregations, and how often errors are drawn.

    Each `metric_list` is gone through once, and what is said of many metrics is one object.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        self._configs = members(value.get("configs"))
        draws, version = member(value, "config", "bootstrap_iters"), value.get("lm_eval_version")
        self._of_run = _kept({"bootstrap_iters": draws, "version": version})
        self._of_task: dict[str | None, _Task] = {}
        self._made: dict[tuple[type, Any], Params] = {}

    def params(self, task: str | None, metric: str, filter_: str) -> Params:
        """What is said of a metric; a filter may have its own, which count before the task's."""
        if task not in self._of_task:
            self._of_task[task] = _Task(members(member(self._configs, task)))
        # What a reduction makes of a metric is aggregated as the metric is.
        inner = _REDUCED.fullmatch(metric)
        given = self._of_task[task].aggregation(inner["metric"] if inner else metric, filter_)
        key = type(given), given if isinstance(given, str | int) else None
        if key not in self._made:
            self._made[key] = _kept({**self._of_run, "aggregation": given})
        return self._made[key]


class _Task:
    """The aggregations of the metrics of a task, and of those of its filters."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._own = _aggregations(config.get("metric_list"))
        self._filters: dict[str, dict[str, Any]] = {}
        for entry in map(members, array(config.get("filter_list"))):
            if isinstance(name := entry.get("name"), str):
                found = self._filters.setdefault(name, {})
                for metric, given in _aggregations(entry.get("metric_list")).items():
                    found.setdefault(metric, given)

    def aggregation(self, metric: str, filter_: str) -> Any:
        """What is said of a metric behind a filter; None where nothing is."""
        of_filter = self._filters.get(filter_, {})
        return of_filter[metric] if metric in of_filter else self._own.get(metric)


def _aggregations(listed: Any) -> dict[str, Any]:
    """By metric; of two of one name the first counts."""
    entries = [e for e in map(members, array(listed)) if isinstance(e.get("metric"), str)]
    return {entry["metric"]: entry.get("aggregation") for entry in reversed(entries)}


def _kept(params: Mapping[str, Any]) -> Params:
    return {name: param for name, param in params.items() if isinstance(param, str | int)}
