"""The sources in a file or a directory: its format is the one that is named, else recognised."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..documents.diagnostics import Diagnostic
from ..documents.files import reason
from ..documents.parquet import is_called_so
from ..documents.paths import STANDARD_INPUT, is_address, leads_nowhere, leads_out, strayed
from ..documents.quoting import rules_alone
from ..documents.wording import did_you_mean, in_command, listed, nearest, plural
from ..errors import InputError
from ..trials.source import REFUSED, NotThisFormatError, Source
from . import formats
from .files.copies import copies
from .files.entries import Entries, copied
from .files.file import File, opened
from .formats import Format, named, takes
from .harbor.documents import looks_like_job, says_it_is_one
from .harbor.folders import OF_HARBOR, trial_folders
from .harbor.job import jobs_in
from .reading import Options

if TYPE_CHECKING:
    from .recognition import Head

_FEW_TRIALS = 200
# So many folders and files are looked into for what is left out.
_MOST_ENTRIES = 1_000


def sources_at(path: str, as_format: str | None, options: Options) -> list[Source]:
    """What can be read at a path, or from standard input for `-`.

    Raises:
        InputError: there is nothing to read, or it is of no known format; the message says why.
    """
    given = None if as_format is None else named(as_format)
    if is_address(path):
        raise InputError(
            f"{path} is an address on storage, where an engine is asked, by `compute`",
            "copy it to a file for what else is to be done with it",
        )
    if is_called_so(path):
        raise InputError(
            f"{path} is Parquet by its name, which an engine is asked about, by `compute`",
            "name what is no Parquet otherwise",
        )
    try:
        mode = 0 if path == STANDARD_INPUT else os.stat(path).st_mode
    except OSError as error:
        near = did_you_mean(_beside(path))
        raise InputError(f"{path}: {reason(error)}{near}", f"a source is {takes()}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error
    try:
        if stat.S_ISDIR(mode):
            return _in_directory(path.rstrip("/") or "/", given, options)
        with opened(path) as file:
            return _in_file(file, given, options)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", f"a source is {takes()}") from error


def _beside(path: str) -> list[str]:
    """What lies where a path leads that leads nowhere, and has nearly its name."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, near) for near in nearest(name, names)]


def _read(file: File, format_: Format, options: Options) -> list[Source]:
    try:
        sources = format_.reader.read(file, options)
    except REFUSED as error:
        # A reader that knows better says where; this is for one that leaves it to its decoder.
        raise InputError(f"{file.path} is not {format_.noun} that can be read: {error}") from error
    for source in sources:
        # Other bytes may have counted than its digest is of.
        file.check(source.sha256)
        source.kind = format_.name
        if source.diagnostics and (where := strayed(file.path)):
            source.diagnostics = rules_alone(source.diagnostics, file.path, where)
    return sources


def _in_file(file: File, given: Format | None, options: Options) -> list[Source]:
    if given is not None and given.is_directory:
        raise InputError(f"{file.path} is a file; a Harbor job is a directory")
    if given is not None:
        return _read(file, given, options)
    # For weight: a job is no file.
    from .recognition import head_of, mistaken, refusal

    head = head_of(file)
    if not head.data.strip():
        raise InputError(f"{file.path} is empty", f"a source is {takes()}")
    if mistake := mistaken(head):
        raise InputError(f"{file.path} {mistake}", f"a source is {takes()}")
    fits = []
    for format_ in formats.FORMATS:
        if format_.is_directory:
            continue
        fit = format_.reader.fit(head)
        if not fit.why:
            return _read(file, format_, options)
        fits.append((format_.noun, fit))
    raise InputError(f"{file.path} {refusal(head, fits)}", f"a source is {takes()}")


