"""A job directory as Harbor writes it, since 2025-11: `<job>/<trial>/result.json`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from functools import cache, partial

import msgspec

from ...documents.diagnostics import Diagnostic
from ...documents.files import reason
from ...documents.paths import leads_nowhere, strayed
from ...documents.wording import plural
from ...errors import InputError
from ...trials.counts import NotCountableError, digest_of, joint_digest
from ...trials.labels import Labels, agreed
from ...trials.repeated import Repeated, may_repeat
from ...trials.source import REFUSED, Counted, Job, NotThisFormatError, Progress, Source
from ...trials.trial import GroupKey, Trial, group_key, in_canonical_order
from ...trials.validity import leaves_out
from ..files import fork
from ..files.entries import Entries
from ..files.file import File
from ..reading import Options
from .documents import (
    a_link,
    contents,
    fields,
    is_configured,
    is_damaged,
    job_of,
    looks_like_job,
    says_it_is_one,
)
from .folders import folders, folders_of_job, job_folders, trial_folders
from .passes import Digested, Kept, Pass, Spooled
from .remarks import note, remarks
from .tasks import labels_of
from .trial import explain, result_of, trial_of, unreadable

# A file caught while Harbor rewrites it is whole a moment later.
_TRIES, _PAUSE = 5, 0.05


_RESULT = "result.json"
_DOCUMENTS = ("config.json", "lock.json", _RESULT)
# Trials in a half from which on a second process is faster.
_HALF_PAYS = 1_000
# The share of the first process where the second has to hand over what it kept.
_OURS_OF_KEPT = 0.53
# Trials from which on counting them is worth an import.
_COUNTS_PAY = 2_000


def read(file: File, options: Options) -> list[Source]:
    """One source a job: the directory itself, or each job directory in it.

    Raises:
        NotThisFormatError: neither the directory nor anything in it is a job.
    """
    path = file.path
    if looks_like_job(path):
        return [_read_job(path, options)]
    sources: list[Source] = []
    entries = Entries()
    links: set[str] = set()
    names = folders(path, links)
    # What links lead to is called by its own name where it has one here.
    for name in sorted(names, key=lambda name: (name in links, name)):
        job = f"{path}/{name}"
        try:
            if name in links and leads_nowhere(job):
                entries.diagnostics.append(_lost(job))
            elif looks_like_job(job, strict=True):
                if entries.admits(job, path, is_job=True):
                    sources.append(_read_job(job, options))
            elif name not in links and _is_destroyed(job):
                entries.diagnostics.append(_destroyed(job))
            elif name not in links and _holds_trials(job):
                entries.diagnostics.append(_no_job(job))
        except OSError as error:
            entries.diagnostics.append(_closed(job, error))
    if not sources:
        strays = [said.message for said in entries.diagnostics]
        raise NotThisFormatError(strays[0] if strays else _why_not(path))
    sources.sort(key=lambda source: source.path)
    sources[0].diagnostics += entries.diagnostics
    return sources


def _closed(path: str, error: OSError) -> Diagnostic:
    message = f"{path} could not be read: {reason(error)}"
    return Diagnostic(rule="unread-job", message=message, path=path)


def _lost(path: str) -> Diagnostic:
    return Diagnostic(
        rule="file-not-read",
        message=f"{path} is a link that leads nowhere: if a job was there, it does not count",
        path=path,
        help="fetch what it leads to, or remove it",
    )


def _no_job(path: str) -> Diagnostic:
    return Diagnostic(
        rule="file-not-read",
        message=f"{path} is not read: folders in it are as trials are, and it is no job by its own "
        "documents",
        path=path,
        help="if it is one, look what its result.json and its config.json have",
    )


def _destroyed(path: str) -> Diagnostic:
    return Diagnostic(
        rule="unread-job",
        message=f"{path} is not read: it has documents as a job of Harbor has, and all of them are "
        "empty or cut short",
        path=path,
        help="copy it anew; if it is no job, put it elsewhere",
    )


def _is_destroyed(path: str) -> bool:
    """Whether the results in a directory, its own and its folders', are damaged, each of them.

    Or, where there are none, two documents that are called as others in a job.
    """
    n = n_results = 0
    for folder in ("", *folders_of_job(path)):
        for name in _DOCUMENTS:
            try:
                damaged = is_damaged(f"{path}/{folder}/{name}")
            except OSError:
                continue
            # What a trial was configured with says nothing of how it ended.
            if not damaged and (name == _RESULT or not folder):
                return False
            n += damaged
            n_results += damaged and name == _RESULT
    return n_results > 0 or n > 1


def _holds_trials(path: str) -> bool:
    """Whether folders in a directory are as trials are, and none of them is a job."""
    links: set[str] = set()
    names = [name for name in folders_of_job(path, links) if name not in links]
    trials = (f"{path}/{name}" for name in names)
    is_one = any(os.path.lexists(f"{t}/{_RESULT}") or is_configured(t) for t in trials)
    return is_one and not jobs_in(path)


def _check_holds_no_jobs(path: str, reading: Pass) -> None:
    """Refuse a folder that only a trial in it makes a job, where others in it are jobs.

    Raises:
        InputError: it is one.
    """
    others = [*reading.waiting, *(name for name, _ in (*reading.refused, *reading.failed))]
    if others and not says_it_is_one(path) and (jobs := jobs_in(path, others)):
        raise InputError(
            f"{path} holds a trial as a job does, and {plural(len(jobs), 'job')}",
            "name the jobs themselves",
        )


def jobs_in(path: str, among: Iterable[str] | None = None) -> list[str]:
    """The paths of the jobs that lie in a folder, sorted; none where it cannot be read.

    Of its folders only those `among` them, where these are given, which do not lead out of it. A
    link that does is none of them, and behind one there are none.
    """
    if strayed(path) is not None:
        return []
    try:
        names = job_folders(path) if among is None else sorted(among)
        jobs = (f"{path}/{name}" for name in names)
        return [job for job in jobs if looks_like_job(job)]
    except OSError:
        return []


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
        f"{path} is not a Harbor job: no directory in it holds a trial's result.json "
        "(with `task_name` and `trial_name`), and it has no config.json of a job"
    )


def _read_job(path: str, options: Options) -> Source:
    names, strays = trial_folders(path)
    if (options.counts or options.spool) and len(names) >= _COUNTS_PAY and not strays:
        gone_by = Digested() if options.counts else Spooled()
        source = _read_once(path, names, gone_by, options.progress)
        if source is not None:
            return source
    kept = Kept()
    reading = Pass(kept, leaves_out(fields(f"{path}/result.json")))
    _read_all(path, names, reading, options.progress)
    _check_holds_no_jobs(path, reading)
    for _ in range(_TRIES):
        if not reading.refused:
            break
        time.sleep(_PAUSE)
        again = [name for name, _ in reading.refused]
        reading.refused = []
        _read_trials(path, again, reading, None)
    diagnostics: list[Diagnostic] = []
    job, numbers = job_of(path, names, reading.waiting, diagnostics)
    trials = _once(in_canonical_order(kept.trials), diagnostics)
    diagnostics += remarks(path, reading)
    job = msgspec.structs.replace(job, labels=cache(partial(_labels, path, job, trials)))
    digests = kept.digests if len(trials) == len(kept.trials) else b"".join(map(digest_of, trials))
    source = Source(
        path=path,
        trials=trials,
        sha256=joint_digest(digests),
        digest_of="trials",
        diagnostics=diagnostics,
        job=job,
        reported=numbers,
    )
    groups = set(map(group_key, trials)) if reading.refused or reading.failed or strays else set()
    for name, data in sorted(reading.refused):
        diagnostics += explain(f"{path}/{name}/result.json", name, data)
        source.unread.append(_group_of(f"{path}/{name}", groups))
    reading.failed += [(name, a_link(f"{path}/{name}")) for name in strays]
    for name, error in sorted(reading.failed, key=lambda pair: pair[0]):
        diagnostics.append(unreadable(f"{path}/{name}/result.json", name, error))
        source.unread.append(_group_of(None if name in strays else f"{path}/{name}", groups))
    return source


def _labels(path: str, job: Job, trials: list[Trial]) -> Mapping[str | None, Labels]:
    """Dataset -> task -> labels: by the job's snapshot, else by the folders of the tasks."""
    # A job can have run two versions of one dataset, which its trials do not tell apart.
    said: dict[str | None, list[Labels]] = {}
    for dataset in job.snapshot:
        said.setdefault(dataset.name, []).append(dataset.tasks)
    kept = {name: agreed(labels) for name, labels in said.items()}
    others = [trial for trial in trials if trial.task not in kept.get(trial.dataset, {})]
    found = labels_of(path, others)
    return {
        name: {**found.get(name, {}), **kept.get(name, {})} for name in kept.keys() | found.keys()
    }


