"""Which metrics run for a group of trials: each name becomes a bound metric here, and only here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..catalogue import names
from ..contract.metric import Metric
from ..contract.signature import converted
from ..contract.spec import DEFAULT_TYPE, UV_SCRIPT, MetricSpec, ScriptKwargs
from ..documents.diagnostics import Diagnostic
from ..documents.wording import printable, shown_path
from ..errors import InputError, MetricFailure
from ..registries.registry import Dataset, Registries
from ..trials.source import Job
from ..validation.entries import remarks_on_dataset, remarks_on_job
from . import changes
from .agreement import of_all_jobs, of_all_registries, of_all_runs
from .datasets import find_datasets
from .planned import NamedBy, Planned
from .remarks import NOT_FOUND, remarks_on_scripts
from .result import Origin

if TYPE_CHECKING:
    from ..registries.script_file import Script

# Each runs for each group, and is set beside all others.
_MOST_METRICS = 1_000
# What is said of registries because their metrics run, or should.
_ABOUT_METRICS = (NOT_FOUND, "dataset-not-said")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of one group, the datasets they come from, and what there is to say about it."""

    metrics: list[Planned]
    datasets: list[Dataset]
    versions: list[str]
    diagnostics: list[Diagnostic]
    # Whether a job ran with one of several of these, and nobody knows with which.
    is_disputed: bool = False

    @property
    def inputs(self) -> list[str]:
        """Every file that the numbers depend on and that the plan knows the path of."""
        scripts = [metric.script.path for metric in self.metrics if metric.script is not None]
        return [*scripts, *(dataset.registry for dataset in self.datasets)]


def plan(
    dataset: str | None,
    version: str | None,
    jobs: Sequence[tuple[str, Job]],
    registries: Registries,
    command_line: Sequence[Planned],
    *,
    without_job: Sequence[str] = (),
    allow_outside: bool = False,
    job_scripts: bool = False,
    only_asked: bool = False,
    own_jobs: bool = False,
) -> Plan:
    """Registry, job, extra, command line.

    Where the first two are empty, what a run of lm-eval itself aggregates, else Harbor's default,
    which jobs that bring no metrics and the sources `without_job` mean, too. A metric of the
    command line that runs already runs once; with `only_asked` those alone run.
    Scripts that only the configuration of a job names run with `job_scripts`; those of the user's
    `own_jobs`, and of the registries that these name, are the user's word.

    Raises:
        InputError: a registry lacks the dataset, or cannot be read.
    """
    found = find_datasets(dataset, version, jobs, registries, own_jobs=own_jobs)
    datasets, diagnostics = found.entries, found.diagnostics
    for entry in datasets:
        diagnostics += changes.of_metrics(entry, jobs) if not entry.is_snapshot else ()
    if only_asked:
        # A registry is then asked for labels of tasks alone, and can do without.
        said = [d for d in diagnostics if d.rule not in _ABOUT_METRICS]
        return Plan(
            metrics=_each_once([], command_line),
            datasets=datasets,
            versions=found.versions,
            diagnostics=said,
            is_disputed=bool(found.rivals),
        )
    for_dataset: list[Planned] = []
    named_by: NamedBy = "user" if registries.given or own_jobs else "registry of a job"
    of_job_by: NamedBy = "user" if own_jobs else "job"
    allow_outside = allow_outside or own_jobs
    for entry in datasets:
        subject = f"dataset {entry}, metrics"
        if not entry.is_snapshot:
            diagnostics += remarks_on_dataset(entry)
        for_dataset += _planned(
            registries, entry.metrics, "registry", subject, entry.registry, named_by, allow_outside
        )
    for entry in datasets:
        subject = f"dataset {entry}, extra_metrics"
        for_dataset += _planned(
            registries,
            entry.extra_metrics,
            "extra",
            subject,
            entry.registry,
            named_by,
            allow_outside,
        )
    default = _defaults(dataset, jobs, registries) or [bind(DEFAULT_TYPE, MetricSpec(), "default")]
    if not registries.given:
        without = _without_metrics(dataset, version, jobs, registries, own_jobs=own_jobs)
        silent = [*without_job, *without]
        said_by = [entry.registry for entry in datasets]
        for_dataset = of_all_registries(for_dataset, said_by, silent, default)
    metrics = [metric for metric in for_dataset if metric.origin == "registry"]
    of_jobs: dict[str, list[Planned]] = {}
    for path, job in jobs:
        subject = f"job {path}, metrics"
        diagnostics += remarks_on_job(path, job.metrics)
        of_job = _planned(
            registries, job.metrics, "job", subject, None, of_job_by, allow_outside, path
        )
        of_jobs[path] = [
            _of_job(metric, metrics, job_scripts=job_scripts or own_jobs) for metric in of_job
        ]
    configured = of_all_jobs(of_jobs, without_job, metrics, default)
    if not metrics and (without_job or not all(job.metrics for _, job in jobs)):
        metrics += (metric for metric in default if not _runs(metric, configured))
    metrics += configured
    metrics = metrics or default
    metrics += [metric for metric in for_dataset if metric.origin == "extra"]
    return Plan(
        metrics=_each_once(metrics, command_line),
        datasets=datasets,
        versions=found.versions,
        diagnostics=[*diagnostics, *remarks_on_scripts(for_dataset)],
        is_disputed=bool(found.rivals),
    )


