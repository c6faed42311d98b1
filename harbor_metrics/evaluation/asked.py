"""A metric that a caller asks for: a type, an entry in JSON, a function, or a file that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..catalogue import names
from ..catalogue.assignments import parse_kwargs
from ..contract.metric import Metric, metric_of
from ..contract.spec import FIELDS, UV_SCRIPT, MetricSpec
from ..documents.limits import LimitError, check_limits
from ..documents.wording import did_you_mean, in_command, nearest, shown
from ..errors import MetricFailure, UsageError
from .binding import bind
from .planned import Planned
from .result import ScriptRef

# What `--metric` takes, a spec, or a function of the caller's own.
Asked = str | MetricSpec | Callable[..., Any]


def plan_asked(metric: Asked) -> Planned:
    """The metric, ready to run; a script that is not there fails when it would run.

    Raises:
        UsageError: there is no such metric, or it does not take these kwargs.
    """
    if callable(metric):
        try:
            described = metric_of(metric)
        except TypeError as error:
            raise UsageError(str(error)) from error
        return _own(described, MetricSpec(type=described.name))
    if not isinstance(metric, str | MetricSpec):
        raise UsageError(
            f"a metric is a text or a function, not {type(metric).__name__}",
            "write an entry as JSON: json.dumps(entry)",
        )
    name, pairs = _parts(metric) if isinstance(metric, str) else (metric.type, [])
    if name.endswith(".py") or ".py:" in name:
        return _of_file(metric, name, pairs)
    if isinstance(metric, MetricSpec):
        spec = metric
    elif metric.lstrip().startswith("{"):
        spec = _decoded(metric)
        if ".py:" in spec.type:
            return _of_file(spec, spec.type, [])
    else:
        spec = MetricSpec(type=name, kwargs=parse_kwargs(name, pairs, option=f"--metric {name} "))
    planned = bind(spec.type, names.resolve(spec), "command-line")
    failure = planned.failure
    if spec.sha256 is not None and planned.spec.type != UV_SCRIPT:
        raise UsageError(f"--metric {metric}: `sha256` is of a script, and `{spec.type}` has none")
    # What is wrong with the script's file, and not with what was asked, is for the result to say.
    if failure is not None and not (
        planned.spec.type == UV_SCRIPT and failure.rule != "invalid-metric-kwargs"
    ):
        more = (
            f"harbor-metrics explain {in_command(spec.type)}"
            if failure.rule == "invalid-metric-kwargs"
            else ""
        )
        raise UsageError(f"--metric {metric}: {failure}", more) from failure
    return planned


def _of_file(metric: str | MetricSpec, name: str, pairs: list[str]) -> Planned:
    """A function of a file, with its kwargs.

    Raises:
        UsageError: the file cannot be run, has no such function, or it does not take them.
    """
    # For weight: hardly any computation runs a file.
    from ..catalogue import file_metric

    pin = metric.sha256 if isinstance(metric, MetricSpec) else None
    described, path, digest = file_metric.load(name, pin)
    if isinstance(metric, MetricSpec):
        spec = metric
    else:
        kwargs = parse_kwargs(
            name,
            pairs,
            lambda kwargs: names.bind_metric(described, kwargs),
            option=f"--metric {name} ",
        )
        spec = MetricSpec(type=name, kwargs=kwargs)
    try:
        return _own(described, spec, ScriptRef(path=path, sha256=digest))
    except MetricFailure as error:
        raise UsageError(f"--metric {name}: {error}") from error


def _own(metric: Metric, spec: MetricSpec, file: ScriptRef | None = None) -> Planned:
    """A function of the caller's own, with its kwargs.

    Raises:
        MetricFailure: it does not take these kwargs.
    """
    bound = names.bind_metric(metric, spec.kwargs)
    return Planned(name=spec.type, spec=spec, origin="command-line", bound=bound, file=file)


def _parts(text: str) -> tuple[str, list[str]]:
    """The type and the `NAME=VALUE` behind it; of JSON, and of a path with spaces, the whole.

    Raises:
        UsageError: what stands behind the type is no kwarg, or a quote is left open.
    """
    if text.lstrip().startswith("{"):
        return "", []
    # For weight: most computations ask for no metric.
    import shlex

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--metric {text}: {str(error).lower()}") from error
    if len(words) < 2 or (".py" in text and not any("=" in word for word in words)):
        return text.strip(), []
    name, *pairs = words
    for pair in pairs:
        if "=" not in pair.lstrip("="):
            raise UsageError(
                f"--metric {text}: `{pair}` is no kwarg",
                f"write {in_command(f'{name} NAME=VALUE')}",
            )
    return name, pairs


def _decoded(text: str) -> MetricSpec:
    data = text.encode("utf-8", "backslashreplace")
    try:
        check_limits(data)
        return msgspec.json.decode(data, type=MetricSpec)
    except LimitError as error:
        raise UsageError(f"--metric {shown(text)}: {error}") from error
    except msgspec.DecodeError as error:
        message, help_ = _advice(text) or (str(error), 'write \'{"type": "mean", "kwargs": {}}\'')
        raise UsageError(f"--metric {text}: {message}", help_) from error


def _advice(text: str) -> tuple[str, str] | None:
    """What to say of an object with a field that no entry has; None for other mistakes."""
    try:
        entry = msgspec.json.decode(text.encode("utf-8", "backslashreplace"))
    except msgspec.DecodeError:
        return None
    beside = [field for field in entry if field not in FIELDS]
    type_ = entry.get("type", "mean")
    kwargs = entry.get("kwargs", {})
    if not beside or not isinstance(type_, str) or not isinstance(kwargs, dict):
        return None
    try:
        takes = names.kwargs_of(type_)
    except MetricFailure:
        takes = ()
    misplaced = [field for field in beside if field in takes]
    if misplaced:
        # For weight: only a mistake needs it.
        import json

        which = " and ".join(f"`{field}`" for field in misplaced)
        kept = {field: entry[field] for field in misplaced}
        mended = json.dumps({"type": type_, "kwargs": {**kwargs, **kept}}, ensure_ascii=False)
        belong = "belongs" if len(misplaced) == 1 else "belong"
        return f"{which} {belong} in `kwargs`", f"write '{mended}'"
    near = nearest(beside[0], [field for field in FIELDS if field not in entry])
    return (
        f"unknown field `{beside[0]}`{did_you_mean(near)}",
        "a metric has `type` and `kwargs`",
    )