def _read_once(
    path: str, names: list[str], trials: Digested, progress: Progress | None
) -> Source | None:
    """The job as a source of which no trial is kept; None where it must be read otherwise."""
    reading = Pass(trials, leaves_out(fields(f"{path}/result.json")))
    try:
        _read_all(path, names, reading, progress)
    except NotCountableError:
        return None
    if reading.refused or reading.failed or trials.seen.twice:
        return None
    _check_holds_no_jobs(path, reading)
    diagnostics: list[Diagnostic] = []
    job, numbers = job_of(path, names, reading.waiting, diagnostics)
    diagnostics += remarks(path, reading)
    # For weight: few jobs are counted.
    from ...trials.counted import Absent, CountedTable

    groups = {key: CountedTable(counts) for key, counts in trials.groups.items()}
    spool = trials.spool if isinstance(trials, Spooled) else None
    left_out = {key: CountedTable(counts) for key, counts in trials.left_out.items()}
    return Source(
        path=path,
        trials=Absent(trials.n, "every trial") if spool is None else spool,
        sha256=trials.joint_digest,
        digest_of="trials",
        counted=Counted({**groups}, trials.seen, {**left_out}) if spool is None else None,
        diagnostics=diagnostics,
        job=job,
        reported=numbers,
    )


def _once(trials: list[Trial], diagnostics: list[Diagnostic]) -> list[Trial]:
    """The trials without the copies of folders; that there are some is noted."""
    if not may_repeat([trials]):
        return trials
    repeated = Repeated()
    kept = [trial for trial in trials if repeated.is_new(trial)]
    diagnostics += repeated.diagnostics()
    return kept


