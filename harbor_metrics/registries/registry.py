"""A registry file: its datasets, and which of them a name means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ..contract.spec import ARRAYS, UV_SCRIPT
from ..documents.diagnostics import InvalidDocumentError
from ..documents.document import Document, parse
from ..documents.files import read_bytes
from ..documents.wording import in_command, without_passwords_in
from ..errors import InputError, UsageError
from ..trials.labels import Labels, of_tasks
from ..trials.snapshot import DatasetSnapshot

if TYPE_CHECKING:
    from .script_file import ScriptFiles


# The fields of a dataset: what Harbor reads, and with what known extensions of its registry add.
DATASET = ("name", "version", "description", "tasks", "metrics")
IN_DATASET = frozenset({*DATASET, "scenarios", "extra_instruction_paths", "extra_metrics"})
# So many names, and so many signs of a name, are looked at for how like they are.
_MOST_COMPARED = 100


class Registries:
    """Registry files, those that were given and those that jobs name, read once at most."""

    def __init__(self, given: Sequence[str]) -> None:
        self.given = list(given)
        self._read: dict[str, list[Dataset]] = {}
        # Registry file -> name -> version -> its entries.
        self._by_name: dict[str, dict[str, dict[str, list[Dataset]]]] = {}
        self._best: dict[tuple[str, str], str] = {}
        self._labels: dict[tuple[str, int], Labels] = {}

    def datasets(self, path: str) -> list[Dataset]:
        """The datasets of a registry file.

        Of one that a job names, which may be any file of the user's, no word is quoted where it is
        not a registry.

        Raises:
            InputError: it cannot be read.
        """
        if path not in self._read:
            try:
                self._read[path] = read(path)
            except InvalidDocumentError as error:
                if path in self.given:
                    raise
                raise InputError(
                    f"{path}, which a job names as its registry, is not one that can be read",
                    f"if the job is yours: harbor-metrics validate {in_command(path)}",
                ) from error
        return self._read[path]

    def by_name(self, path: str) -> Mapping[str, Mapping[str, list[Dataset]]]:
        """The datasets of a registry file by name, and then by version.

        Raises:
            InputError: it cannot be read.
        """
        if path not in self._by_name:
            found = self._by_name[path] = {}
            for dataset in self.datasets(path):
                versions = found.setdefault(dataset.name, {})
                versions.setdefault(dataset.version, []).append(dataset)
        return self._by_name[path]

    def find(self, path: str, name: str, version: str | None) -> list[Dataset]:
        """Every entry of that name and version, or of the best version if None; none without one.

        Several where the registry repeats it; Harbor takes the last of them.

        Raises:
            InputError: the registry file cannot be read.
        """
        versions = self.by_name(path).get(name)
        if not versions:
            return []
        if version is None:
            if (path, name) not in self._best:
                self._best[path, name] = best_version(list(versions))
            version = self._best[path, name]
        return versions.get(version, [])

    def labels(self, entry: Dataset) -> Labels:
        """The labels of the tasks of an entry, the same object for who asks again."""
        if entry.is_snapshot:
            return of_tasks(entry.tasks)
        place = entry.registry, entry.index
        if place not in self._labels:
            self._labels[place] = of_tasks(entry.tasks)
        return self._labels[place]

    @cached_property
    def scripts(self) -> ScriptFiles:
        """The scripts that they name, read once as well."""
        # For weight: most metrics are no scripts.
        from .script_file import ScriptFiles

        return ScriptFiles()

    def all_given(self) -> list[Dataset]:
        """The datasets of all the files that were given, in their order."""
        return [dataset for path in self.given for dataset in self.datasets(path)]

    def only_name(self) -> str:
        """The name of the dataset that the given files hold, in whatever versions.

        Raises:
            UsageError: they hold none or several.
        """
        names = {dataset.name for dataset in self.all_given()}
        if len(names) != 1:
            listed = ", ".join(sorted(names)) or "none"
            raise UsageError(
                f"a source names no dataset, and the registry has {len(names)}: {listed}",
                "say which with --dataset",
            )
        return names.pop()


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a registry, its metric entries as they are written."""

    name: str
    version: str
    metrics: tuple[Any, ...]
    extra_metrics: tuple[Any, ...]
    tasks: tuple[Any, ...] = ()
    document: Document
    index: int
    # Whether it is of a job's snapshot, whose mistakes were said when the job ran.
    is_snapshot: bool = False

    @property
    def registry(self) -> str:
        """The path of the file."""
        return self.document.path

    @property
    def arrays(self) -> tuple[tuple[Any, ...], ...]:
        """The metric entries, without what a snapshot adds and leaves out: digests, passwords."""
        return tuple(
            tuple(
                without_passwords_in({k: v for k, v in entry.items() if k != "sha256"})
                for entry in array
            )
            for array in (self.metrics, self.extra_metrics)
        )

    @property
    def names_scripts(self) -> bool:
        """Whether any of its metrics is a script."""
        return any(entry.get("type") == UV_SCRIPT for entry in (*self.metrics, *self.extra_metrics))

    def is_as(self, other: Dataset) -> bool:
        """Whether another entry, perhaps of another file, says the same."""
        mine, theirs = (self.name, self.version), (other.name, other.version)
        arrays = (self.metrics, self.extra_metrics)
        return mine == theirs and arrays == (other.metrics, other.extra_metrics)

    def is_whole_as(self, other: Dataset) -> bool:
        """Whether another entry says the same also of its tasks."""
        return self.is_as(other) and self.tasks == other.tasks

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def read(path: str) -> list[Dataset]:
    """The datasets of a registry file, in file order.

    Raises:
        InputError: it cannot be read.
        InvalidDocumentError: it is not a registry; the diagnostics say where.
    """
    document, diagnostics = parse(read_bytes(path), path)
    if diagnostics or document is None:
        text = document.text if document else ""
        raise InvalidDocumentError(f"{path} is not a registry that can be read", diagnostics, text)
    return datasets_of(document)


