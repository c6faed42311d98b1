"""The metrics of an lm-eval task file (YAML) as entries of a registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..catalogue import names
from ..catalogue.suggestions import only_meaning
from ..errors import InputError, MetricFailure
from ..readers.lm_eval import layout
from .lm_eval_file import load
from .lm_eval_yaml import Function

Entry = dict[str, Any]
# What stands beside kwargs in a metric of a task file.
_FIELDS = ("metric", "aggregation", "reduction", "higher_is_better", "hf_evaluate", "kwargs")
# Each filter may repeat those of the task.
_MOST = 500
# The metrics of an output type, where a task names none.
_DEFAULTS = {
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "multiple_choice": ("acc", "acc_norm"),
    "generate_until": ("exact_match",),
}
# Metrics of which a mean would say nothing, and why.
_NOTHING_HERE = {
    "acc_all": "it is over the answers to one question, which a reward is not",
    "bypass": "it is always 999",
}


class Matched(NamedTuple):
    """The entries, and a sentence for each metric without counterpart or with something to know."""

    entries: list[Entry]
    remarks: list[str]


class NoCounterpartError(Exception):
    """Nothing here computes this metric; the message says why."""


def read(path: str) -> Matched:
    """The entries for the metrics of a task file, by lm-eval's precedence: explicit over default.

    Raises:
        InputError: it cannot be read, or is not a task file.
    """
    task = load(path)
    matched = Matched([], [])
    if "scorer" in task:
        matched.remarks.append("`scorer` has no counterpart: its metrics are the task's own")
    n = 0
    for where, config in _configurations(task, path):
        if n >= _MOST:
            why = f"{_MOST} metrics are the most"
            matched.remarks.append(f"{where} and what follows are left out: {why}")
            break
        repeats = task.get("repeats", 1)
        try:
            for entry, remark in _entries(config, repeats):
                n += 1
                if entry not in matched.entries:
                    matched.entries.append(entry)
                if where.startswith("filter "):
                    of_filter = "of this filter alone: the samples of each filter are a dataset"
                    remark = "; ".join(filter(None, (remark, of_filter)))
                if remark:
                    matched.remarks.append(f"{where}: {remark}")
        except NoCounterpartError as error:
            n += 1
            matched.remarks.append(f"{where} has no counterpart: {error}")
    return matched


def _configurations(task: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Where each metric stands, and its configuration: the filter's metrics, else the task's."""
    if isinstance(task.get("group"), str) and isinstance(task.get("task"), list):
        raise InputError(f"{path} is a group of tasks; give the file of one of them")
    of_task = task.get("metric_list") or [
        {"metric": name} for name in _DEFAULTS.get(str(task.get("output_type")), ())
    ]
    filters = task.get("filter_list") or [{}]
    if not isinstance(of_task, list) or not isinstance(filters, list):
        raise InputError(f"{path}: `metric_list` and `filter_list` must be lists")
    none = True
    for filter_ in filters:
        of_filter = filter_.get("metric_list") if isinstance(filter_, dict) else None
        if not isinstance(of_filter, list | None):
            raise InputError(f"{path}: the `metric_list` of a filter must be a list")
        for i, config in enumerate(of_filter or of_task):
            none = False
            if of_filter:
                yield f"filter {filter_.get('name', 'none')}, metric {i}", config
            else:
                yield f"metric_list[{i}]", config
    if none:
        raise InputError(f"{path} has no metrics: no `metric_list` and no known `output_type`")


def _entries(config: Any, repeats: Any) -> Iterator[tuple[Entry, str]]:
    if not isinstance(config, dict) or "metric" not in config:
        raise NoCounterpartError("it is not a mapping with `metric`")
    name, remarks = _name(config["metric"])
    options = {} if remarks else _options(config)
    aggregation = config.get("aggregation", layout.AGGREGATIONS.get(name, "mean"))
    if isinstance(aggregation, Function):
        raise NoCounterpartError(f"its aggregation is the task's own code, {aggregation.name}")
    reducers, more = _reducers(config.get("reduction"), options, repeats)
    remarks += more
    entry = _entry(name, aggregation or "mean", options)
    if name == "exact_match" and any(reducers):
        # What the samples say of it, since texts of several repeats have no reducer.
        entry = {"type": "lm-eval/mean", "kwargs": {"key": name}}
        remarks.append("of the values in the samples, which have its options")
    elif name in layout.OF_TEXTS and config.get("reduction") is None:
        reducers = [{}]
    for reducer in reducers:
        kwargs = {**entry["kwargs"], **reducer}
        try:
            names.check(entry["type"], kwargs)
        except MetricFailure as error:
            raise NoCounterpartError(str(error)) from error
        yield {"type": entry["type"], **({"kwargs": kwargs} if kwargs else {})}, "; ".join(remarks)


def _name(metric: Any) -> tuple[str, list[str]]:
    """What the samples call a metric, and a remark where it is not lm-eval's own."""
    if isinstance(metric, Function):
        name = metric.name.rpartition(".")[2]
        return name, [f"`{name}` is the task's own code: what the samples say of it is averaged"]
    if not isinstance(metric, str):
        raise NoCounterpartError("`metric` is no name")
    if metric in _NOTHING_HERE:
        raise NoCounterpartError(_NOTHING_HERE[metric])
    if metric not in layout.AGGREGATIONS:
        remark = "is computed elsewhere: what the samples say of it is aggregated"
        return metric, [f"`{metric}` {remark}"]
    return metric, []


def _options(config: dict[str, Any]) -> dict[str, Any]:
    """The options of a metric: what `kwargs` say, else what stands beside its fields."""
    flat = {k: v for k, v in config.items() if k not in _FIELDS}
    given = config.get("kwargs")
    options = {**flat, **(given if isinstance(given, dict) else {})}
    if not all(isinstance(name, str) for name in options):
        raise NoCounterpartError("the name of an option is no text")
    return options


def _entry(name: str, aggregation: str, options: dict[str, Any]) -> Entry:
    """The entry for a metric under an aggregation."""
    if aggregation == layout.AGGREGATIONS.get(name):
        return {"type": f"lm-eval/{name}", "kwargs": options}
    if aggregation not in layout.KNOWN:
        raise NoCounterpartError(f"the aggregation `{aggregation}` is not known")
    return {"type": f"lm-eval/{aggregation}", "kwargs": layout.kwargs(name, aggregation)}


def _reducers(
    reduction: Any, options: dict[str, Any], repeats: Any
) -> tuple[list[Entry], list[str]]:
    """The `reducer` of each entry that a reduction asks for, and remarks.

    A `k` among the options belongs to the reduction, and is taken out of them.
    """
    if reduction is None:
        several = isinstance(repeats, int) and repeats > 1
        return ([{"reducer": "lm-eval/take_first"}] if several else [{}]), []
    if isinstance(reduction, Function):
        raise NoCounterpartError(f"its reduction is the task's own code, {reduction.name}")
    name = f"lm-eval/{reduction}"
    if only_meaning("reducers", name) is None:
        raise NoCounterpartError(f"the reduction `{reduction}` is not known")
    if reduction not in ("pass@k", "pass_at_k"):
        return [{"reducer": name}], []
    k = options.pop("k", None)
    if k is None:
        why = "lm-eval chooses the k from the number of repeats; here it is said, and is 1"
        return [{"reducer": {"type": name, "kwargs": {"k": 1}}}], [why]
    ks = k if isinstance(k, list) else [k]
    if len(ks) > _MOST:
        raise NoCounterpartError(f"more than {_MOST} k are asked for")
    return [{"reducer": {"type": name, "kwargs": {"k": k}}} for k in ks], []
