"""A registry file and its datasets: which one a name means, by Harbor's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .diagnostics import Diagnostic
from .document import Document, parse, read_bytes
from .errors import InputError


class InvalidDocumentError(InputError):
    """A document that says nothing certain; the diagnostics say why."""

    def __init__(self, message: str, diagnostics: list[Diagnostic], text: str = "") -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """An entry of a registry, its metric entries as they are written."""

    name: str
    version: str
    metrics: tuple[Any, ...]
    extra_metrics: tuple[Any, ...]
    tasks: tuple[Any, ...] = ()
    registry: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def read(path: str) -> list[Dataset]:
    """The datasets of a registry file, in file order.

    Raises:
        InputError: it cannot be read, or is not a registry; as InvalidDocumentError it says where.
    """
    document, found = parse(read_bytes(path), path)
    if found or document is None:
        text = document.text if document else ""
        raise InvalidDocumentError(f"{path} is not a registry that can be read", found, text)
    return datasets_of(document)


def datasets_of(document: Document) -> list[Dataset]:
    """The datasets of a document, in file order.

    Raises:
        InputError: it is not a registry.
    """
    if not isinstance(document.value, list):
        raise InputError(
            f"{document.path} is not a registry: a registry is an array of datasets",
            "put `[` and `]` around a single dataset",
        )
    return [_dataset(document, index) for index in range(len(document.value))]


def _dataset(document: Document, index: int) -> Dataset:
    entry = document.value[index]
    if not isinstance(entry, dict):
        raise _invalid(document, [index], "a dataset must be an object")
    for field in ("name", "version"):
        if not isinstance(entry.get(field), str):
            raise _invalid(document, [index], f"a dataset must have a `{field}` that is a string")
    for field in ("metrics", "extra_metrics"):
        if not isinstance(entry.get(field, []), list):
            raise _invalid(document, [index, field], f"`{field}` must be an array")
        for i, metric in enumerate(entry.get(field, [])):
            if not isinstance(metric, dict):
                raise _invalid(
                    document,
                    [index, field, i],
                    'a metric must be an object such as {"type": "mean"}',
                )
    return Dataset(
        name=entry["name"],
        version=entry["version"],
        metrics=tuple(entry.get("metrics", ())),
        extra_metrics=tuple(entry.get("extra_metrics", ())),
        tasks=tuple(tasks) if isinstance(tasks := entry.get("tasks"), list) else (),
        registry=document.path,
    )


def _invalid(document: Document, path: Sequence[str | int], message: str) -> InvalidDocumentError:
    found = document.find(path, rule="invalid-registry", message=message)
    return InvalidDocumentError(
        f"{document.path} is not a registry that can be read", [found], document.text
    )


def split(name: str) -> tuple[str, str | None]:
    """`name@version` in two, at the first `@`, as Harbor does."""
    base, at, version = name.partition("@")
    return base, version if at else None


def best_version(versions: Sequence[str]) -> str:
    """`head`, else the highest by PEP 440 (of equals the first), else the lexically last."""
    from packaging.version import InvalidVersion, Version

    if "head" in versions:
        return "head"
    valid: list[tuple[Version, str]] = []
    for version in versions:
        try:
            valid.append((Version(version), version))
        except InvalidVersion:
            continue
    if not valid:
        return max(versions)
    highest = max(number for number, _ in valid)
    return next(version for number, version in valid if number == highest)


def part_of(name: str | None) -> str | None:
    """The dataset whose part `name:scorer` or `name:filter` is, as readers of logs name groups."""
    return name.rpartition(":")[0] or name if name is not None else None


def find(datasets: Sequence[Dataset], name: str, version: str | None) -> list[Dataset]:
    """Every entry that `name` at that version means, or at the best version if None.

    Several where the registry repeats it; Harbor takes the last of them. Empty if there is none.
    """
    named = [dataset for dataset in datasets if dataset.name == name]
    if not named:
        return []
    chosen = version if version is not None else best_version([d.version for d in named])
    return [dataset for dataset in named if dataset.version == chosen]


def nearest(name: str, datasets: Sequence[Dataset]) -> list[str]:
    """The names of all the datasets, those that resemble `name` first."""
    from difflib import SequenceMatcher

    everything = sorted({str(dataset) for dataset in datasets})
    return sorted(
        everything, key=lambda other: -SequenceMatcher(None, name, other.partition("@")[0]).ratio()
    )
