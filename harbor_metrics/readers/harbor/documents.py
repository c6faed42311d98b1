"""The documents of a job directory: config.json, result.json, and how files are read fast."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from ...documents.diagnostics import Diagnostic
from ...documents.document import parse, repeated_keys
from ...documents.files import reason
from ...documents.limits import check_limits
from ...documents.paths import (
    is_shut,
)
from ...documents.sizes import MOST_DATA, check_size, check_written
from ...documents.wording import listed
from ...numbers.written import integer, number
from ...trials.snapshot import SNAPSHOT, DatasetSnapshot, Snapshot
from ...trials.source import REFUSED, Job, JobDataset, Reported
from ...trials.validity import leaves_out
from .folders import folders_of_job, trial_folders
from .reported import not_listed, reported
from .trial import errors_of

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_A_LINK = "it is a link, and a job is read from its own files (`cp -RL` copies what links lead to)"
# Larger reads make malloc map and unmap memory for each file: three times slower.
_BLOCK = 65_536
# The fields of a dataset in config.json that leave tasks out.
_CHOOSING = ("task_names", "exclude_task_names", "n_tasks")
_SAYS = "the registry and the number of planned trials"


def contents(path: str) -> bytes:
    """The bytes of a file, in as few system calls as can be; a pipe is empty, not waited for.

    A job's own words are in files of its own: what a link leads to may be anybody's, and would be
    quoted where it is not what it should be.

    Raises:
        OSError: the file cannot be read, is too large or a link.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise a_link(path) from error
        raise
    try:
        data = os.read(descriptor, _BLOCK)
        if len(data) < _BLOCK:
            return data
        size = os.fstat(descriptor).st_size
        check_size(size, MOST_DATA)
        check_written(descriptor, size)
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = os.read(descriptor, size + 1)
        parts = [data]
        while len(data) > 0 and sum(map(len, parts)) < size:
            data = os.read(descriptor, size)
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)
    finally:
        os.close(descriptor)


def a_link(path: str) -> OSError:
    """Why nothing is read from there."""
    return OSError(errno.ELOOP, _A_LINK, path)


def fields(path: str, *, strict: bool = False) -> dict[str, Any]:
    """The members of the JSON object in a file; empty where there is none or something else.

    Of what is wrong no word is quoted; what is right may be shown, so no link is followed.

    Raises:
        OSError: where `strict`, the file is there, for all that is known, and cannot be read.
    """
    try:
        data = contents(path)
    except OSError as error:
        if strict and is_shut(error):
            raise
        return {}
    try:
        value = msgspec.json.decode(data)
    except REFUSED:
        # What is wrong is said when it is read: here it is looked at alone.
        document, _ = parse(data, path)
        value = document.value if document is not None else None
    return value if isinstance(value, dict) else {}


def is_damaged(path: str) -> bool:
    """Whether a file holds no JSON at all: it is empty, or cut short."""
    data = contents(path)
    try:
        msgspec.json.decode(data)
    except REFUSED:
        document, _ = parse(data, path)
        return document is None or document.value is None
    return False


def looks_like_job(path: str, *, strict: bool = False) -> bool:
    """Whether a directory is a job: by its own documents, or by a trial in it.

    Raises:
        OSError: where `strict`, what would tell cannot be read.
    """
    result = fields(f"{path}/result.json", strict=strict)
    if "trial_name" in result and not says_it_is_one(path, strict=strict):
        return False
    return says_it_is_one(path, strict=strict) or any(
        {"trial_name", "task_name"} <= fields(f"{path}/{name}/result.json", strict=strict).keys()
        for name in folders_of_job(path)
    )


def _is_of_job(result: dict[str, Any]) -> bool:
    return "n_total_trials" in result and "stats" in result


def says_it_is_one(path: str, *, strict: bool = False) -> bool:
    """Whether a directory has the documents of a job."""
    if _is_of_job(fields(f"{path}/result.json")):
        return True
    config = fields(f"{path}/config.json", strict=strict)
    ours = config.keys() & {"datasets", "n_attempts", "job_name", "tasks"}
    if "task" not in config and bool(ours):
        return True
    # The trials that were planned: of a job that was ended early perhaps all that is whole.
    return isinstance(fields(f"{path}/lock.json").get("trials"), list)


def is_configured(trial: str) -> bool:
    """Whether a directory has the configuration of a trial."""
    return {"task", "trial_name"} <= fields(f"{trial}/config.json").keys()