def _defaults(
    dataset: str | None, jobs: Sequence[tuple[str, Job]], registries: Registries
) -> list[Planned]:
    """What the runs themselves make numbers of, each once."""
    runs = [
        (path, _planned(registries, entries, "default", "defaults", None, "user", False))
        for path, job in jobs
        if (entries := job.defaults.get(dataset, ()))
    ]
    return _each_once([], of_all_runs(runs))


def _without_metrics(
    dataset: str | None,
    version: str | None,
    jobs: Sequence[tuple[str, Job]],
    registries: Registries,
    *,
    own_jobs: bool,
) -> list[str]:
    """The jobs that name neither metrics nor a registry that is there to tell them."""
    return [
        path
        for path, job in jobs
        if not job.metrics
        and not find_datasets(
            dataset, version, [(path, job)], registries, own_jobs=own_jobs
        ).entries
    ]


def _each_once(metrics: Sequence[Planned], asked: Sequence[Planned]) -> list[Planned]:
    """The metrics, and of those that were asked for the ones that do not run already."""
    whole = list(metrics)
    whole += (metric for i, metric in enumerate(asked) if not _runs(metric, [*metrics, *asked[:i]]))
    return whole


def _runs(asked: Planned, others: Sequence[Planned]) -> bool:
    """Whether one of the others computes the same: the same function of the same kwargs."""
    if asked.bound is not None:
        return any(asked.bound == other.bound for other in others)
    return any(
        asked.spec == other.spec and asked.script == other.script and other.failure is None
        for other in others
    )


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
            bound = names.bind(spec)
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
    # Who runs Harbor here, or permits what lies outside, has named this folder.
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


def _planned(
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
        spec = MetricSpec(type=name, kwargs=kwargs, sha256=pin)
        # Where Harbor reads it, a name must at least say whose it is.
        if origin != "registry" or "/" in name:
            spec = names.resolve(spec)
        planned.append(
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
    return planned


def _of_job(metric: Planned, others: Sequence[Planned], *, job_scripts: bool) -> Planned:
    """A metric of a job's own configuration; a script of it runs where somebody else names it."""
    if metric.spec.type != UV_SCRIPT:
        return metric
    for other in others:
        if other.spec == metric.spec and other.named_by != "job":
            return msgspec.structs.replace(other, origin="job")
    if job_scripts:
        return metric
    return msgspec.structs.replace(
        metric,
        script=None,
        failure=MetricFailure(
            "job-script-not-run",
            "only the configuration of the job names this script, and a job is data: it was not "
            "run (--job-scripts runs such scripts, confined)",
        ),
    )
