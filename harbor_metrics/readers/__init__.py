"""From a path to trials; the format is recognised from what the file or directory holds."""

from __future__ import annotations

import os
import stat
from typing import Any

import msgspec

from ..document import parse, reason
from ..errors import InputError
from . import harbor_job, rewards, trials
from .lines import blocks, each_line
from .source import REFUSED, NotThisFormat, Progress, Source

__all__ = ["NotThisFormat", "Source", "read"]

_TAKES = "a Harbor job directory, a directory of them, a rewards JSONL or a trials JSONL"


def read(path: str, progress: Progress | None = None) -> list[Source]:
    """The sources at a path: several where it is a directory of jobs.

    Raises:
        InputError: there is nothing to read, or it is of no known format; the message says why.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", f"a source is {_TAKES}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error
    try:
        if stat.S_ISDIR(mode):
            return harbor_job.read(path.rstrip("/") or "/", progress)
        if not stat.S_ISREG(mode):
            raise InputError(f"{path} is neither a file nor a directory")
        return _read_file(path)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}", f"a source is {_TAKES}") from error


def _read_file(path: str) -> list[Source]:
    empty = True
    for block in blocks(path):
        first = _first_value(block)
        if isinstance(first, dict):
            is_trial = isinstance(first.get("task"), str)
            return trials.read(path) if is_trial else rewards.read(path)
        if isinstance(first, str):
            raise InputError(f"{path} {first}", f"a source is {_TAKES}")
        empty = empty and not block.strip()
    if empty:
        raise InputError(f"{path} is empty", f"a source is {_TAKES}")
    return rewards.read(path)


def _first_value(block: bytes) -> dict[str, Any] | str | None:
    """The first object of a JSONL, None if all lines are null, or why it is no JSONL of ours.

    A line that cannot be read decides nothing while another can: the reader names it.
    """
    broken = ""
    for number, line in each_line(block, 1):
        if line.strip() == b"null":
            continue
        try:
            value = msgspec.json.decode(line)
        except REFUSED:
            document, found = parse(line, "", first_line=number)
            value = document.value if document else None
            if not isinstance(value, dict) or any(d.rule == "json-syntax" for d in found):
                slip = found[0].message if found else ""
                broken = broken or f"is not JSON lines: line {number}: {slip}"
                continue
        if isinstance(value, dict):
            return _other_document(value) or value
        return (broken and _whole(block)) or _not_an_object(value)
    return (_whole(block) or broken) if broken else None


def _not_an_object(value: Any) -> str:
    if isinstance(value, list):
        return "is a JSON array; rewards come as JSONL, an object or null a line, without the array"
    return (
        "has bare values; rewards come as JSONL, an object or null a line: "
        'write `{"reward": 0.5}`, not `0.5`'
    )


def _whole(head: bytes) -> str:
    """What a document over several lines is, if it is one that people mistake for a source."""
    try:
        value = msgspec.json.decode(head)
    except REFUSED:
        return ""
    if isinstance(value, dict):
        return _other_document(value) or "is one JSON object over several lines, not JSONL"
    return _not_an_object(value)


def _other_document(value: dict[str, Any]) -> str:
    if "trial_name" in value and "task_name" in value:
        return "is the result of one trial; give the directory of its job"
    if "stats" in value and "n_total_trials" in value:
        return "is a job's own result.json; give the directory it lies in"
    if "schema_version" in value and "groups" in value:
        return "is a result document that harbor-metrics wrote; give what it was computed from"
    if isinstance(value.get("tasks"), list) and "version" in value:
        return "is a dataset of a registry; pass a registry with --registry"
    return ""