def _in_directory(path: str, given: Format | None, options: Options) -> list[Source]:
    """The job or jobs in a directory, else the logs in it."""
    directories = [f for f in formats.FORMATS if f.is_directory and given in (None, f)]
    why_not: list[str] = []
    for format_ in directories:
        try:
            jobs = _read(File(path, path), format_, options)
        except NotThisFormatError as error:
            if given is not None or not any(_files(path)):
                raise _refused(path, str(error)) from error
            why_not.append(str(error))
        else:
            if given is None:
                jobs[0].diagnostics += _beside_jobs(path, jobs)
            elif path not in (own := {job.path for job in jobs}):
                deeper = _deeper(path, own)
                logs = _logs(path, deeper.paths, directories)
                jobs[0].diagnostics += _left_out(path, logs, "holds jobs", deeper)
            return jobs
    wanted = [f for f in formats.FORMATS if f.in_folders] if given is None else [given]
    sources: list[Source] = []
    others: list[str] = []
    entries = Entries()
    own_files, below = _files(path)
    # The folders in it only where none of its own files is one, as lm-eval lays them.
    for files in (own_files, below):
        sources = _of_files(files, path, wanted, options, entries, others)
        if sources:
            what = "holds logs itself" if files is own_files else "holds logs in its folders"
            deeper = _deeper(path)
            unread = [*(below if files is own_files else ()), *deeper.paths]
            logs = _logs(path, unread, formats.FORMATS if given is None else wanted)
            sources[0].diagnostics += _left_out(path, logs, what, deeper)
            break
    else:
        why_not += [said.message for said in entries.diagnostics]
        nouns = " nor ".join(format_.noun for format_ in wanted)
        which = f"{', and '.join(why_not)}, and" if why_not else f"{path}:"
        raise _refused(path, f"{which} no file in it is {nouns}")
    sources[0].diagnostics += entries.diagnostics
    if others and given is not None:
        sources[0].diagnostics.append(_not_read(path, others, given))
    return sources


def _of_files(
    files: list[str],
    folder: str,
    wanted: list[Format],
    options: Options,
    entries: Entries,
    others: list[str],
) -> list[Source]:
    """What can be read of the files in a folder; `others` gets those of no wanted format."""
    # For weight: as above.
    from .recognition import HEAD, head_of

    by_file: dict[str, list[Source]] = {}
    for name in files:
        if not os.path.isfile(name):
            if entries.admits(name, folder):
                entries.diagnostics.append(_lost(name))
            continue
        with opened(name, HEAD + 1) as file:
            head = head_of(file)
        fitting = next((f for f in wanted if not f.reader.fit(head).why), None)
        if fitting is None:
            others.append(name)
            said = _damaged(name, head, wanted) or (_unclear(name) if head.is_unclear else None)
            if said and entries.admits(name, folder):
                entries.diagnostics.append(said)
        elif entries.admits(name, folder):
            with opened(name) as file:
                by_file[name] = _read(file, fitting, options)
    for name, other in copies(by_file):
        # Also where one of them is read with what lies beside it.
        if not all(map(Source.repeats, by_file[name], by_file[other])):
            entries.diagnostics.append(copied(name, other))
    return [source for own in by_file.values() for source in own]


def _called(name: str, wanted: Iterable[Format]) -> Format | None:
    """The format as whose files one of this name is called."""
    return next((f for f in wanted if re.fullmatch(f.called, name, re.DOTALL)), None)


def _lost(path: str) -> Diagnostic:
    why = "a pipe or a device" if os.path.exists(path) else "nothing that can be looked at"
    why = "a link that leads nowhere" if leads_nowhere(path) else why
    return Diagnostic(
        rule="unread-file",
        message=f"{path} is not read: it is called as a log, and is {why}",
        path=path,
        help="fetch what it leads to, or name those that are to be read",
    )


def _damaged(path: str, head: Head, wanted: list[Format]) -> Diagnostic | None:
    """That a file is called as a harness calls its logs, and is none; None where it is not."""
    format_ = _called(os.path.basename(path), wanted)
    if format_ is None:
        return None
    fit = format_.reader.fit(head)
    why = f"none: {fit.why}" if head.data.strip() else "empty"
    return Diagnostic(
        rule="unread-file",
        message=f"{path} is not read: it is called as {format_.noun}, and is {why}",
        path=path,
        help="copy it anew; if it is no log, name those that are to be read, or call it otherwise",
    )


