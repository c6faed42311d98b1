"""Metrics that several sources of one dataset bring: what they do not agree on does not run.

Each job may come with a registry of its own, and whose it is nobody can tell from the files. So no
source has a metric run on the trials of another that did not ask for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain

import msgspec

from ..contract.spec import UV_SCRIPT
from ..documents.diagnostics import Diagnostic
from ..documents.files import read_bytes
from ..documents.paths import real_path
from ..documents.wording import listed, printable, shown_path
from ..errors import InputError, MetricFailure
from .planned import Planned

_RULE = "metrics-differ"
# Stands for the registry of sources that have none.
_SILENT = ""


def of_all_registries(
    metrics: Sequence[Planned],
    registries: Iterable[str],
    silent: Sequence[str] = (),
    default: Sequence[Planned] = (),
) -> list[Planned]:
    """The metrics that each of the registries names, once; the others as failed, behind them.

    A registry that names none means the `default`, as do the `silent`, sources without a registry.
    """
    every = list(dict.fromkeys([*registries, *([_SILENT] if silent else [])]))
    if len(every) < 2:
        return list(metrics)
    naming = {metric.registry for metric in metrics if metric.origin == "registry"}
    meant = [
        msgspec.structs.replace(metric, registry=path)
        for path in every
        if path not in naming
        for metric in default
    ]
    same: dict[tuple[str, str | None, str], list[Planned]] = {}
    for metric in [*metrics, *meant]:
        key = (_entry(metric), _script(metric), _beside(metric))
        same.setdefault(key, []).append(metric)
    agreed, differing = [], []
    for alike in same.values():
        having = {metric.registry for metric in alike}
        named = [metric for metric in alike if metric.origin != "default"]
        if having != set(every):
            lacking = [path for path in every if path not in having]
            differing += [_without_agreement(metric, lacking, silent) for metric in named]
        elif named:
            agreed.append(_strictest(named))
    return [*agreed, *differing]


def differing_scripts(
    plans: Iterable[tuple[str | None, Sequence[Planned]]],
) -> Iterator[Diagnostic]:
    """Of groups of one dataset, which are not pooled: scripts that are not the same by one name."""
    first: dict[tuple[str | None, str], Planned] = {}
    said = set()
    for dataset, metrics in plans:
        for metric in metrics:
            key = dataset, _entry(metric)
            if metric.script is None or key in said:
                continue
            other = first.setdefault(key, metric)
            if other.script is None or other.script.path == metric.script.path:
                continue
            if (_script(other), _beside(other)) != (_script(metric), _beside(metric)):
                said.add(key)
                paths = [printable(each.script.shown) for each in (other, metric) if each.script]
                yield Diagnostic(
                    rule="scripts-differ",
                    message=f"{listed(paths)} are not the same script, or could read other files "
                    "beside them: their numbers may not be of one metric",
                    help="compute the jobs one by one, or say whose metrics run: --registry FILE",
                )


def of_all_runs(runs: Sequence[tuple[str, Sequence[Planned]]]) -> list[Planned]:
    """What runs themselves make numbers of, each once; what one of them does not has failed."""
    having: dict[str, set[str]] = {}
    for path, metrics in runs:
        for metric in metrics:
            having.setdefault(_entry(metric), set()).add(path)
    found = []
    for entry, metric in {_entry(metric): metric for _, own in runs for metric in own}.items():
        lacking = [path for path, _ in runs if path not in having[entry]]
        message = (
            f"runs that are pooled have different metrics, and not this one: {listed(lacking)} "
            "(--metric runs it)"
        )
        found.append(_failed(metric, message) if lacking else metric)
    return found


def of_all_jobs(
    jobs: Mapping[str, Sequence[Planned]],
    without_job: Sequence[str],
    of_registry: Sequence[Planned],
    default: Sequence[Planned],
) -> list[Planned]:
    """The metrics of the configuration of each of the jobs, once; the others as failed, behind.

    All ask for those `of_registry`; without any, sources that configure none mean the `default`.
    Scripts that one entry finds several of fail, too.
    """
    known: dict[tuple[object, ...], Planned] = {}
    for metric in chain.from_iterable(jobs.values()):
        pin = None if metric.script is None else metric.script.pin
        own = (metric.name, _entry(metric), metric.spec.sha256, metric.origin, metric.registry, pin)
        known.setdefault(own, metric)
    meant = [] if of_registry else default
    for_all = {_entry(metric) for metric in of_registry if metric.failure is None}
    every = {
        path: {_entry(metric) for metric in own or meant}
        for path, own in {**jobs, **dict.fromkeys(without_job, ())}.items()
    }
    agreed, differing = [], []
    for metric in _with_one_script([*known.values()]):
        entry = _entry(metric)
        lacking = [path for path, own in every.items() if entry not in own | for_all]
        if not lacking or metric.failure is not None:
            agreed.append(metric)
            continue
        message = (
            "only the configuration of a job has this metric, and none comes so with "
            f"{listed([shown_path(path) for path in lacking])}, which is pooled with it "
            "(--metric runs it)"
        )
        differing.append(_failed(metric, message))
    return [*agreed, *differing]


def _strictest(metrics: Sequence[Planned]) -> Planned:
    """Of entries that are alike but for pins one whose pin fails, else one with a pin.

    A script that one of the sources has refused runs on the trials of none.
    """
    whole = [metric for metric in metrics if metric.failure is None] or metrics
    pinned = [metric for metric in whole if metric.spec.sha256 is not None]
    other = (m for m in pinned if m.script and str(m.spec.sha256).lower() != m.script.pin)
    return next(other, [*pinned, *whole][0])


def _with_one_script(metrics: Sequence[Planned]) -> list[Planned]:
    """The same, as failed where scripts that are not the same have one name."""
    scripts: dict[str, dict[str | None, str]] = {}
    for metric in metrics:
        if metric.script is not None:
            found = scripts.setdefault(_entry(metric), {})
            found.setdefault(_script(metric), metric.script.shown)
    whole = []
    for metric in metrics:
        paths = scripts.get(_entry(metric), {})
        if metric.script is not None and len(paths) > 1:
            message = (
                f"jobs that are pooled bring different scripts by this name: "
                f"{listed(list(paths.values()))} (--metric FILE runs one)"
            )
            metric = _failed(metric, message)
        whole.append(metric)
    return whole


def _entry(metric: Planned) -> str:
    # For weight: most computations have one registry. It writes every text and every integer.
    import json

    return json.dumps([metric.spec.type, metric.spec.kwargs], sort_keys=True)


def _script(metric: Planned) -> str | None:
    """What the script is known by, its pin where it is not at hand."""
    return metric.script.identity if metric.script is not None else metric.spec.sha256


def _beside(metric: Planned) -> str:
    """What the script could read in its folder that its digest is not of, empty where nothing.

    It is a copy of the registry at most, known by its digest; else the script is that file alone.
    """
    script = metric.script
    if script is None:
        return ""
    folder, own = os.path.split(script.path)
    known = {own, *(name for name, _ in script.modules or ())}
    if script.lock is not None:
        known.add(f"{own}.lock")
    registry = os.path.abspath(metric.registry or "")
    copy = {os.path.basename(registry)} if real_path(os.path.dirname(registry)) == folder else set()
    try:
        others = {*os.listdir(folder)} - known
        if not others:
            return ""
        if others == copy:
            return f"{others} {sha256(read_bytes(registry)).hexdigest()}"
    except (OSError, InputError):
        pass  # what lies there nobody can tell
    return script.path


def _without_agreement(metric: Planned, lacking: Sequence[str], silent: Sequence[str]) -> Planned:
    own, others = shown_path(metric.registry or ""), [shown_path(p) for p in lacking if p]
    what = "with other kwargs"
    if metric.spec.type == UV_SCRIPT:
        what = "has another script or other files beside it"
    why = []
    if others:
        why.append(f"{listed(others)}, of the same job or a pooled one, has not, or {what}")
    if _SILENT in lacking:
        sources = listed([shown_path(path) for path in dict.fromkeys(silent)])
        why.append(f"no metrics come with {sources}, which is pooled with it")
    message = (
        f"{printable(own)}, the registry of a job, has it, and {', and '.join(why)} "
        "(--registry FILE says whose metrics run)"
    )
    return _failed(metric, message)


def _failed(metric: Planned, message: str) -> Planned:
    failure = MetricFailure(_RULE, message)
    return msgspec.structs.replace(metric, bound=None, script=None, failure=failure)
