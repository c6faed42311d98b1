"""From a path to trials; the format is recognised from what the file or directory holds."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from ..diagnostics import Diagnostic, Severity
from ..document import reason
from ..errors import InputError, UsageError
from ..syntax import printable
from . import harbor_job
from .file import STANDARD_INPUT, File, opened
from .recognition import Fit, Head, head_of, mistaken, refusal
from .source import NotThisFormat, Progress, Source

__all__ = ["FORMATS", "NotThisFormat", "Source", "read"]

_TAKES = (
    "a Harbor job directory, a directory of them, a rewards JSONL, a trials JSONL, an Inspect log, "
    "lm-eval samples, evsys rewards or a CSV"
)


@dataclass(frozen=True, slots=True)
class _Options:
    """What a reader may be told: the columns of a CSV; to read samples, not their summaries."""

    columns: Mapping[str, str]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Format:
    """How people call a format, what it says to the beginning of a file, and its reader."""

    name: str
    fit: Callable[[Head], Fit]
    read: Callable[[File, _Options], list[Source]]


_INSPECT, _LM_EVAL, _CSV = "inspect", "lm-eval", "csv"
FORMATS = (harbor_job.KIND, _INSPECT, _LM_EVAL, "trials", "evsys", "rewards", _CSV)


@cache
def _formats() -> dict[str, _Format]:
    """In the order in which they are asked: what has marks of its own before what is bare."""
    # Imported here: a job directory needs none of them.
    from . import delimited, evsys, inspect_log, lm_eval_samples, rewards, trials

    formats = {
        inspect_log.KIND: _Format(
            "an Inspect log",
            inspect_log.fit,
            lambda file, options: inspect_log.read(file, whole=options.whole),
        ),
        lm_eval_samples.KIND: _Format(
            "lm-eval samples", lm_eval_samples.fit, lambda file, _: lm_eval_samples.read(file)
        ),
        trials.KIND: _Format("a trials JSONL", trials.fit, lambda file, _: trials.read(file)),
        evsys.KIND: _Format("evsys rewards", evsys.fit, lambda file, _: evsys.read(file)),
        rewards.KIND: _Format("a rewards JSONL", rewards.fit, lambda file, _: rewards.read(file)),
        delimited.KIND: _Format(
            "a CSV",
            delimited.fit,
            lambda file, options: delimited.read(file, options.columns),
        ),
    }
    assert (harbor_job.KIND, *formats) == FORMATS
    return formats


def read(
    path: str,
    progress: Progress | None = None,
    *,
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    whole: bool = False,
) -> list[Source]:
    """The sources at a path, or of standard input for `-`.

    Args:
        path: a file, or a directory: of a job, of jobs, or of logs.
        progress: called while a directory is read.
        as_format: one of `FORMATS`, where the content is not to decide.
        columns: FIELD -> column of a CSV, or `FIELD=COLUMN,…`.
        whole: read the texts too, where that takes longer.

    Raises:
        UsageError: the format is unknown, or columns are named for something else than a CSV.
        InputError: there is nothing to read, or it is of no known format; the message says why.
    """
    if as_format is not None and as_format not in FORMATS:
        raise UsageError(f"no format `{as_format}`; the formats are {', '.join(FORMATS)}")
    options = _Options(_parsed(columns), whole)
    if columns and as_format is None:
        as_format = _CSV
    if columns and as_format != _CSV:
        raise UsageError(f"columns are named for a CSV, not for {as_format}")
    try:
        mode = 0 if path == STANDARD_INPUT else os.stat(path).st_mode
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", f"a source is {_TAKES}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error
    try:
        if stat.S_ISDIR(mode):
            return _read_directory(path.rstrip("/") or "/", progress, as_format, options)
        with opened(path) as file:
            return _read_file(file, as_format, options)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", f"a source is {_TAKES}") from error


def _parsed(columns: str | Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(columns, str):
        return columns
    from .columns import parse_columns

    return parse_columns(columns) if columns else {}


def _read_file(file: File, as_format: str | None, options: _Options) -> list[Source]:
    if as_format == harbor_job.KIND:
        raise InputError(f"{file.path} is a file; a Harbor job is a directory")
    if as_format is not None:
        return _formats()[as_format].read(file, options)
    head = head_of(file)
    if not head.data.strip():
        raise InputError(f"{file.path} is empty", f"a source is {_TAKES}")
    if what := mistaken(head):
        raise InputError(f"{file.path} {what}", f"a source is {_TAKES}")
    fits = []
    for each in _formats().values():
        fit = each.fit(head)
        if not fit.why:
            return each.read(file, options)
        fits.append((each.name, fit))
    raise InputError(f"{file.path} {refusal(head, fits)}", f"a source is {_TAKES}")


def _read_directory(
    path: str, progress: Progress | None, as_format: str | None, options: _Options
) -> list[Source]:
    """The job or jobs in a directory, else the logs in it."""
    if as_format in (None, harbor_job.KIND):
        try:
            return harbor_job.read(path, progress)
        except NotThisFormat as error:
            if as_format is not None or not any(_files(path)):
                raise
            why_no_job = str(error)
    else:
        why_no_job = ""
    kinds = (_INSPECT, _LM_EVAL) if as_format is None else (as_format,)
    sources: list[Source] = []
    new: list[Source] = []
    others: list[str] = []
    # The folders in it only where none of its own files is one, as lm-eval lays them.
    for files in _files(path):
        for name in files if not sources else ():
            with opened(name) as file:
                head = head_of(file)
                kind = next((kind for kind in kinds if not _formats()[kind].fit(head).why), None)
                if kind is not None:
                    new += _formats()[kind].read(file, options)
                else:
                    others.append(name)
        sources, new = sources + new, []
    if not sources:
        named = " nor ".join(_formats()[kind].name for kind in kinds)
        why = f"{why_no_job}, and" if why_no_job else f"{path}:"
        raise NotThisFormat(f"{why} no file in it is {named}", _TAKES)
    if others and as_format is not None:
        sources[0].diagnostics.append(_not_read(path, others, _formats()[as_format].name))
    return sources


def _not_read(path: str, others: list[str], what: str) -> Diagnostic:
    names = ", ".join(printable(os.path.basename(name)) for name in others[:3])
    return Diagnostic(
        rule="file-not-read",
        severity=Severity.WARNING,
        message=f"{len(others)} files of {path} are not {what} and are not read: {names}"
        + (", …" if len(others) > 3 else ""),
        path=path,
    )


def _files(path: str) -> tuple[list[str], list[str]]:
    """The files of a directory, and those of the directories in it."""
    found: list[str] = []
    folders: list[str] = []
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            if entry.is_file():
                found.append(entry.path)
            elif entry.is_dir():
                folders.append(entry.path)
    return found, [file for folder in folders for file in _files_of(folder)]


def _files_of(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        named = sorted(entry.path for entry in entries if entry.is_file())
    return [name for name in named if not os.path.basename(name).startswith(".")]
