"""A metric that a caller asks for: a type, an entry in JSON, a function, or a file that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..catalogue import names
from ..contract.metric import Metric, metric_of
from ..contract.spec import MetricSpec
from ..errors import MetricFailure, UsageError
from .plan import Planned, bind
from .result import ScriptRef

# What `--metric` takes, a spec, or a function of the caller's own.
Asked = str | MetricSpec | Callable[..., Any]


def plan_asked(metric: Asked) -> Planned:
    """The metric, ready to run.

    Raises:
        UsageError: there is no such metric, or it does not take these kwargs.
    """
    if callable(metric):
        try:
            described = metric_of(metric)
        except TypeError as error:
            raise UsageError(str(error)) from error
        return _own(described, MetricSpec(type=described.name))
    spec = _parsed(metric) if isinstance(metric, str) else metric
    if ".py:" in spec.type:
        # For weight: hardly any computation runs a file.
        from ..catalogue import file_metric

        described, path, digest = file_metric.load(spec.type)
        try:
            return _own(described, spec, ScriptRef(path=path, sha256=digest))
        except MetricFailure as error:
            raise UsageError(f"--metric {spec.type}: {error}") from error
    try:
        names.check(spec.type, spec.kwargs)
    except MetricFailure as error:
        raise UsageError(f"--metric {metric}: {error}") from error
    return bind(spec.type, names.resolve(spec), "command-line")


def _own(metric: Metric, spec: MetricSpec, file: ScriptRef | None = None) -> Planned:
    """A function of the caller's own, with its kwargs.

    Raises:
        MetricFailure: it does not take these kwargs.
    """
    bound = names.bind_metric(metric, spec.kwargs)
    return Planned(name=spec.type, spec=spec, origin="command-line", bound=bound, file=file)


def _parsed(text: str) -> MetricSpec:
    if text.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(text.encode("utf-8", "backslashreplace"), type=MetricSpec)
        except msgspec.DecodeError as error:
            raise UsageError(
                f"--metric {text}: {error}", 'write \'{"type": "mean", "kwargs": {}}\''
            ) from error
    return MetricSpec(type=text)