def datasets_of(document: Document) -> list[Dataset]:
    """The datasets of a document, in file order; raises as `check`."""
    check(document)
    return [_dataset(document, index) for index in range(len(document.value))]


def check(document: Document) -> None:
    """That a document is an array of datasets.

    Raises:
        InputError: it is not an array.
        InvalidDocumentError: a dataset in it is not one; the diagnostic says where.
    """
    if not isinstance(document.value, list):
        raise InputError(
            f"{document.path} is not a registry: a registry is an array of datasets",
            "put `[` and `]` around a single dataset",
        )
    for index in range(len(document.value)):
        _check_dataset(document, index)


def of_snapshot(path: str, known: DatasetSnapshot) -> Dataset:
    """The entry that a job ran with, its scripts pinned to what they were.

    Raises:
        InvalidDocumentError: it is not a dataset.
    """
    document = Document(path, msgspec.json.encode([known.entry]), [known.entry])
    _check_dataset(document, 0)
    dataset = _dataset(document, 0)
    return msgspec.structs.replace(
        dataset,
        metrics=tuple(_pinned(entry, known.scripts) for entry in dataset.metrics),
        extra_metrics=tuple(_pinned(entry, known.scripts) for entry in dataset.extra_metrics),
        is_snapshot=True,
    )


def _pinned(entry: dict[str, Any], scripts: Mapping[str, str]) -> dict[str, Any]:
    kwargs = entry.get("kwargs")
    path = kwargs.get("script_path") if isinstance(kwargs, dict) else None
    digest = scripts.get(path) if isinstance(path, str) else None
    return entry if digest is None else {"sha256": digest, **entry}


def _check_dataset(document: Document, index: int) -> None:
    entry = document.value[index]
    if not isinstance(entry, dict):
        raise _invalid(document, [index], "a dataset must be an object")
    for name in ("name", "version"):
        if not isinstance(entry.get(name), str):
            raise _invalid(document, [index], f"a dataset must have a `{name}` that is a string")
    for array in ARRAYS:
        if not isinstance(entry.get(array, []), list):
            raise _invalid(document, [index, array], f"`{array}` must be an array")
        for i, metric in enumerate(entry.get(array, [])):
            if not isinstance(metric, dict):
                raise _invalid(
                    document,
                    [index, array, i],
                    'a metric must be an object such as {"type": "mean"}',
                )


def _dataset(document: Document, index: int) -> Dataset:
    entry = document.value[index]
    return Dataset(
        name=entry["name"],
        version=entry["version"],
        metrics=tuple(entry.get("metrics", ())),
        extra_metrics=tuple(entry.get("extra_metrics", ())),
        tasks=tuple(tasks) if isinstance(tasks := entry.get("tasks"), list) else (),
        document=document,
        index=index,
    )


def _invalid(document: Document, path: Sequence[str | int], message: str) -> InvalidDocumentError:
    diagnostic = document.find(path, rule="invalid-registry", message=message)
    return InvalidDocumentError(
        f"{document.path} is not a registry that can be read", [diagnostic], document.text
    )


def split(name: str) -> tuple[str, str | None]:
    """The name and the version of `name@version`, parted at the first `@` as Harbor does."""
    base, at, version = name.partition("@")
    return base, version if at else None


def best_version(versions: Sequence[str]) -> str:
    """The version that Harbor takes where none is asked for.

    It is `head`, else the highest by PEP 440 (of equals the first), else the lexically last.
    """
    if "head" in versions:
        return "head"
    if len(set(versions)) == 1:
        return versions[0]
    # Inside, for weight: only a dataset of several versions needs it.
    from packaging.version import Version

    valid: list[tuple[Version, str]] = []
    for version in versions:
        try:
            valid.append((Version(version), version))
        except ValueError:
            continue  # no version, or one with more digits than are read
    if not valid:
        return max(versions)
    highest = max(number for number, _ in valid)
    return next(version for number, version in valid if number == highest)


def nearest(name: str, datasets: Sequence[Dataset]) -> list[str]:
    """The names of all the datasets, those that look like `name` first."""
    # Inside, for weight: only a name that the registry lacks needs it.
    from difflib import SequenceMatcher

    # What it keeps is of the second: to compare many with one it is told that one once.
    matcher = SequenceMatcher(None, "", name[:_MOST_COMPARED])

    def beside(other: str) -> SequenceMatcher[str]:
        matcher.set_seq1(other[:_MOST_COMPARED].partition("@")[0])
        return matcher

    names = sorted({str(dataset) for dataset in datasets})
    names.sort(key=lambda other: -beside(other).quick_ratio())
    first = sorted(names[:_MOST_COMPARED], key=lambda other: -beside(other).ratio())
    return [*first, *names[_MOST_COMPARED:]]
