"""A job directory as Harbor writes it, since 2025-11: `<job>/<trial>/result.json`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

import msgspec

from .. import fork
from ..diagnostics import Diagnostic
from ..document import parse, reason
from ..exact import Number
from ..rewards import check
from ..trial import NO_USAGE, GroupKey, Trial, Usage, group_key, in_canonical_order
from .job_documents import contents, fields, job_of
from .source import REFUSED, NotThisFormat, Progress, Source

KIND = "harbor-job"
# A file caught while Harbor rewrites it is whole a moment later.
_TRIES, _PAUSE = 5, 0.05


class _Model(msgspec.Struct, gc=False):
    name: str


class _Agent(msgspec.Struct, gc=False):
    name: str
    model_info: _Model | None = None


class _Verifier(msgspec.Struct, gc=False):
    rewards: dict[str, Number] | None = None


class _Exception(msgspec.Struct, gc=False):
    exception_type: str


class _Spent(msgspec.Struct, gc=False):
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: Number | None = None


class _Result(msgspec.Struct, gc=False):
    task_name: str
    trial_name: str
    agent_info: _Agent
    id: str | None = None
    source: str | None = None
    agent_result: _Spent | None = None
    verifier_result: _Verifier | None = None
    exception_info: _Exception | None = None
    started_at: str | None = None
    finished_at: str | None = None


# Trials in a half from which on a second process is faster.
_HALF_PAYS = 1_000
# Where Harbor keeps the trials that it tried again.
_ARCHIVE = "_retries"
_Half = tuple[list[Trial], list[str], list[str]]
_encode_lines = msgspec.json.Encoder().encode_lines
_decode = msgspec.json.Decoder(_Result).decode


@dataclass(slots=True)
class _Reading:
    """What one pass over the trial directories leaves."""

    trials: list[Trial] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    refused: list[tuple[str, bytes]] = field(default_factory=list)
    failed: list[tuple[str, OSError]] = field(default_factory=list)


def read(path: str, progress: Progress | None = None) -> list[Source]:
    """One source a job: the directory itself, or each job directory in it.

    Raises:
        NotThisFormat: neither the directory nor anything in it is a job.
    """
    if looks_like_job(path):
        return [_read_job(path, progress)]
    jobs, closed = [], []
    for name in _folders(path):
        try:
            if looks_like_job(f"{path}/{name}"):
                jobs.append(f"{path}/{name}")
        except OSError as error:
            closed.append(_closed(f"{path}/{name}", error))
    if not jobs:
        raise NotThisFormat(_why_not(path))
    sources = [_read_job(job, progress) for job in jobs]
    sources[0].diagnostics += closed
    return sources


def _closed(path: str, error: OSError) -> Diagnostic:
    message = f"{path} could not be read: {reason(error)}"
    return Diagnostic(rule="unread-job", message=message, path=path)


def looks_like_job(path: str) -> bool:
    """Whether a directory is a job: by its own documents, or by a trial in it."""
    result = fields(f"{path}/result.json")
    if "trial_name" in result:
        return False
    if "n_total_trials" in result and "stats" in result:
        return True
    config = fields(f"{path}/config.json")
    if "task" not in config and config.keys() & {"datasets", "n_attempts", "job_name", "tasks"}:
        return True
    return any(
        {"trial_name", "task_name"} <= fields(f"{path}/{name}/result.json").keys()
        for name in _folders(path)
    )


def _why_not(path: str) -> str:
    result = fields(f"{path}/result.json")
    if "trial_name" in result:
        folder = os.path.dirname(os.path.abspath(path))
        return f"{path} is one trial, not a job; give the job's directory, {folder}"
    if not os.listdir(path):
        return f"{path} is an empty directory"
    if result:
        return (
            f"{path} has a result.json, but it is not a Harbor job's: "
            "that has `n_total_trials` and `stats`"
        )
    return (
        f"{path} is no Harbor job: no directory in it holds a trial's result.json "
        "(with `task_name` and `trial_name`), and it has no config.json of a job"
    )


def _folders(path: str) -> list[str]:
    with os.scandir(path) as entries:
        return sorted(entry.name for entry in entries if _is_folder(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.name[0] != "." and entry.name != _ARCHIVE and entry.is_dir()
    except OSError:
        return False


def _read_job(path: str, progress: Progress | None) -> Source:
    names = _folders(path)
    reading = _Reading()
    _read_all(path, names, reading, progress)
    for _ in range(_TRIES):
        if not reading.refused:
            break
        time.sleep(_PAUSE)
        again = [name for name, _ in reading.refused]
        reading.refused = []
        _read_trials(path, again, reading, None)
    found: list[Diagnostic] = []
    job, numbers = job_of(path, reading.waiting, found)
    trials = in_canonical_order(reading.trials)
    source = Source(
        path=path,
        kind=KIND,
        trials=trials,
        sha256=_digest(trials),
        diagnostics=found,
        job=job,
        reported=numbers,
    )
    groups = {group_key(trial) for trial in trials}
    for name, data in sorted(reading.refused):
        found += _explain(f"{path}/{name}/result.json", name, data)
        source.unread.append(_group_of(f"{path}/{name}", groups))
    for name, error in sorted(reading.failed, key=lambda pair: pair[0]):
        found.append(_unreadable(f"{path}/{name}/result.json", name, error))
        source.unread.append(_group_of(f"{path}/{name}", groups))
    return source


def _digest(trials: list[Trial]) -> str:
    """SHA-256 of the canonical trials lines: it outlives moving a job and writing it anew."""
    return sha256(_encode_lines(trials)).hexdigest()


def _read_all(path: str, names: list[str], reading: _Reading, progress: Progress | None) -> None:
    """Read the trials, the second half of many in a second process."""
    half = len(names) // 2
    if half < _HALF_PAYS or not fork.pays():
        _read_trials(path, names, reading, progress)
        return

    def second() -> bytes:
        theirs = _Reading()
        _read_trials(path, names[half:], theirs, None)
        again = [name for name, _ in (*theirs.refused, *theirs.failed)]
        return msgspec.msgpack.encode((theirs.trials, theirs.waiting, again))

    wait = fork.alongside(second)
    answer = None
    try:
        _read_trials(path, names[:half], reading, progress)
    finally:
        answer = wait()
    again = names[half:]
    if answer is not None:
        trials, waiting, again = msgspec.msgpack.decode(answer, type=_Half)
        reading.trials += trials
        reading.waiting += waiting
    _read_trials(path, again, reading, None)


def _read_trials(path: str, names: list[str], reading: _Reading, progress: Progress | None) -> None:
    add = reading.trials.append
    for i, name in enumerate(names):
        if progress and not i % 256:
            progress(i, len(names))
        try:
            data = contents(f"{path}/{name}/result.json")
        except FileNotFoundError:
            reading.waiting.append(name)
            continue
        except OSError as error:
            reading.failed.append((name, error))
            continue
        try:
            add(_trial(_decode(data)))
        except REFUSED:
            reading.refused.append((name, data))
    if progress:
        progress(len(names), len(names))


def _trial(result: _Result) -> Trial:
    verifier, model, failure = (
        result.verifier_result,
        result.agent_info.model_info,
        result.exception_info,
    )
    return Trial(
        task=result.task_name,
        rewards=verifier.rewards if verifier is not None else None,
        trial=result.trial_name,
        id=result.id,
        started_at=result.started_at,
        agent=result.agent_info.name,
        model=model.name if model is not None else None,
        dataset=result.source,
        error=failure.exception_type if failure is not None else None,
        usage=_usage(result),
    )


def _usage(result: _Result) -> Usage:
    spent = result.agent_result
    seconds = _seconds(result.started_at, result.finished_at)
    if spent is None:
        return NO_USAGE if seconds is None else Usage(seconds=seconds)
    return Usage(
        n_input_tokens=spent.n_input_tokens,
        n_cache_tokens=spent.n_cache_tokens,
        n_output_tokens=spent.n_output_tokens,
        cost_usd=spent.cost_usd,
        seconds=seconds,
    )


def _seconds(started: str | None, finished: str | None) -> float | None:
    if started is None or finished is None:
        return None
    try:
        return (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):
        return None


def _group_of(folder: str, groups: set[GroupKey]) -> GroupKey | None:
    """The group that an unread trial would be in, if the job or the trial's own config tells."""
    if len(groups) == 1:
        return next(iter(groups))
    config = fields(f"{folder}/config.json")
    task, agent = config.get("task"), config.get("agent")
    dataset = task.get("source") if isinstance(task, dict) else None
    name = agent.get("name") if isinstance(agent, dict) else None
    model = agent.get("model_name") if isinstance(agent, dict) else None
    near = [
        group
        for group in groups
        if (name is None or group[0] == name)
        and group[2] == dataset
        and (model is None or group[1] in (model, str(model).partition("/")[2]))
    ]
    return near[0] if len(near) == 1 else None


