"""Inspect's metrics that take another one of groups, or of a member of each score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..numbers.exact import Number
from . import inspect_metrics
from .inspect_metrics import Parts
from .inspect_scores import NotHeldError, Scored, is_nan
from .row import Answer, Between, Drawn, Instead, Known, Unknown

_OWN_MAPPING = "a function makes numbers of the scores, and the log has only its name"


def computed(metric: str, scores: Sequence[Scored], params: Mapping[str, Any]) -> Answer | Parts:
    """What a metric of Inspect gives, whatever it takes inside.

    Raises:
        NotHeldError: it is none of Inspect, or what it gives cannot be known.
        ValueError: Inspect refuses such scores or parameters.
        TypeError: a parameter is of another type.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if "to_float" in given or "value_to_float" in given:
        raise NotHeldError(_OWN_MAPPING)
    if metric == "grouped":
        return _grouped(scores, given)
    if metric == "aggregate":
        return _aggregate(scores, given)
    if not inspect_metrics.known(metric):
        raise NotHeldError(
            f"`{metric}` is a metric of the eval's own, and the log does not hold its code"
        )
    return inspect_metrics.computed(metric, scores, given)


def _inner(given: Any) -> tuple[str, dict[str, Any]]:
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str):
        raise NotHeldError("the log does not say which metric was taken inside")
    params = given.get("params")
    return name.removeprefix("inspect_ai/"), params if isinstance(params, dict) else {}


def _aggregate(scores: Sequence[Scored], params: Mapping[str, Any]) -> Answer | Parts:
    """A metric of one member of each score."""
    name, inner = _inner(params.get("agg"))
    key, missing = params.get("key"), params.get("on_missing", "error")
    kept = []
    for score in scores:
        value = score.value.get(key) if isinstance(score.value, dict) else None
        if is_nan(value):
            continue
        if value is None:
            if missing == "error":
                raise ValueError(f"a score has no `{key}`")
            if missing == "skip":
                continue
            value = 0.0
        kept.append(score.of(value))
    return computed(name, kept, inner) if kept else Known(None, f"no score has `{key}`")


def _grouped(scores: Sequence[Scored], params: Mapping[str, Any]) -> Parts:
    """A metric of the samples of each group, and of all or the mean of the groups."""
    name, inner = _inner(params.get("metric"))
    every, label = params.get("all", "samples"), params.get("all_label", "all")
    if not scores:
        return {label: Known(None, "no sample is scored")} if every else {}
    groups: dict[str, list[Scored]] = {}
    for score in scores:
        key = params.get("group_key")
        if key not in score.labels:
            raise ValueError(f"a sample has no `{key}` in its metadata")
        groups.setdefault(str(_label(score.labels[key])), []).append(score)
    template = str(params.get("name_template", "{group_name}"))
    parts: Parts = {}
    for group, members in groups.items():
        answer = computed(name, members, inner)
        if isinstance(answer, dict):
            raise NotHeldError(f"`{name}` has several values, which Inspect cannot log of groups")
        parts[template.replace("{group_name}", group)] = answer
    if every == "samples":
        answer = computed(name, scores, inner)
        if not isinstance(answer, dict):
            parts[label] = answer
    elif every:
        parts[label] = _mean_of(list(parts.values()))
    return parts


def _label(value: Any) -> Any:
    """The label as Python has it: a constant of the JSON is a float."""
    if isinstance(value, str) and value[:1] == "\0":
        return float(value[1:])
    return value


def _mean_of(answers: Sequence[Answer]) -> Answer:
    """The plain mean of what Inspect writes for each group."""
    written: list[Number] = []
    errors: list[float] = []
    for answer in answers:
        if isinstance(answer, Unknown | Between):
            return Unknown(answer.reason)
        value = answer.written if isinstance(answer, Instead) else answer.value
        if value is None or isinstance(value, str):
            return Known(None, "a group has no value")
        written.append(value)
        errors += [answer.error] if isinstance(answer, Drawn) else []
    mean = math.fsum(written) / len(written)
    if errors:
        error = math.hypot(*errors) / len(written)
        drawn = next(answer for answer in answers if isinstance(answer, Drawn))
        return drawn._replace(value=mean, error=error)
    return Known(mean)
