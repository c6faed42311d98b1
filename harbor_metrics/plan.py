"""Which metrics run for a group of trials, and who asked for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import catalogue, registry
from .diagnostics import Diagnostic, Severity
from .errors import InputError, UsageError
from .evaluate import Planned
from .metric import DEFAULT_TYPE, HARBOR_TYPES, UV_SCRIPT, MetricSpec, metric_of
from .readers.source import Job, JobDataset
from .registry import Dataset
from .result import Origin
from .signature import SpecError

# What other tools write into a metric entry; not a slip.
KNOWN_EXTRA_FIELDS = frozenset({"sha256"})


@dataclass(slots=True, kw_only=True)
class Plan:
    """The metrics of one group, the datasets they come from, and what there is to say about it."""

    metrics: list[Planned] = field(default_factory=list)
    datasets: list[Dataset] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Registries:
    """The registry files that were given, each read once, and those that jobs point to."""

    def __init__(self, given: Sequence[str]) -> None:
        self.given = list(given)
        self._read: dict[str, list[Dataset]] = {}

    def datasets(self, path: str) -> list[Dataset]:
        """The datasets of a registry file."""
        if path not in self._read:
            self._read[path] = registry.read(path)
        return self._read[path]

    def all_given(self) -> list[Dataset]:
        """The datasets of all the files that were given, in their order."""
        return [dataset for path in self.given for dataset in self.datasets(path)]


def plan(
    dataset: str | None,
    version: str | None,
    jobs: Iterable[tuple[str, Job]],
    registries: Registries,
    command_line: Sequence[Planned],
) -> Plan:
    """Registry, job, extra, command line; Harbor's default where the first two are empty.

    Raises:
        InputError: a registry lacks the dataset, or cannot be read.
    """
    made = Plan()
    jobs = list(jobs)
    names = {entry.name for entry in registries.all_given()}
    if dataset not in names and registry.part_of(dataset) in names:
        dataset = registry.part_of(dataset)
    for name, wanted in _wanted(dataset, version, jobs, registries, made):
        entries = registry.find(registries.datasets(name), str(dataset), wanted)
        if not entries:
            raise _lacks(name, str(dataset), wanted, registries.datasets(name))
        if len(entries) > 1:
            made.diagnostics.append(_repeated(entries))
        if entries[-1] not in made.datasets:
            made.datasets.append(entries[-1])
    for found in made.datasets:
        made.metrics += _entries(
            found.metrics, "registry", f"dataset {found}, metrics", made, found
        )
    for path, job in jobs:
        from_job = _entries(job.metrics, "job", f"job {path}, metrics", made, None)
        made.metrics += [one for one in from_job if one not in made.metrics or len(jobs) == 1]
    if not made.metrics:
        made.metrics = [Planned(name=DEFAULT_TYPE, spec=MetricSpec(), origin="default")]
    for found in made.datasets:
        subject = f"dataset {found}, extra_metrics"
        made.metrics += _entries(found.extra_metrics, "extra", subject, made, found)
    made.metrics += command_line
    return made


def _wanted(
    dataset: str | None,
    version: str | None,
    jobs: list[tuple[str, Job]],
    registries: Registries,
    made: Plan,
) -> list[tuple[str, str | None]]:
    """The registry files to look into and the version to look for, without repetition."""
    if dataset is None:
        if registries.given:
            made.diagnostics.append(
                Diagnostic(
                    rule="dataset-not-said",
                    severity=Severity.WARNING,
                    message="the trials name no dataset, so no metrics of the registry run",
                    help="name it with --dataset",
                )
            )
        return []
    named = [
        (path, entry)
        for path, job in jobs
        for entry in job.datasets
        if entry.name == dataset or (entry.path and os.path.basename(entry.path) == dataset)
    ]
    versions = [version] if version else [entry.version for _, entry in named]
    distinct: list[str | None] = list(dict.fromkeys(versions)) or [None]
    made.versions = [each for each in distinct if each]
    if len(distinct) > 1:
        made.diagnostics.append(
            Diagnostic(
                rule="versions-pooled",
                severity=Severity.NOTE,
                message=f"trials of {dataset} at {', '.join(str(v) for v in distinct)} are pooled, "
                "as Harbor does",
            )
        )
    if registries.given:
        path = _given_with(dataset, distinct, registries)
        if path is None:
            if all(entry.path for _, entry in named) and named:
                return []
            raise _lacks(", ".join(registries.given), dataset, version, registries.all_given())
        return [(path, each) for each in distinct]
    wanted: list[tuple[str, str | None]] = []
    for job_path, entry in named:
        if entry.path:
            continue
        path = _of_job(job_path, entry)
        if path is None:
            _not_found(dataset, entry, made)
        else:
            wanted.append((path, version or entry.version))
    return list(dict.fromkeys(wanted))


def _given_with(dataset: str, versions: Sequence[str | None], registries: Registries) -> str | None:
    """The first registry that has every version that is wanted, else the first with the name."""
    named = [
        path
        for path in registries.given
        if any(entry.name == dataset for entry in registries.datasets(path))
    ]
    whole = (
        path
        for path in named
        if all(registry.find(registries.datasets(path), dataset, v) for v in versions)
    )
    return next(whole, named[0] if named else None)


def _of_job(job: str, entry: JobDataset) -> str | None:
    """The registry file of a job: from here, then from each folder above the job."""
    if entry.registry_path is None:
        return None
    folder = os.path.abspath(job)
    candidates = [entry.registry_path]
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        candidates.append(os.path.join(folder, entry.registry_path))
    return next((path for path in candidates if os.path.isfile(path)), None)


def _not_found(dataset: str, entry: JobDataset, made: Plan) -> None:
    where = entry.registry_path or entry.registry_url or "the default registry of Harbor"
    made.diagnostics.append(
        Diagnostic(
            rule="registry-not-found",
            severity=Severity.WARNING,
            message=f"the registry of dataset {dataset} was not found: {where}",
            notes=("without it Harbor's default metric, mean, runs for the registry's",),
            help="pass it with --registry",
        )
    )


def _lacks(where: str, dataset: str, version: str | None, datasets: list[Dataset]) -> InputError:
    names = registry.nearest(dataset, datasets)
    wanted = f"{dataset}@{version}" if version else dataset
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return InputError(
        f"{where} has no dataset {wanted}; it has {listed or 'none'}",
        "name the dataset with --dataset, or another registry with --registry",
    )


def _repeated(entries: list[Dataset]) -> Diagnostic:
    same = all(
        e.metrics == entries[0].metrics and e.extra_metrics == entries[0].extra_metrics
        for e in entries
    )
    return Diagnostic(
        rule="duplicate-dataset",
        severity=Severity.WARNING,
        message=f"{entries[0].registry} has dataset {entries[0]} {len(entries)} times; "
        "the last counts, as in Harbor" + ("" if same else ", and their metrics differ"),
        path=entries[0].registry,
    )


def _entries(
    entries: Sequence[Any], origin: Origin, subject: str, made: Plan, dataset: Dataset | None
) -> list[Planned]:
    planned = []
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
        path = dataset.registry if dataset else None
        for unknown in sorted(entry.keys() - {"type", "kwargs"} - KNOWN_EXTRA_FIELDS):
            made.diagnostics.append(_unknown_field(unknown, where, entry, path))
        if origin == "registry" and name not in HARBOR_TYPES:
            made.diagnostics.append(_not_in_harbor(name, where, path))
        spec = MetricSpec(type=name, kwargs=kwargs, sha256=pin)
        # Where Harbor reads it, a name must at least say whose it is.
        if origin != "registry" or "/" in name:
            spec = catalogue.resolved(spec)
        planned.append(Planned(name=name, spec=spec, origin=origin, registry=path))
    return planned


def _unknown_field(unknown: str, where: str, entry: dict[str, Any], path: str | None) -> Diagnostic:
    runs = "" if "type" in entry else "; without `type` this metric runs as `mean`"
    return Diagnostic(
        rule="unknown-metric-field",
        severity=Severity.WARNING,
        message=f"unknown field `{unknown}` in {where}",
        path=path,
        subject=where,
        notes=(f"Harbor ignores it{runs}",),
        help="a metric has `type` and `kwargs`",
    )


def _not_in_harbor(name: str, where: str, path: str | None) -> Diagnostic:
    return Diagnostic(
        rule="not-in-harbor",
        severity=Severity.WARNING,
        message=f"{where}: Harbor does not know `{name}`, and refuses every dataset of the file",
        path=path,
        subject=where,
        help="move the entry to `extra_metrics`, which Harbor ignores",
    )


def asked(metric: str | MetricSpec | Callable[..., Any]) -> Planned:
    """A metric that someone asks for: a text as `--metric` takes it, a spec, or a function.

    Raises:
        UsageError: there is no such metric, or it does not take these kwargs.
    """
    if callable(metric):
        try:
            described = metric_of(metric)
        except TypeError as error:
            raise UsageError(str(error)) from error
        spec = MetricSpec(type=described.name)
        return Planned(name=spec.type, spec=spec, origin="command-line", metric=described)
    spec = _parsed(metric) if isinstance(metric, str) else metric
    if ".py:" in spec.type:
        # Imported here: hardly any computation runs a file.
        from . import local

        described, file = local.load(spec.type)
        try:
            described.bind(spec.kwargs)
        except SpecError as error:
            raise UsageError(f"--metric {spec.type}: {error}") from error
        return Planned(
            name=spec.type, spec=spec, origin="command-line", metric=described, file=file
        )
    try:
        catalogue.check(spec.type, spec.kwargs)
    except SpecError as error:
        raise UsageError(f"--metric {metric}: {error}") from error
    return Planned(name=spec.type, spec=catalogue.resolved(spec), origin="command-line")


def _parsed(text: str) -> MetricSpec:
    import msgspec

    if text.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(text.encode("utf-8", "backslashreplace"), type=MetricSpec)
        except msgspec.DecodeError as error:
            raise UsageError(
                f"--metric {text}: {error}", 'write \'{"type": "mean", "kwargs": {}}\''
            ) from error
    return MetricSpec(type=text)