def _explain(path: str, name: str, data: bytes) -> list[Diagnostic]:
    """Why a trial result could not be read; at least one finding."""
    subject = f"trial {name}"
    document, found = parse(data, path)
    if found or document is None:
        return [
            Diagnostic(
                rule="unread-trial",
                message=f"trial {name} could not be read: line {_line(d)}: {d.message}",
                path=d.path,
                span=d.span,
                subject=subject,
                label=d.label,
                notes=d.notes,
                help=d.help,
            )
            for d in found[:3]
        ]
    value = document.value
    verifier = value.get("verifier_result") if isinstance(value, dict) else None
    if isinstance(verifier, dict) and "rewards" in verifier:
        wrong: list[Diagnostic] = check(document, ["verifier_result", "rewards"], subject)
        if wrong:
            return [msgspec.structs.replace(d, message=f"trial {name}: {d.message}") for d in wrong]
    try:
        _decode(data)
    except REFUSED as error:
        message = f"trial {name}: not a trial result of Harbor: {error}"
    else:
        message = f"trial {name} was being rewritten each time it was read"
    return [Diagnostic(rule="unread-trial", message=message, path=path, subject=subject)]


def _line(diagnostic: Diagnostic) -> int:
    return diagnostic.span.line if diagnostic.span else 1


def _unreadable(path: str, name: str, error: OSError) -> Diagnostic:
    return Diagnostic(
        rule="unread-trial",
        message=f"trial {name} could not be read: {reason(error)}",
        path=path,
        subject=f"trial {name}",
    )
