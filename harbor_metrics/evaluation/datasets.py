"""Which datasets of which registry files the trials of a group are of."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.paths import is_shut, real_path
from ..documents.wording import listed, printable, shown_path
from ..errors import InputError
from ..readers.harbor.near import Near
from ..registries import registry
from ..registries.registry import Dataset, Registries
from ..trials.snapshot import SNAPSHOT
from ..trials.source import Job, JobDataset
from ..trials.trial import part_of
from ..validation.entries import remarks_on_repetition
from .remarks import NOT_FOUND


class Datasets(msgspec.Struct, frozen=True):
    """The entries of registries, the versions that the jobs name, and what there is to say.

    `rivals` are those that several files have, of which a job ran with one, and that differ.
    """

    entries: list[Dataset]
    versions: list[str]
    diagnostics: list[Diagnostic]
    rivals: list[tuple[Dataset, ...]] = []


class _Place(msgspec.Struct, frozen=True):
    """A registry file to look into and the version to look for, the best one if null."""

    path: str
    version: str | None


class _Looked(msgspec.Struct, frozen=True):
    """Where to look by the word of the jobs, and the entries of snapshots where nothing is there.

    `either` are places of which one job ran with one.
    """

    places: list[_Place] = []
    either: list[tuple[_Place, ...]] = []
    kept: list[Dataset] = []
    diagnostics: list[Diagnostic] = []


# A dataset as a job names it, and the job's path.
_Named = tuple[str, JobDataset]


def find_datasets(
    dataset: str | None,
    version: str | None,
    jobs: Sequence[tuple[str, Job]],
    registries: Registries,
    *,
    without_job: bool = False,
    own_jobs: bool = False,
) -> Datasets:
    """The datasets of that name, each from the registry that was given or that a job names.

    Sources `without_job` mean the best version of one that was given. The user's `own_jobs` may
    name any file, also by its path from here.

    Raises:
        InputError: a registry lacks the dataset, or cannot be read.
    """
    if dataset is None:
        return Datasets([], [], [_DATASET_NOT_SAID] if registries.given else [])
    dataset = _name_given(dataset, registries)
    named = [
        (path, entry)
        for path, job in jobs
        for entry in job.datasets
        if entry.name == dataset or (entry.path and os.path.basename(entry.path) == dataset)
    ]
    wanted = [entry.version for _, entry in named]
    wanted += [None] if without_job and registries.given else []
    versions = [version] if version else list(dict.fromkeys(wanted))
    diagnostics: list[Diagnostic] = []
    if registries.given:
        looked = _Looked(_given(dataset, version, versions or [None], named, registries))
    else:
        looked = _of_jobs(dataset, version, jobs, named, registries, own_jobs=own_jobs)
    diagnostics += looked.diagnostics
    entries: list[Dataset] = []
    at: dict[_Place, Dataset] = {}
    taken: set[tuple[str, int]] = set()
    for place in looked.places:
        entry, *repeated = _entries_at(place, dataset, registries, own_jobs=own_jobs)
        diagnostics += remarks_on_repetition(entry) if repeated else ()
        at[place] = entry
        if (entry.registry, entry.index) not in taken:
            taken.add((entry.registry, entry.index))
            entries.append(entry)
    for entry in looked.kept:
        # Scripts of one name can be two, which is for those to see who set them side by side.
        if entry.names_scripts or not any(entry.is_as(other) for other in entries):
            entries.append(entry)
    best = [entry.version for place, entry in at.items() if place.version is None]
    said = list(dict.fromkeys([*filter(None, versions), *best]))
    if version is not None:
        # What ran is still what ran: whose metrics are asked for says nothing of that.
        said = list(dict.fromkeys(each or version for each in wanted)) or [version]
    if min(len(versions), len(said)) > 1 or (version is not None and said != [version]):
        diagnostics.insert(0, _pooled(dataset, said, version))
    either = [tuple(at[place] for place in places) for places in looked.either]
    rivals = [each for each in either if not all(map(each[0].is_whole_as, each[1:]))]
    diagnostics += map(_rivalling, rivals)
    return Datasets(entries, said if any(versions) else [], diagnostics, rivals)


def _name_given(dataset: str, registries: Registries) -> str:
    """The name under which the first file that was given has it, `name:part` or `name` alone."""
    for path in registries.given:
        names = registries.by_name(path)
        if name := next((each for each in (dataset, part_of(dataset)) if each in names), None):
            return name
    return dataset


def _entries_at(
    place: _Place, dataset: str, registries: Registries, *, own_jobs: bool
) -> list[Dataset]:
    """The entries of that name and version, the one that counts first.

    Raises:
        InputError: there is none.
    """
    matches = registries.find(place.path, dataset, place.version)
    if not matches:
        known = registries.datasets(place.path) if registries.given or own_jobs else None
        raise _lacks(place.path, dataset, place.version, known)
    return matches[::-1]


_DATASET_NOT_SAID = Diagnostic(
    rule="dataset-not-said",
    message="the trials name no dataset, so no metrics of the registry run",
    help="name it with --dataset",
)


def _pooled(dataset: str, versions: Sequence[str], asked: str | None) -> Diagnostic:
    parts = ["are pooled, as Harbor does"] if len(versions) > 1 else []
    parts += [f"have the metrics of {asked}"] if asked is not None else []
    return Diagnostic(
        rule="versions-pooled",
        message=f"trials of {dataset} at {', '.join(versions)} {', and '.join(parts)}",
    )


def _rivalling(rivals: Sequence[Dataset]) -> Diagnostic:
    files = listed([f"{shown_path(entry.registry)} ({printable(str(entry))})" for entry in rivals])
    return Diagnostic(
        rule="registries-differ",
        message=f"a job ran with one of {files}: all of them fit the path that it names, and they "
        f"differ in dataset {printable(rivals[0].name)}",
        path=rivals[0].registry,
        help="name the registry that the job ran with: --registry FILE",
    )


def _given(
    dataset: str,
    version: str | None,
    versions: Sequence[str | None],
    named: Sequence[_Named],
    registries: Registries,
) -> list[_Place]:
    """Where to look among the registries that were given."""
    path = _given_with(dataset, versions, registries)
    if path is not None:
        return [_Place(path, wanted) for wanted in versions]
    if named and all(entry.path for _, entry in named):
        return []  # a folder of tasks, which no registry lists
    raise _lacks(", ".join(registries.given), dataset, version, registries.all_given())


def _given_with(dataset: str, versions: Sequence[str | None], registries: Registries) -> str | None:
    """The first registry that has every version that is wanted, else the first with the name."""
    named = [path for path in registries.given if dataset in registries.by_name(path)]
    whole = (path for path in named if all(registries.find(path, dataset, v) for v in versions))
    return next(whole, named[0] if named else None)


def _of_jobs(
    dataset: str,
    version: str | None,
    jobs: Sequence[tuple[str, Job]],
    named: Sequence[_Named],
    registries: Registries,
    *,
    own_jobs: bool,
) -> _Looked:
    places: dict[_Place, None] = {}
    either: dict[tuple[_Place, ...], None] = {}
    kept: list[Dataset] = []
    absent: list[JobDataset] = []
    said: list[Diagnostic] = []
    snapshots = {path: job.snapshot for path, job in jobs}
    for job_path, entry in named:
        if entry.path:
            continue
        wanted = version or entry.version
        paths, strays = _of_job(job_path, entry, own_jobs=own_jobs)
        known = [
            each
            for each in snapshots[job_path]
            if each.name == dataset and each.entry and version in (None, each.version)
        ]
        if paths:
            having = [p for p in paths if registries.find(p, dataset, wanted)]
            fitting = tuple(_Place(path, wanted) for path in having or paths[:1])
            places.update(dict.fromkeys(fitting))
            said += [_straying(dataset, stray, fitting[0].path) for stray in strays]
            if len(fitting) > 1:
                either[fitting] = None
        elif known:
            kept += [registry.of_snapshot(f"{job_path}/{SNAPSHOT}", each) for each in known]
        else:
            absent.append(entry)
    found = [*(place.path for place in places), *(entry.registry for entry in kept)]
    said += [_not_found(dataset, entry, list(dict.fromkeys(found))) for entry in absent]
    return _Looked(list(places), list(either), kept, list(dict.fromkeys(said)))


def _of_job(job: str, entry: JobDataset, *, own_jobs: bool) -> tuple[list[str], list[str]]:
    """The registry files of that path, the nearest first, and links that may lead to others.

    Which of the folders above it a job ran in nobody can tell from the files: where there are
    several, each is asked, as if a job named it alone.
    """
    if entry.registry_path is None:
        return [], []
    if own_jobs and _may_be_file(entry.registry_path):
        return [entry.registry_path], []
    near = Near(job)
    found = dict.fromkeys(real_path(p) for p in near.places(entry.registry_path) if _may_be_file(p))
    # Where it really lies: behind a link on the way `..` leads elsewhere than by its letters.
    here = real_path(os.curdir)
    from_here = {path: os.path.relpath(path, here) for path in found}
    paths = [path if short.startswith("..") else short for path, short in from_here.items()]
    return paths, near.strays(entry.registry_path)


def _may_be_file(path: str) -> bool:
    """Whether a path is a file, or may be one: what cannot be looked at is not passed over."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        return is_shut(error)
    except ValueError:
        return False  # a path that no file can have