def job_of(
    path: str, names: Sequence[str], waiting: Sequence[str], diagnostics: list[Diagnostic]
) -> tuple[Job, Callable[[], Iterable[Reported]]]:
    """The job by its own documents, and its numbers; `diagnostics` gets what is wrong with them.

    `names` are its trials' folders, of which those that are `waiting` have no result yet.
    """
    config = _own(path, "config.json", diagnostics)
    result = _own(path, "result.json", diagnostics)
    total = result.get("n_total_trials")
    # Harbor takes the texts of numbers for numbers, and 5.0 for 5.
    total = integer(number(total) if isinstance(total, str) else total)
    others = not_listed(result, {*names} - {*waiting})
    if others:
        diagnostics.append(
            Diagnostic(
                rule="trials-not-planned",
                message=f"result.json of job {path} names each of its {total} trials, and not "
                f"{listed(others)}",
                path=path,
                notes=("the numbers are over all trials that are on disk",),
            )
        )
    agents = config.get("agents")
    metrics = config.get("metrics")
    attempts = config.get("n_attempts")
    n_agents = len(agents) if isinstance(agents, list) and agents else 1
    planned = _planned(path, config, n_agents, diagnostics)
    if not result:
        # Who was killed before writing it has planned as much.
        total = planned
    job = Job(
        datasets=tuple(_datasets(config)),
        metrics=tuple(metrics) if isinstance(metrics, list) else (),
        models=tuple(_models(agents if isinstance(agents, list) else [])),
        n_groups=n_agents,
        n_each=n_agents * (attempts if type(attempts) is int and attempts > 0 else 1),
        n_planned=planned,
        n_retries=_retries(config),
        n_total_trials=total if type(total) is int and total >= 0 else None,
        lacks_trials=bool(others),
        running=bool(result) and result.get("finished_at") is None,
        leaves_out=bool(leaves_out(result)),
        waiting=tuple(sorted(waiting)),
        snapshot=_snapshot(path, diagnostics),
    )
    return job, partial(reported, result)


def _models(agents: list[Any]) -> Iterator[str]:
    names = (agent.get("model_name") for agent in agents if isinstance(agent, dict))
    yield from dict.fromkeys(name for name in names if isinstance(name, str))


def _snapshot(path: str, diagnostics: list[Diagnostic]) -> tuple[DatasetSnapshot, ...]:
    """The datasets of the job's snapshot; none where it has none, or a broken one."""
    value = _own(path, SNAPSHOT, diagnostics)
    if not value:
        return ()
    try:
        return tuple(msgspec.convert(value, Snapshot).datasets)
    except msgspec.ValidationError as error:
        # Inside, for weight: only a snapshot that is wrong needs it.
        from ...documents.mismatch import mismatch_with

        mismatch = mismatch_with(Snapshot, value)
        diagnostics.append(_unread(f"{path}/{SNAPSHOT}", mismatch.sentence if mismatch else error))
        return ()


def _unread(file: str, mistake: object) -> Diagnostic:
    name = os.path.basename(file)
    known = "labels and the registry's entry" if name == SNAPSHOT else _SAYS
    return Diagnostic(
        rule="job-document",
        message=f"{name} of the job cannot be read: {mistake}",
        path=file,
        notes=(f"{known} are looked up in it",),
    )


def _planned(
    path: str, config: dict[str, Any], n_agents: int, diagnostics: list[Diagnostic]
) -> int | None:
    """How many trials were planned, by the job's lock or the tasks that its configuration lists."""
    locked = _own(path, "lock.json", diagnostics).get("trials")
    if isinstance(locked, list):
        return len(locked)
    tasks, attempts = config.get("tasks"), config.get("n_attempts")
    if config.get("datasets") or not isinstance(tasks, list) or not tasks:
        return None
    return len(tasks) * n_agents * attempts if type(attempts) is int else None


def _retries(config: dict[str, Any]) -> int | None:
    """How often a trial may be tried again: never, where the configuration does not say it."""
    older = config.get("orchestrator")
    retry = config.get("retry") or (older.get("retry") if isinstance(older, dict) else None)
    most = retry.get("max_retries", 0) if isinstance(retry, dict) else 0
    return most if config and type(most) is int else None


def _own(path: str, name: str, diagnostics: list[Diagnostic]) -> dict[str, Any]:
    """A document of the job itself, empty where it is absent or, with a diagnostic, broken."""
    file = f"{path}/{name}"
    try:
        data = contents(file)
        check_limits(data)
        value = msgspec.json.decode(data)
    except FileNotFoundError:
        return {}
    except OSError as error:
        mistake = reason(error)
    except REFUSED:
        _, slips = parse(contents(file), file)
        mistake = slips[0].message if slips else "not JSON"
    else:
        if isinstance(value, dict):
            diagnostics += repeated_keys(data, file)
            return value
        mistake = "not a JSON object"
    diagnostics.append(_unread(file, mistake))
    return {}


def repeated_in_trials(job: str, errors: dict[str, list[str]] | None) -> Iterator[Diagnostic]:
    """What is said of the keys that stand twice in the results of a job's trials.

    `errors`, where it is given, gets the errors of each trial, those of its steps among them.
    """
    try:
        names, _ = trial_folders(job)
    except OSError:
        return
    for file in (f"{job}/{name}/result.json" for name in names):
        with contextlib.suppress(OSError):
            data = contents(file)
            yield from repeated_keys(data, file)
            if errors is not None:
                with contextlib.suppress(*REFUSED):
                    trial, found = errors_of(data)
                    errors[trial] = found


def _datasets(config: dict[str, Any]) -> Iterator[JobDataset]:
    entries = config.get("datasets")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        registry = entry.get("registry")
        older = registry if isinstance(registry, dict) else {}
        fields = {
            "name": entry.get("name"),
            "version": entry.get("version") or entry.get("ref"),
            "path": entry.get("path"),
            "registry_path": entry.get("registry_path") or older.get("path"),
            "registry_url": entry.get("registry_url") or older.get("url"),
        }
        whole = not (config.get("tasks") or any(entry.get(name) for name in _CHOOSING))
        yield JobDataset(**{k: v for k, v in fields.items() if isinstance(v, str)}, whole=whole)
