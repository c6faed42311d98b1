"""The run that samples of lm-eval are of, by its results file: model, their number, its metrics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...documents.diagnostics import Severity
from ...documents.document import repeated_keys
from ...documents.files import open_regular, reason
from ...documents.sizes import MOST_DATA, whole
from ...documents.wording import listed
from ...errors import InputError
from ...trials.source import Reported
from ..files.entries import stray
from ..files.lenient import NotJSONError, decode
from ..reading import Reading
from .reported import member, reported

_ADVICE = "put the results file of the same run beside the samples"
_STAMP = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<stamp>{_STAMP})\.jsonl?(?:\.gz|\.zst)?")
_RESULTS = re.compile(rf"(?:.+_)?results_(?P<stamp>{_STAMP})\.json|results\.json")


# Path, value and text of a results file.
_Results = tuple[str, dict[str, Any], bytes]


@dataclass(frozen=True, slots=True)
class Run:
    """The run that samples are of; None where nothing says it."""

    task: str | None = None
    model: str | None = None
    id: str | None = None
    started_at: str | None = None
    n_documents: int | None = None
    reported: Callable[[], Iterable[Reported]] = tuple


def run_of(reading: Reading, hash_: str, n_filters: int, n_rows: int) -> Run:
    """The run of a samples file, by its name and by the results file in the same folder.

    Args:
        reading: of the samples file; why a results file is not used is noted.
        hash_: SHA-256 over the hashes of its rows, which lm-eval notes for each task.
        n_filters: how many filters it has.
        n_rows: how many rows it has.
    """
    path = reading.path
    named = _SAMPLES.fullmatch(os.path.basename(path))
    task, stamp = (named["task"], named["stamp"]) if named else (None, None)
    results = _results_of(reading, task, stamp, hash_)
    if results is None:
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    name, value, data = results
    reading.diagnostics += repeated_keys(data, name)
    task = task or _task_of(value, hash_)
    n = _number_of_documents(value, task)
    own_hash = member(value, "task_hashes", task)
    if own_hash is None and member(value, "results", task) is None:
        of = f"task {task}" if task else "these samples, the name of which tells no task,"
        reading.note(
            rule="other-results",
            message=f"{name} says nothing of {of} and is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    none_missing = n is not None and n <= n_rows / max(n_filters, 1)
    if isinstance(own_hash, str) and own_hash != hash_ and none_missing:
        reading.note(
            rule="other-results",
            severity=Severity.ERROR,
            message=f"{name} is of other samples than {path}, or these were changed: "
            f"its hash of task {task} is another; it is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    named_model = value.get("model_name")
    model = named_model if isinstance(named_model, str) and named_model else None
    return Run(
        task=task,
        model=model,
        id=_identity(task, stamp),
        started_at=_time(stamp),
        n_documents=n,
        reported=partial(reported, value, task, model, partial(_elsewhere, path, stamp)),
    )


def _elsewhere(path: str, stamp: str | None) -> set[str]:
    """The tasks whose samples lie in files of their own beside these."""
    names = map(_SAMPLES.fullmatch, os.listdir(os.path.dirname(path) or "."))
    return {found["task"] for found in names if found and found["stamp"] == stamp}


def _identity(task: str | None, stamp: str | None) -> str | None:
    return f"{task}/{stamp}" if stamp else None


def _time(stamp: str | None) -> str | None:
    """`2026-11-20T19-54-14.09` is `2026-11-20T19:54:14.09`."""
    return stamp and stamp[:11] + stamp[11:].replace("-", ":")


def _results_of(
    reading: Reading, task: str | None, stamp: str | None, hash_: str
) -> _Results | None:
    """The results file of the same stamp, else the only one that is of this hash.

    lm-eval gives samples and results of a run one stamp: one of another is of another run.
    """
    folder = os.path.dirname(reading.path) or "."
    try:
        names = sorted(name for name in os.listdir(folder) if _RESULTS.fullmatch(name))
    except OSError:
        return None
    stamps = {name: _stamp_of(name) for name in names}
    same = [name for name in names if stamp and stamps[name] == stamp]
    others = [name for name in names if stamp and stamps[name] and name not in same]
    if others and not same:
        names = [name for name in names if name not in others]
        files = listed([f"{folder}/{name}" for name in others])
        reading.note(
            rule="other-results",
            message=f"by the times in their names {reading.path} is of another run than {files}, "
            "of which nothing is used",
            advice=_ADVICE,
        )
    read = []
    for name in same or names:
        if (said := stray(f"{folder}/{name}", folder)) is not None:
            reading.diagnostics.append(said)
        else:
            reading.files.append(f"{folder}/{name}")
            read.append((f"{folder}/{name}", *_read(f"{folder}/{name}")))
    if same and read:
        return _one_of(reading, read, "are results of one run, and differ", Severity.ERROR)
    fitting = [
        (name, value, data)
        for name, value, data in read
        if member(value, "task_hashes", task or _task_of(value, hash_)) == hash_
    ]
    # Of another stamp each may be another run, so that they differ is no mistake.
    return _one_of(reading, fitting, "fit these samples, and differ", Severity.WARNING)


def _one_of(
    reading: Reading, results: list[_Results], why: str, severity: Severity
) -> _Results | None:
    """The results, where all of them say the same; else none, and that it is so."""
    if all(data == results[0][2] for *_, data in results):
        return results[0] if results else None
    reading.note(
        rule="other-results",
        severity=severity,
        message=f"{listed([name for name, *_ in results])} {why}; none of them is used",
        advice=_ADVICE,
    )
    return None


def _stamp_of(name: str) -> str | None:
    found = _RESULTS.fullmatch(name)
    return found["stamp"] if found else None


def _read(path: str) -> tuple[dict[str, Any], bytes]:
    try:
        with open_regular(path) as stream:
            data = whole(stream, MOST_DATA)
        value: dict[str, Any] = decode(data, dict[str, Any])
        return value, data
    except NotJSONError as error:
        raise InputError(f"{path} is no results file of lm-eval: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error


def _task_of(value: dict[str, Any], hash_: str) -> str | None:
    """The task whose samples have this hash."""
    hashes = value.get("task_hashes")
    if not isinstance(hashes, dict):
        return None
    return next((task for task, other in hashes.items() if other == hash_), None)


def _number_of_documents(value: dict[str, Any], task: str | None) -> int | None:
    n = member(value, "n-samples", task, "effective")
    return n if type(n) is int else None