def _unclear(path: str) -> Diagnostic:
    return Diagnostic(
        rule="file-not-read",
        message=f"{path} is not read: by its first line, which is too long or not JSON, nobody can "
        "tell what it is",
        path=path,
        help="if it is a log, name it by itself with --as",
    )


def _beside_jobs(path: str, jobs: list[Source]) -> list[Diagnostic]:
    """What is said of logs that lie in a folder of jobs, or in a job.

    Raises:
        InputError: only a trial in it makes a job of a folder with logs.
    """
    if path not in (own := {job.path for job in jobs}):
        said_of = ("unread-job", "file-not-read")
        unread = {said.path for said in jobs[0].diagnostics if said.rule in said_of}
        files, below = _files(path, but_in=own | unread)
        deeper = _deeper(path, own | unread)
        logs = _logs(path, [*files, *below, *deeper.paths])
        return _left_out(path, logs, "holds jobs", deeper)
    is_said = says_it_is_one(path)
    if is_said and len(jobs[0].trials) > _FEW_TRIALS:
        # To look into all would take long, and Harbor puts no log beside a trial's result.
        folders = list(jobs[0].job.waiting if jobs[0].job else ())
    else:
        folders, _ = trial_folders(path)
    logs = _logs(path, _files_in_job(path, folders))
    if logs and not is_said:
        raise InputError(
            f"{path} holds a trial as a job does, and {plural(len(logs), 'log')}: {_listed(logs)}",
            "name the logs themselves, or read the job alone: --as harbor-job",
        )
    return _left_out(path, logs, "is a job")


class _Deeper(NamedTuple):
    """The files and jobs that lie deeper than in the folders of a folder, or the first of many.

    `links` are those that lead out of it to folders, into which nobody looks, or to nowhere.
    """

    paths: list[str]
    links: list[str]
    is_cut: bool


def _deeper(path: str, but_in: Collection[str | None] = ()) -> _Deeper:
    """What lies deeper than in the folders of a folder; no link is followed."""
    links: list[str] = []
    waiting = deque(sorted(_own_folders(path, path, links).difference(but_in)))
    top = {*waiting}
    found: list[str] = []
    for _ in range(_MOST_ENTRIES):
        if not waiting:
            break
        folder = waiting.popleft()
        if folder not in top:
            if looks_like_job(folder):
                found.append(folder)
                continue
            with contextlib.suppress(InputError):
                found += _files_of(folder)
        waiting += sorted(_own_folders(folder, path, links))
    others = sorted(link for link in links if link not in but_in)
    is_cut = bool(waiting) or max(len(found), len(others)) > _MOST_ENTRIES
    return _Deeper(found[:_MOST_ENTRIES], others[:_MOST_ENTRIES], is_cut)


def _own_folders(path: str, whole: str, links: list[str]) -> set[str]:
    """The folders in a folder that are not hidden; none where it cannot be read.

    `links` gets those links to folders that lead out of the `whole`, and those to nowhere.
    """
    found = set()
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.name[0] == ".":
                continue
            if not entry.is_dir():
                if entry.is_symlink() and leads_nowhere(entry.path):
                    links.append(entry.path)
            elif not entry.is_symlink():
                found.add(entry.path)
            elif leads_out(entry.path, whole):
                links.append(entry.path)
    return found


def _logs(path: str, files: list[str], wanted: Sequence[Format] = formats.FORMATS) -> list[str]:
    """Which of the files in a folder are logs, as they are called there, and which are jobs."""
    # Of a format that is not for folders a file is read there where the user says so.
    kinds = [f for f in wanted if f.in_folders or (len(wanted) == 1 and not f.is_directory)]
    of_jobs = any(f.is_directory for f in wanted)
    return [
        os.path.relpath(name, path)
        for name in files
        if os.path.basename(name) not in OF_HARBOR
        and (of_jobs if os.path.isdir(name) else _is_log(name, kinds))
    ]


