"""Which metrics run for a group of trials: those that each source of them would run alone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..documents.diagnostics import Diagnostic
from ..registries.registry import Dataset, Registries
from ..trials.source import Job
from ..validation.entries import remarks_on_dataset, remarks_on_job
from . import changes
from .agreement import of_all
from .alone import OwnMetrics
from .datasets import find_datasets
from .planned import Planned, each_once
from .remarks import NOT_FOUND, remarks_on_scripts

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
    found = find_datasets(
        dataset, version, jobs, registries, without_job=bool(without_job), own_jobs=own_jobs
    )
    datasets, diagnostics = found.entries, found.diagnostics
    for entry in datasets:
        diagnostics += changes.of_metrics(entry, jobs) if not entry.is_snapshot else ()
    if only_asked:
        # A registry is then asked for labels of tasks alone, and can do without.
        said = [d for d in diagnostics if d.rule not in _ABOUT_METRICS]
        return Plan(
            metrics=each_once([], command_line),
            datasets=datasets,
            versions=found.versions,
            diagnostics=said,
            is_disputed=bool(found.rivals),
        )
    for entry in datasets:
        diagnostics += remarks_on_dataset(entry) if not entry.is_snapshot else ()
    for path, job in jobs:
        diagnostics += remarks_on_job(path, job.metrics)
    own = OwnMetrics(
        dataset,
        version,
        registries,
        allow_outside=allow_outside,
        job_scripts=job_scripts,
        own_jobs=own_jobs,
    )
    sources: list[tuple[str, Job | None]] = [*jobs, *((path, None) for path in without_job)]
    of_sources = [each for path, job in sources or [("", None)] for each in own.of(path, job)]
    return Plan(
        metrics=each_once(of_all(of_sources), command_line),
        datasets=datasets,
        versions=found.versions,
        diagnostics=[*diagnostics, *remarks_on_scripts(own.of_registries)],
        is_disputed=bool(found.rivals),
    )
