"""Entries of a `metrics` array as what computes them: a name becomes a bound metric here alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..catalogue import names
from ..contract.metric import Metric
from ..contract.signature import converted
from ..contract.spec import DEFAULT_TYPE, UV_SCRIPT, MetricSpec, ScriptKwargs
from ..documents.wording import printable, shown_path
from ..errors import InputError, MetricFailure
from ..registries.registry import Registries
from .planned import NamedBy, Planned
from .result import Origin

if TYPE_CHECKING:
    from ..registries.script_file import Script

# Each runs for each group, and is set beside all others.
_MOST_METRICS = 1_000


def bind(
    name: str,
    spec: MetricSpec,
    origin: Origin,
    registry: str | None = None,
    *,
    metric: Metric | None = None,
    named_by: NamedBy = "user",
    allow_outside: bool = False,
    job: str | None = None,
    registries: Registries | None = None,
) -> Planned:
    """An entry as what computes it, the script that does, or why nothing can.

    `metric` is a function of the caller's own, which the entry gives its kwargs. `job` is the
    folder of a job that names a script, which is looked for there as beside a registry. Of the
    `registries` are the scripts that were read already.
    """
    bound, script, failure = None, None, None
    beside = registry if job is None else os.path.join(job, "config.json")
    try:
        if spec.type == UV_SCRIPT and metric is None:
            kwargs = converted(UV_SCRIPT, spec.kwargs, ScriptKwargs)
            if kwargs.git_url is None:
                script, named_by = _script_of(
                    kwargs.script_path, beside, registry, registries, named_by, allow_outside
                )
        elif metric is not None:
            bound = names.bind_metric(metric, spec.kwargs)
        else:
            bound = names.as_called(names.bind(spec), name)
    except MetricFailure as error:
        failure = error
    return Planned(
        name=name,
        spec=spec,
        origin=origin,
        registry=registry,
        beside=beside,
        named_by=named_by,
        bound=bound,
        script=script,
        failure=failure,
    )


def _script_of(
    path: str,
    beside: str | None,
    registry: str | None,
    registries: Registries | None,
    named_by: NamedBy,
    allow_outside: bool,
) -> tuple[Script, NamedBy]:
    """The script that an entry names, and by whose word it is that one.

    Raises:
        MetricFailure: no such script is there, or none that the registry may name.
    """
    # For weight: most metrics are no scripts.
    from ..registries.script_file import find, is_elsewhere

    read = registries.scripts.read if registries is not None else None
    script = find(path, beside, allow_outside=allow_outside, read=read)
    # Who permits what lies outside has named this folder.
    if allow_outside or not registry or not is_elsewhere(script.path, registry):
        return script, named_by
    if named_by != "user":
        raise MetricFailure(
            "script-missing",
            f"script {printable(path)} lies in the current folder alone, where "
            f"{shown_path(registry)}, which a job names, does not (--registry FILE makes that your "
            "word)",
        )
    return script, "current folder"


def planned(
    registries: Registries,
    entries: Sequence[Any],
    origin: Origin,
    subject: str,
    registry: str | None,
    named_by: NamedBy,
    allow_outside: bool,
    job: str | None = None,
) -> list[Planned]:
    """The entries of a `metrics` array, which must be well-formed."""
    if len(entries) > _MOST_METRICS:
        raise InputError(f"{subject} has {len(entries):,} entries; at most {_MOST_METRICS:,} run")
    metrics = []
    for index, entry in enumerate(entries):
        where = f"{subject}[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f'{where} is not an object such as {{"type": "mean"}}')
        name = entry.get("type", DEFAULT_TYPE)
        kwargs = entry.get("kwargs", {})
        if not isinstance(name, str) or not isinstance(kwargs, dict):
            raise InputError(f"{where}: `type` must be a string and `kwargs` an object")
        pin = entry.get("sha256") if name == UV_SCRIPT else None
        if pin is not None and not isinstance(pin, str):
            raise InputError(f"{where}: `sha256` must be a string")
        spec = MetricSpec(type=name, kwargs=kwargs, sha256=pin)
        # Where Harbor reads it, a name must at least say whose it is.
        if origin != "registry" or "/" in name:
            spec = names.resolve(spec)
        metrics.append(
            bind(
                name,
                spec,
                origin,
                registry,
                named_by=named_by,
                allow_outside=allow_outside,
                job=job,
                registries=registries,
            )
        )
    return metrics