def _straying(dataset: str, stray: str, path: str) -> Diagnostic:
    return Diagnostic(
        rule="registries-differ",
        message=f"a job may have run with what {shown_path(stray)} leads to, a link to elsewhere "
        f"or to nowhere, which is not read: dataset {printable(dataset)} is that of "
        f"{shown_path(path)}",
        path=path,
        help="name the registry that the job ran with: --registry FILE",
    )


def _not_found(dataset: str, entry: JobDataset, found: Sequence[str]) -> Diagnostic:
    """Where a registry was looked for; `remarks.once` makes the sentence of all of them."""
    where = entry.registry_path or entry.registry_url or "the default registry of Harbor"
    instead = tuple(map(shown_path, found))
    return Diagnostic(rule=NOT_FOUND, message=where, subject=dataset, notes=instead)


def _lacks(
    where: str, dataset: str, version: str | None, datasets: list[Dataset] | None
) -> InputError:
    """That a registry has no such dataset; `datasets` are those it has, None of a stranger's job.

    What such a job names may be anybody's, and is not listed.
    """
    wanted = f"{dataset}@{version}" if version else dataset
    if datasets is None:
        return InputError(
            f"{shown_path(where)}, which a job names, has no dataset {wanted}",
            "name a registry that has it: --registry FILE",
        )
    names = registry.nearest(dataset, datasets)
    return InputError(
        f"{where} has no dataset {wanted}; it has {listed(names, 8) or 'none'}",
        "name the dataset with --dataset, or another registry with --registry",
    )
