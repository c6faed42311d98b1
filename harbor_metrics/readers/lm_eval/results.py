"""The run that samples of lm-eval are of, by its results file: model, their number, its metrics."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...documents.diagnostics import Severity
from ...documents.document import repeated_keys
from ...documents.paths import STANDARD_INPUT
from ...documents.wording import listed
from ...numbers.written import integer
from ...trials.source import Reported
from ..reading import Reading
from .beside import Beside, Results, Several, named
from .steps import member

_ODD = re.compile(r"\W")
_ADVICE = "put the results file of the same run beside the samples"


@dataclass(frozen=True, slots=True)
class Run:
    """The run that samples are of; None where nothing says it."""

    task: str | None = None
    model: str | None = None
    id: str | None = None
    started_at: str | None = None
    n_documents: int | None = None
    lacks_tasks: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    # Of its metrics, by name.
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    reported: Callable[[], Iterable[Reported]] = tuple
    results: str | None = None


def run_of(reading: Reading, beside: Beside, hash_: str, n_filters: int, n_rows: int) -> Run:
    """The run of a samples file, by its name and by the results file in the same folder.

    Args:
        reading: of the samples file; why a results file is not used is noted.
        beside: reads what lies beside it.
        hash_: SHA-256 over the hashes of its rows, which lm-eval notes for each task.
        n_filters: how many filters it has.
        n_rows: how many rows it has.
    """
    path = reading.path
    task, stamp = named(path)
    results = _results_of(reading, beside, task, stamp, hash_)
    if results is None:
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    value = results.value
    if beside.first("repeated", results.path):
        reading.diagnostics += repeated_keys(results.data, results.path)
    task = task or results.tasks.get(hash_)
    n = _number_of_documents(value, task)
    own_hash = member(value, "task_hashes", task)
    if own_hash is None and member(value, "results", task) is None:
        of = f"task {task}" if task else "these samples, the name of which tells no task,"
        reading.note(
            rule="other-results",
            message=f"{results.path} says nothing of {of} and is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    # Where some are missing it is no wonder that the hash is another, and who counts them says it.
    some_missing = n is not None and n > n_rows / max(n_filters, 1)
    if isinstance(own_hash, str) and own_hash != hash_ and not some_missing:
        reading.note(
            rule="other-results",
            severity=Severity.ERROR,
            message=f"{results.path} is of other samples than {path}, or these were changed: "
            f"its hash of task {task} is another; it is not used",
            advice=_ADVICE,
        )
        return Run(task=task, id=_identity(task, stamp), started_at=_time(stamp))
    elsewhere, lacking = None, []
    if beside.first("tasks without samples", results.path, stamp):
        elsewhere = partial(beside.tasks, os.path.dirname(path) or ".", stamp)
        is_of_it = stamp is not None and stamp in os.path.basename(results.path)
        lacking = _without_samples(value, elsewhere()) if is_of_it else []
        if lacking:
            reading.note(
                rule="task-without-samples",
                message=f"{results.path} has numbers of tasks that have no samples beside it: "
                f"{listed(lacking)}",
                advice="copy the samples of all tasks; the numbers are of those that are there",
            )
    return Run(
        task=task,
        model=results.model,
        id=_identity(task, stamp),
        started_at=_time(stamp),
        n_documents=n,
        lacks_tasks=bool(lacking),
        settings=_settings(value, task),
        higher_is_better=_directions(value, task),
        reported=partial(_reported, results, task, elsewhere),
        results=results.path,
    )


def _reported(
    results: Results, task: str | None, elsewhere: Callable[[], Iterable[str]] | None
) -> Iterator[Reported]:
    """The numbers of a task and of its groups; of the first of a run, those of no samples, too."""
    yield from results.numbers.of(task)
    if elsewhere is not None:
        yield from results.numbers.but_of({task, *elsewhere()})


def _identity(task: str | None, stamp: str | None) -> str | None:
    return f"{task}/{stamp}" if stamp else None


def _time(stamp: str | None) -> str | None:
    """`2026-11-20T19-54-14.09` is `2026-11-20T19:54:14.09`."""
    return stamp and stamp[:11] + stamp[11:].replace("-", ":")


def _results_of(
    reading: Reading, beside: Beside, task: str | None, stamp: str | None, hash_: str
) -> Results | None:
    """The results file of the same stamp, else the only one that is of this hash.

    lm-eval gives samples and results of a run one stamp: one of another is of another run.
    """
    if reading.path == STANDARD_INPUT:
        return None  # what lies in the current folder is beside nothing
    folder = os.path.dirname(reading.path) or "."
    if others := beside.of_other_runs(folder, stamp):
        reading.note(
            rule="other-results",
            message=f"by the times in their names {reading.path} is of another run than "
            f"{listed(others)}, of which nothing is used",
            advice=_ADVICE,
        )
    found = beside.results(folder, stamp)
    reading.files += [each.path for each in found.read]
    reading.diagnostics += [each for each in found.strays if beside.first("stray", each.path)]
    if stamp is not None and found.stamp == stamp:
        return _one_of(reading, found, "are results of one run, and differ", Severity.ERROR)
    fitting = found.by_hash.get((task, hash_))
    if fitting is None:
        return None
    # Of another stamp each may be another run, so that they differ is no mistake.
    return _one_of(reading, fitting, "fit these samples, and differ", Severity.WARNING)


def _one_of(reading: Reading, results: Several, why: str, severity: Severity) -> Results | None:
    """The results, where all of them say the same; else none, and that it is so."""
    if not results.differ:
        return results.read[0] if results.read else None
    reading.note(
        rule="other-results",
        severity=severity,
        message=f"{listed([each.path for each in results.read])} {why}; none of them is used",
        advice=_ADVICE,
    )
    return None


def _without_samples(value: dict[str, Any], there: Iterable[str]) -> list[str]:
    """The tasks of which a run had samples, and that have none now."""
    counted = value.get("n-samples") or value.get("task_hashes")
    # As lm-eval has them in names of files.
    known = {_ODD.sub("_", task) for task in there}
    tasks = counted if isinstance(counted, dict) else {}
    return [task for task in tasks if _ODD.sub("_", task) not in known]


def _directions(value: dict[str, Any], task: str | None) -> dict[str, bool]:
    said = member(value, "higher_is_better", task)
    pairs = said.items() if isinstance(said, dict) else ()
    return {metric: higher for metric, higher in pairs if isinstance(higher, bool)}


def _settings(value: dict[str, Any], task: str | None) -> dict[str, str]:
    n_shot = integer(member(value, "n-shot", task))
    return {"n-shot": str(n_shot)} if type(n_shot) is int else {}


def _number_of_documents(value: dict[str, Any], task: str | None) -> int | None:
    n = integer(member(value, "n-samples", task, "effective"))
    return n if type(n) is int else None
