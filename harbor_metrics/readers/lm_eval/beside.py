"""What lies beside samples of lm-eval: listed and read once for all samples of a command."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from ...documents.diagnostics import Diagnostic
from ...documents.files import reason
from ...documents.paths import STANDARD_INPUT, is_shut, leads_nowhere, leads_out
from ...documents.sizes import MOST_DATA, whole
from ...errors import InputError
from ...trials.source import Source
from ..files.entries import stray
from ..files.file import opened
from ..files.lenient import NotJSONError, decode
from .reported import Numbers

_STAMP = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_PACKED = r"(?:\.gz|\.zst)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<stamp>{_STAMP})\.jsonl?{_PACKED}")
_RESULTS = re.compile(rf"(?:.+_)?results_(?P<stamp>{_STAMP})\.json{_PACKED}|results\.json{_PACKED}")


# A few kilobytes unpack to many megabytes, and all are kept at once.
_MOST_UNPACKED = 256 << 20


def named(path: str) -> tuple[str | None, str | None]:
    """The task and the stamp that the name of a samples file has."""
    found = _SAMPLES.fullmatch(os.path.basename(path))
    return (found["task"], found["stamp"]) if found else (None, None)


def without_samples(path: str, sources: Sequence[Source]) -> list[str]:
    """The results files of a folder, or of those in it, that none of its sources is of.

    Where samples lie in the folder itself, the folders in it are not read.
    """
    beside = {os.path.dirname(source.path) for source in sources if source.kind == "lm-eval"}
    if not beside or path == STANDARD_INPUT or not os.path.isdir(path):
        return []
    folders = {*beside, top := path.rstrip("/") or "/"}
    if top not in beside:
        with os.scandir(top) as entries:
            folders |= {e.path for e in entries if e.name[0] != "." and e.is_dir()}
    used = {file for source in sources for file in source.files}
    listed = (file for folder in sorted(folders) for file in _Folder(folder).paths)
    return [file for file in listed if file not in used and not leads_out(file, top)]


class Results:
    """A results file, and what is made of it once for all samples that are of it."""

    def __init__(self, path: str, value: dict[str, Any], data: bytes) -> None:
        self.path = path
        self.value = value
        self.data = data
        model = value.get("model_name")
        self.model = model if isinstance(model, str) and model else None

    @cached_property
    def numbers(self) -> Numbers:
        """All that it reports."""
        return Numbers(self.value, self.model, self.path)

    @cached_property
    def tasks(self) -> dict[str, str]:
        """The first task of each hash of samples."""
        return {hash_: task for task, hash_ in reversed(self.hashes)}

    @property
    def hashes(self) -> list[tuple[str, str]]:
        """Each task with the hash of its samples."""
        hashes = self.value.get("task_hashes")
        listed = hashes.items() if isinstance(hashes, dict) else ()
        return [(task, hash_) for task, hash_ in listed if isinstance(hash_, str)]


class Several:
    """Results files that samples may be of: those of their stamp, or of any."""

    def __init__(
        self, read: list[Results], strays: Sequence[Diagnostic] = (), stamp: str | None = None
    ) -> None:
        self.read = read
        self.strays = strays
        self.stamp = stamp

    @cached_property
    def differ(self) -> bool:
        """Whether not all of them say the same."""
        return any(each.data is not self.read[0].data for each in self.read)

    @cached_property
    def by_hash(self) -> dict[tuple[str | None, str], Several]:
        """Those that have a hash of samples, of each task and of any."""
        found: dict[tuple[str | None, str], Several] = {}
        for each in self.read:
            for key in {*each.hashes, *((None, hash_) for _, hash_ in each.hashes)}:
                found.setdefault(key, Several([])).read.append(each)
        return found


class _Folder:
    """The results files in a folder by their stamps, and the tasks of the samples there.

    Raises:
        InputError: the folder is there, and what lies in it cannot be listed.
    """

    def __init__(self, path: str) -> None:
        self.results: dict[str | None, list[str]] = {}
        self.tasks: dict[str, set[str]] = {}
        try:
            with os.scandir(path) as entries:
                names = sorted(entry.name for entry in entries if _may_be_file(entry))
        except OSError as error:
            if is_shut(error):
                raise InputError(
                    f"{path}, where the results file of samples is looked for, says: "
                    f"{reason(error)}"
                ) from error
            names = []
        for name in names:
            if found := _RESULTS.fullmatch(name):
                self.results.setdefault(found["stamp"], []).append(f"{path}/{name}")
            if found := _SAMPLES.fullmatch(name):
                self.tasks.setdefault(found["stamp"], set()).add(found["task"])

    @cached_property
    def paths(self) -> list[str]:
        """All results files, by their names."""
        return sorted(path for paths in self.results.values() for path in paths)

    @cached_property
    def stamped(self) -> list[str]:
        """Those whose names have a stamp."""
        return sorted(path for stamp in self.results if stamp for path in self.results[stamp])


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or results that a link would lead to, which are not passed over."""
    if entry.is_file():
        return True
    return _RESULTS.fullmatch(entry.name) is not None and leads_nowhere(entry.path)