def _is_log(path: str, kinds: Sequence[Format]) -> bool:
    """Whether a file is of one of these formats, or is called so: that it is damaged is said."""
    # For weight: as above.
    from .recognition import HEAD, head_of

    if _called(os.path.basename(path), kinds):
        return True
    # What cannot be opened nobody would read either.
    with contextlib.suppress(InputError, OSError), opened(path, HEAD + 1) as file:
        head = head_of(file)
        return bool(head.data.strip()) and any(not f.reader.fit(head).why for f in kinds)
    return False


def _left_out(
    path: str, logs: list[str], what: str, deeper: _Deeper | None = None
) -> list[Diagnostic]:
    deeper = deeper or _Deeper([], [], is_cut=False)
    links = [os.path.relpath(link, path) for link in deeper.links]
    if not logs and not links and not deeper.is_cut:
        return []
    jobs = "jobs and " if any(os.path.isdir(f"{path}/{log}") for log in logs) else ""
    told = [f"{jobs}logs below it are left out: {_listed(logs)}"] if logs else []
    told += [f"links out of it or to nowhere are not followed: {_listed(links)}"] if links else []
    if deeper.is_cut:
        told.append(f"only {_MOST_ENTRIES} folders and files below its folders were looked into")
    return [
        Diagnostic(
            rule="file-not-read",
            message=f"{path} {what}; {'; '.join(told)}",
            path=path,
            help="name each folder or file that is to be read",
        )
    ]


def _listed(logs: list[str]) -> str:
    return listed(logs, 6)


def _refused(path: str, why: str) -> NotThisFormatError:
    """Why a folder is not a source; where a folder in it holds jobs, that one."""
    below = _folders(path)
    for folder in [*below, *(f"{folder}/jobs" for folder in below)]:
        if jobs := jobs_in(folder):
            held = f"{path} is not a Harbor job; {folder} holds {plural(len(jobs), 'job')}"
            return NotThisFormatError(held, f"harbor-metrics compute {in_command(folder)}")
    return NotThisFormatError(why, takes())


def _not_read(path: str, others: list[str], given: Format) -> Diagnostic:
    names = listed([os.path.basename(name) for name in others], counted=False)
    return Diagnostic(
        rule="file-not-read",
        message=f"{len(others)} files of {path} are not {given.noun} and are not read: {names}",
        path=path,
    )


def _files_in_job(path: str, folders: Iterable[str]) -> list[str]:
    """The files of a job, and those of the folders by these names, as far as they can be read."""
    found = []
    for folder in (path, *(f"{path}/{name}" for name in folders)):
        # What cannot be read is said already, or gone since.
        with contextlib.suppress(InputError, OSError):
            found += _files_of(folder)
    return sorted(found)


def _files(path: str, but_in: Collection[str | None] = ()) -> tuple[list[str], list[str]]:
    """The files of a directory, and those of the directories in it; hidden ones are left out.

    Raises:
        InputError: one of these directories cannot be read.
    """
    with os.scandir(path) as entries:
        seen = sorted((e for e in entries if e.name[0] != "."), key=_by_own_name)
    files = [entry.path for entry in seen if _may_be_file(entry)]
    folders = [entry.path for entry in seen if entry.path not in but_in and entry.is_dir()]
    return files, [file for folder in folders for file in _files_of(folder)]


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or called as a log and nothing that can be read."""
    if entry.is_file():
        return True
    return not entry.is_dir() and _called(entry.name, formats.FORMATS) is not None


def _by_own_name(entry: os.DirEntry[str]) -> tuple[bool, str]:
    """Links last: what they lead to is called by its own name where it has one here."""
    return entry.is_symlink(), entry.name


def _folders(path: str) -> list[str]:
    with os.scandir(path) as entries:
        return sorted(os.path.normpath(e.path) for e in entries if e.name[0] != "." and e.is_dir())


def _files_of(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            files = [e for e in entries if e.name[0] != "." and _may_be_file(e)]
    except OSError as error:
        raise InputError(f"{folder}: {reason(error)}", "name what is to be read") from error
    return [entry.path for entry in sorted(files, key=_by_own_name)]
