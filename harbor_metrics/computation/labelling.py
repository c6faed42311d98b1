"""Labels of tasks, joined to the trials of the source that they come with and to no others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural, printable, shown, shown_path
from ..errors import InputError
from ..evaluation.datasets import Datasets, find_datasets
from ..registries.registry import Dataset, Registries
from ..trials.labelled import identity
from ..trials.labels import OF_ATTEMPTS, Labels, identities, joined
from ..trials.owners import Owners
from ..trials.source import Job
from ..trials.table import Table
from ..trials.trial import GroupKey, Label, Trial

# What several say of tasks; of a label that two give a task, the first one's counts.
Layers = tuple[Labels, ...]


class Labelling(msgspec.Struct, frozen=True, kw_only=True):
    """Which labels the trials of a dataset get: of registries, and of `of_jobs` the jobs' own.

    `diagnostics` gets what is said of them.

    Each source says what it would say alone, so that none labels the trials of another, whatever
    their order is.
    """

    dataset: str | None
    version: str | None
    registries: Registries
    of_jobs: bool
    own_jobs: bool = False
    diagnostics: list[Diagnostic]

    def joined(
        self,
        table: Table,
        jobs: Sequence[tuple[str, Job]],
        owners: Owners,
        groups: Collection[GroupKey],
    ) -> Table:
        """The trials of these jobs, and of other sources, with the labels that they lack.

        `groups` are those that the trials name, as `Pool.keys`.

        Raises:
            InputError: two jobs that both have a trial label it otherwise.
        """
        if not table.has_rows:
            return table
        found = {id(job): self._of(path, job) for path, job in jobs}
        others = self._of(None, None) if owners.none or not jobs else None
        said = [*found.values(), *([] if others is None else [others])]
        # As objects: to compare all that a registry says of tasks for each of many jobs takes long.
        if len({tuple(map(id, layers)) for layers in said}) == 1:
            merged = _merged(said[0], table.tasks)
            more = self._of_tasks_alone(merged.values(), table)
            return joined(table, dict(zip(merged, more, strict=True)))
        of_copies = _OfCopies()
        of_trials = []
        for trial in table:
            said_by = [
                (source.path, _of_task(trial.task, layers))
                for source in owners.of(trial, groups)
                if (layers := others if source.job is None else found.get(id(source.job)))
                is not None
            ]
            own = said_by or [("", _of_task(trial.task, others or ()))]
            of_trials.append(of_copies.agreed(trial, own))
        if self.of_jobs:
            self.diagnostics.extend(of_copies.diagnostics())
        more = self._of_tasks_alone(of_trials, table)
        return Table(
            [
                msgspec.structs.replace(trial, labels={**labels, **trial.labels})
                for trial, labels in zip(table, more, strict=True)
            ]
        )

    def _of_tasks_alone(
        self, said: Collection[Mapping[str, Label]], table: Table
    ) -> Collection[Mapping[str, Label]]:
        """The labels without those that are called as what attempts say: rewards and texts.

        A metric reads the one of that name or the other, and where a trial lacks its own a label
        of the task would stand in for it.
        """
        names = set().union(*said)
        if not names:
            return said
        keys = table.key_times.times.keys()
        taken = {*keys, *(key.removesuffix("/0") for key in keys), *OF_ATTEMPTS}
        names &= taken.union(*(trial.texts for trial in table))
        if not names:
            return said
        if self.of_jobs:
            self.diagnostics.append(
                Diagnostic(
                    rule="label-left-out",
                    message="tasks have labels that are called as rewards or texts of trials: "
                    f"{listed(sorted(names))}; they are left out",
                )
            )
        return [{n: v for n, v in labels.items() if n not in names} for labels in said]

    def _of(self, path: str | None, job: Job | None) -> Layers:
        """What a job says of tasks, or a source that is none; a registry goes before the job."""
        jobs = [] if path is None or job is None else [(path, job)]
        try:
            found = find_datasets(
                self.dataset, self.version, jobs, self.registries, own_jobs=self.own_jobs
            )
        except InputError:
            # Said already where it is so of all sources together.
            found = Datasets([], [], [])
        layers = [self.registries.labels(entry) for entry in found.entries]
        if self.of_jobs:
            self._check_alike(found)
        if job is not None and self.of_jobs:
            layers.append(job.labels_on(self.dataset))
        return tuple(filter(None, layers))

    def _check_alike(self, found: Datasets) -> None:
        """Refuse registries of which one source ran with one, and that label a task otherwise."""
        same: dict[str, list[Dataset]] = {}
        for entry in found.entries:
            same.setdefault(str(entry), []).append(entry)
        for first, *others in [*found.rivals, *same.values()]:
            for other in others:
                mine, theirs = (
                    identities(self.registries.labels(entry)) for entry in (first, other)
                )
                if mine != theirs:
                    one, two = (
                        f"{printable(str(each))} in {shown_path(each.registry)}"
                        for each in (first, other)
                    )
                    raise InputError(
                        f"{one} and {two} label the tasks otherwise, and both fit the path that a "
                        "job names",
                        "name the registry that the job ran with, with --registry",
                    )


def _of_task(task: str, layers: Layers) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    for layer in layers:
        labels = {**layer.get(task, {}), **labels}
    return labels


def _merged(layers: Layers, tasks: Iterable[str]) -> Labels:
    """What all layers say of these tasks, the first one before the others."""
    named = set(tasks).intersection(chain.from_iterable(layers))
    return {task: _of_task(task, layers) for task in named}


class _OfCopies:
    """The labels of trials that several jobs have, and which of them not all these jobs give."""

    def __init__(self) -> None:
        self.n = 0
        # The first of them: its name, the job that gives it, and one that does not.
        self.first: tuple[str, str, str] | None = None

    def agreed(
        self, trial: Trial, said: Sequence[tuple[str, Mapping[str, Label]]]
    ) -> dict[str, Label]:
        """The labels of a trial by all jobs that have it.

        Raises:
            InputError: two of them label it otherwise.
        """
        labels: dict[str, Label] = {}
        by: dict[str, str] = {}
        for path, more in said:
            for name, value in more.items():
                if name in trial.labels:
                    continue
                if identity(labels.setdefault(name, value)) != identity(value):
                    raise InputError(
                        f"label `{name}` of task {trial.task} is {shown(labels[name])} by "
                        f"{shown_path(by[name])} and {shown(value)} by {shown_path(path)}, and "
                        f"both have trial {trial.trial or trial.id}",
                        "name one of the two, or give the label with --labels",
                    )
                by.setdefault(name, path)
        lacking = (
            (name, by[name], path) for path, more in said for name in labels if name not in more
        )
        if first := next(lacking, None):
            self.n += 1
            self.first = self.first or first
        return labels

    def diagnostics(self) -> Iterator[Diagnostic]:
        """That there are some."""
        if self.first is not None:
            name, path, other = self.first
            yield Diagnostic(
                rule="labels-of-copy",
                message=f"{plural(self.n, 'trial')} found more than once with labels of one job "
                f"alone: `{printable(name)}` is that of {shown_path(path)}, and there is none of "
                f"{shown_path(other)}",
            )