def _read_all(path: str, names: list[str], reading: Pass, progress: Progress | None) -> None:
    """Read the trials, the second half of many in a second process."""
    kept = isinstance(reading.trials, Kept)
    half = int(len(names) * (_OURS_OF_KEPT if kept else 0.5))
    if half < _HALF_PAYS or isinstance(reading.trials, Spooled) or not fork.pays():
        _read_trials(path, names, reading, progress)
        return
    # For weight: only what two processes tell each other is pickled.
    import pickle

    def second() -> bytes:
        part = Pass(type(reading.trials)(), reading.leaves_out)
        _read_trials(path, names[half:], part, None)
        again = [name for name, _ in (*part.refused, *part.failed)]
        return pickle.dumps(
            (part.trials, part.waiting, part.misplaced, part.otherwise, part.later, again)
        )

    wait = fork.alongside(second)
    answer = None
    try:
        _read_trials(path, names[:half], reading, progress)
    finally:
        answer = wait()
    again = names[half:]
    if answer is not None:
        # Our own second process wrote it.
        trials, waiting, misplaced, otherwise, later, again = pickle.loads(answer)  # noqa: S301
        reading.trials += trials
        reading.waiting += waiting
        reading.misplaced += misplaced
        reading.otherwise += otherwise
        reading.later += later
    _read_trials(path, again, reading, None)


def _read_trials(path: str, names: list[str], reading: Pass, progress: Progress | None) -> None:
    add = reading.trials.add_one
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
            result = result_of(data)
            trial = trial_of(result, reading.leaves_out)
        except REFUSED:
            reading.refused.append((name, data))
            continue
        add(trial)
        note(reading, name, data, result, trial)
    reading.trials.finish()
    if progress:
        progress(len(names), len(names))


def _group_of(folder: str | None, groups: set[GroupKey]) -> GroupKey | None:
    """The group that an unread trial would be in, if the job or the trial's own config tells.

    Without a folder the trial has none of its own.
    """
    if len(groups) == 1:
        return next(iter(groups))
    config = fields(f"{folder}/config.json") if folder is not None else {}
    task, agent = config.get("task"), config.get("agent")
    dataset = task.get("source") if isinstance(task, dict) else None
    name = agent.get("name") if isinstance(agent, dict) else None
    model = agent.get("model_name") if isinstance(agent, dict) else None
    near = [
        group
        for group in groups
        if (name is None or group.agent == name)
        and group.dataset == dataset
        and (model is None or group.model in (model, str(model).partition("/")[2]))
    ]
    return near[0] if len(near) == 1 else None
