"""Metrics that several sources bring: those run that each of them would run alone.

Each job may come with metrics of its own, and whose it is nobody can tell from the files. So no
source has a metric run on the trials of another that did not ask for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain

import msgspec

from ..contract.spec import DEFAULT_TYPE, UV_SCRIPT
from ..documents.diagnostics import Diagnostic
from ..documents.files import read_bytes
from ..documents.paths import real_path
from ..documents.wording import listed, printable, shown_path
from ..errors import InputError, MetricFailure
from .planned import Planned
from .result import Origin

_RULE = "metrics-differ"

# What two metrics have in common that are one: the entry, the script, and what is beside it.
_Key = tuple[str, str | None, str]
# Where a metric is named, as results list them.
_ORDER: tuple[Origin, ...] = ("registry", "default", "job", "extra", "command-line")


class SourceMetrics(msgspec.Struct, frozen=True):
    """The metrics that a source runs alone; with a `registry`, those that come with that one.

    `datasets` are the entries there, by name and version.
    """

    source: str
    registry: str | None
    datasets: str
    metrics: Sequence[Planned]

    @property
    def brings_any(self) -> bool:
        """Whether it names any itself, and does not mean Harbor's default."""
        return not all(map(_is_implied, self.metrics))


def of_all(sources: Sequence[SourceMetrics]) -> list[Planned]:
    """The metrics that each of the sources runs alone, once; the others as failed, behind them."""
    first, *others = sources
    if all(own.metrics is first.metrics for own in others):
        return list(first.metrics)
    keys: dict[int, _Key] = {}
    having: dict[_Key, dict[int, SourceMetrics]] = {}
    for i, own in enumerate(sources):
        for metric in own.metrics:
            if id(metric) not in keys:
                keys[id(metric)] = metric.entry, _script(metric), _beside(metric)
            having.setdefault(keys[id(metric)], {})[i] = own
    alike: dict[_Key, list[Planned]] = {}
    differing: dict[tuple[object, ...], Planned] = {}
    for own in sources:
        for metric in own.metrics:
            key = keys[id(metric)]
            if len(having[key]) == len(sources):
                alike.setdefault(key, []).append(metric)
            elif not _is_implied(metric):
                place = key, metric.name, metric.origin, metric.registry, metric.spec.sha256
                if place not in differing:
                    lacking = [each for i, each in enumerate(sources) if i not in having[key]]
                    differing[place] = _without_agreement(metric, own, lacking)
    agreed = list(chain.from_iterable(map(_as_one, alike.values())))
    agreed.sort(key=lambda metric: _ORDER.index(metric.origin))
    return [*agreed, *differing.values()]


def _as_one(metrics: Sequence[Planned]) -> Iterator[Planned]:
    """Metrics that are one, once for each array that names it; as a default where none does."""
    origins = dict.fromkeys(metric.origin for metric in metrics)
    if len(origins) > 1:
        origins.pop("default", None)
    one = _strictest(metrics)
    return (msgspec.structs.replace(one, origin=origin) for origin in origins)


def differing_scripts(
    plans: Iterable[tuple[str | None, Sequence[Planned]]],
) -> Iterator[Diagnostic]:
    """Of groups of one dataset, which are not pooled: scripts that are not the same by one name."""
    first: dict[tuple[str | None, str], Planned] = {}
    said = set()
    for dataset, metrics in plans:
        for metric in metrics:
            key = dataset, metric.entry
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


def _strictest(metrics: Sequence[Planned]) -> Planned:
    """Of entries that are alike but for pins one whose pin fails, else one with a pin.

    A script that one of the sources has refused runs on the trials of none.
    """
    whole = [metric for metric in metrics if metric.failure is None] or metrics
    pinned = [metric for metric in whole if metric.spec.sha256 is not None]
    other = (m for m in pinned if m.script and str(m.spec.sha256).lower() != m.script.pin)
    return next(other, [*pinned, *whole][0])


def _script(metric: Planned) -> str | None:
    """What the script is known by, its pin where it is not at hand."""
    return metric.script.identity if metric.script is not None else metric.spec.sha256


def _beside(metric: Planned) -> str:
    """What the script could read in its folder that its digest is not of, empty where nothing.

    It is a copy of the registry at most, known by its digest; else the script is that file alone.
    """
    script = metric.script
    # The configuration of a job names files of the job, which are not the script's to read.
    if script is None or metric.registry is None:
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


def _is_implied(metric: Planned) -> bool:
    """Whether it is Harbor's default, which nobody has named."""
    return metric.origin == "default" and metric.name == DEFAULT_TYPE


def _without_agreement(
    metric: Planned, own: SourceMetrics, lacking: Sequence[SourceMetrics]
) -> Planned:
    """The metric as failed, by its own failure if it has one."""
    if metric.failure is not None:
        return metric
    silent = [each.source for each in lacking if not each.registry and not each.brings_any]
    who, way = f"{own.source} itself", "--metric runs it"
    is_one = any(each.registry == metric.registry for each in lacking if each.registry)
    if is_one:
        who, way = f"{own.datasets} in {own.registry}", "--dataset NAME@VERSION says which runs"
    elif metric.registry is not None:
        who = f"{metric.registry}, the registry of a job,"
        way = "--registry FILE says whose metrics run"
    elif metric.origin == "job":
        who = f"the configuration of {own.source}"
    named = [
        f"{each.datasets} there" if is_one and each.registry == metric.registry else path
        for each in lacking
        if (path := each.registry or (each.source if each.brings_any else ""))
    ]
    what = "with other kwargs"
    if metric.spec.type == UV_SCRIPT:
        what = "has another script or other files beside it"
    why = []
    if named:
        paths = listed([shown_path(path) for path in dict.fromkeys(named)])
        why.append(f"{paths}, of the same job or a pooled one, has not, or {what}")
    if silent:
        paths = listed([shown_path(path) for path in dict.fromkeys(silent)])
        why.append(f"no metrics come with {paths}, which is pooled with it")
    message = f"{printable(shown_path(who))} has it, and {', and '.join(why)} ({way})"
    return _failed(metric, message)


def _failed(metric: Planned, message: str) -> Planned:
    failure = MetricFailure(_RULE, message)
    return msgspec.structs.replace(metric, bound=None, script=None, failure=failure)
