"""The metrics that a source runs alone: its registry's, its configuration's, or the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..contract.spec import DEFAULT_TYPE, UV_SCRIPT, MetricSpec
from ..errors import InputError, MetricFailure
from ..registries.registry import Dataset, Registries
from ..trials.source import Job
from .agreement import SourceMetrics
from .binding import bind, planned
from .datasets import find_datasets
from .planned import NamedBy, Planned, each_once
from .result import Origin


class OwnMetrics:
    """What each source of a dataset runs alone.

    It has those of its version in the registries that the user gives, else in the one that it names
    itself; where several fit the path that it names, it is asked with each. Scripts that only the
    configuration of a job names run with `job_scripts`; those of the user's `own_jobs`, and of the
    registries that these name, are the user's word.
    """

    def __init__(
        self,
        dataset: str | None,
        version: str | None,
        registries: Registries,
        *,
        allow_outside: bool,
        job_scripts: bool,
        own_jobs: bool,
    ) -> None:
        self._dataset, self._version, self._registries = dataset, version, registries
        self._own_jobs, self._allow_outside = own_jobs, allow_outside
        self._job_scripts = job_scripts or own_jobs
        self._default = [bind(DEFAULT_TYPE, MetricSpec(), "default")]
        # Registry, index -> the metrics of an entry and its extra ones; all that was bound.
        self._entries: dict[tuple[str, int], tuple[list[Planned], list[Planned]]] = {}
        self._whole: dict[tuple[int, ...], list[Planned]] = {}
        self.of_registries: list[Planned] = []

    def of(self, path: str, job: Job | None) -> Iterator[SourceMetrics]:
        """What a source runs, by each registry that it may have run with."""
        by_registry: dict[str | None, list[Dataset]] = {}
        for entry in self._entries_of(path, job):
            by_registry.setdefault(entry.registry, []).append(entry)
        for registry, entries in (by_registry or {None: []}).items():
            yield self._with(path, job or Job(), registry, entries)

    def _entries_of(self, path: str, job: Job | None) -> list[Dataset]:
        jobs = [] if job is None else [(path, job)]
        try:
            return find_datasets(
                self._dataset, self._version, jobs, self._registries, own_jobs=self._own_jobs
            ).entries
        except InputError:
            # Said already where it is so of all sources together.
            return []

    def _with(
        self, path: str, job: Job, registry: str | None, entries: Sequence[Dataset]
    ) -> SourceMetrics:
        bound = list(map(self._of_entry, entries))
        named = [metric for metrics, _ in bound for metric in metrics]
        extra = [metric for _, more in bound for metric in more]
        named += [self._of_job(metric, named) for metric in self._configured(path, job)]
        metrics = [*(named or self._of_run(path, job) or self._default), *extra]
        # The same object where they are the same: most sources have one registry.
        metrics = self._whole.setdefault(tuple(map(id, metrics)), metrics)
        return SourceMetrics(path, registry, ", ".join(map(str, entries)), metrics)

    def _of_entry(self, entry: Dataset) -> tuple[list[Planned], list[Planned]]:
        place = entry.registry, entry.index
        if place in self._entries and not entry.is_snapshot:
            return self._entries[place]
        is_users = bool(self._registries.given) or self._own_jobs
        named_by: NamedBy = "user" if is_users else "registry of a job"

        def bound(entries: Sequence[Any], origin: Origin, array: str) -> list[Planned]:
            metrics = planned(
                self._registries,
                entries,
                origin,
                f"dataset {entry}, {array}",
                entry.registry,
                named_by,
                self._allow_outside,
            )
            if not self._own_jobs:
                return metrics
            # Who runs Harbor here has named this folder.
            elsewhere = "current folder"
            return [
                msgspec.structs.replace(m, named_by="user") if m.named_by == elsewhere else m
                for m in metrics
            ]

        metrics = bound(entry.metrics, "registry", "metrics")
        extra = bound(entry.extra_metrics, "extra", "extra_metrics")
        self._entries[place] = metrics, extra
        self.of_registries += [*metrics, *extra]
        return metrics, extra

    def _configured(self, path: str, job: Job) -> list[Planned]:
        """The metrics of a job's own configuration, each once."""
        if not job.metrics:
            return []
        named_by: NamedBy = "user" if self._own_jobs else "job"
        metrics = planned(
            self._registries,
            job.metrics,
            "job",
            f"job {path}, metrics",
            None,
            named_by,
            self._allow_outside or self._own_jobs,
            path,
        )
        once = {(m.name, m.entry, m.spec.sha256): m for m in reversed(metrics)}
        return list(once.values())[::-1]

    def _of_job(self, metric: Planned, of_registry: Sequence[Planned]) -> Planned:
        """A metric of a job's own configuration; a script runs where somebody else names it."""
        if metric.spec.type != UV_SCRIPT:
            return metric
        for other in of_registry:
            if other.spec == metric.spec and other.named_by != "job":
                return msgspec.structs.replace(other, origin="job")
        if self._job_scripts:
            return metric
        failure = MetricFailure(
            "job-script-not-run",
            "only the configuration of the job names this script, and a job is data: it was not "
            "run (--job-scripts runs such scripts, confined)",
        )
        return msgspec.structs.replace(metric, script=None, failure=failure)

    def _of_run(self, path: str, job: Job) -> list[Planned]:
        """What a run of another harness itself makes numbers of, each once."""
        entries = job.defaults.get(self._dataset, ())
        metrics = planned(
            self._registries, entries, "default", f"run {path}, defaults", None, "user", False
        )
        return each_once([], metrics)