class Beside:
    """The folders and the results files that the samples of one command have beside them."""

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}
        self._several: dict[tuple[str, str | None, bool], Several] = {}
        self._read: dict[str, Results | Diagnostic] = {}
        self._data: dict[bytes, bytes] = {}
        self._asked: set[object] = set()
        self._n_unpacked = 0

    def first(self, *what: object) -> bool:
        """Whether nobody has asked for this before: what is of several samples is told once."""
        known = what in self._asked
        self._asked.add(what)
        return not known

    def results(self, folder: str, stamp: str | None) -> Several:
        """The results files that samples of a stamp may be of, without one those of any.

        Raises:
            InputError: one of them cannot be read, or is no results file.
        """
        listed = self._folder(folder)
        own = stamp if stamp in listed.results else None
        key = folder, own, stamp is None
        if key not in self._several:
            paths = listed.paths if stamp is None else listed.results.get(own, [])
            each = [self._one(path, folder) for path in paths]
            self._several[key] = Several(
                [one for one in each if isinstance(one, Results)],
                [one for one in each if isinstance(one, Diagnostic)],
                own,
            )
        return self._several[key]

    def of_other_runs(self, folder: str, stamp: str | None) -> list[str]:
        """The results files that are of other runs by their stamps, where none is of this one."""
        listed = self._folder(folder)
        return [] if stamp is None or stamp in listed.results else listed.stamped

    def tasks(self, folder: str, stamp: str | None) -> Collection[str]:
        """The tasks that have samples of a stamp in a folder."""
        return self._folder(folder).tasks.get(stamp, ()) if stamp is not None else ()

    def _folder(self, path: str) -> _Folder:
        if path not in self._folders:
            self._folders[path] = _Folder(path)
        return self._folders[path]

    def _one(self, path: str, folder: str) -> Results | Diagnostic:
        """A results file, or why it is not read."""
        if path not in self._read:
            self._read[path] = stray(path, folder) or self._results(path)
        return self._read[path]

    def _results(self, path: str) -> Results:
        value, data = _read(path)
        if not path.endswith(".json"):
            self._n_unpacked += len(data)
            if self._n_unpacked > _MOST_UNPACKED:
                raise InputError(
                    f"{path}: the packed results files beside samples have more than "
                    f"{_MOST_UNPACKED >> 20} MiB, all of them, which is the most that is read",
                    "unpack them, or compute the folders one by one",
                )
        return Results(path, value, self._data.setdefault(data, data))


def _read(path: str) -> tuple[dict[str, Any], bytes]:
    try:
        with opened(path) as file, open(file.local, "rb") as stream:
            data = whole(stream, MOST_DATA)
        value: dict[str, Any] = decode(data, dict[str, Any])
        return value, data
    except NotJSONError as error:
        raise InputError(f"{path} is no results file of lm-eval: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
