"""Metric scripts, as far as they can be judged without running them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from ...contract.spec import ARRAYS, UV_SCRIPT
from ...documents.document import Finding
from ...documents.paths import real_path
from ...documents.wording import printable
from ...errors import MetricFailure
from ...registries.harbor_script import DISTRIBUTION, is_pinned, settings_of
from ...registries.script_file import differs, is_at_home, is_script_by_name
from ..script_texts import ScriptText
from . import ERROR, MAKING, RUNNING, WARNING, Entry, View

_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://|[\w.-]+@[\w.-]+:")
# Whether something lies there is not for those to know who wrote the registry.
_ELSEWHERE = f"Harbor takes what lies there; where nothing lies there, {MAKING}"
# Where in a metric the path of its script stands.
_PATH = ("kwargs", "script_path")


def script_path(view: View) -> Iterator[Finding]:
    """The script of a `uv-script` cannot be found, or lies where a registry may not point.

    A registry names scripts relative to its own folder (Harbor: to the current directory), inside
    it, links resolved, by names that end in `.py`. Absolute paths and URLs belong to one machine or
    to no file at all; a path with a dash in front is taken for an option. In `compute` the metric
    fails, as `script-missing` or `script-outside`.
    """
    for metric, path in _scripts(view):
        wrong = _wrong_path(path, view.folder)
        if wrong:
            message, help_ = wrong
            yield metric.find(
                *_PATH,
                message=message,
                label="this script",
                notes=_of_harbor(path, view.folder),
                help=help_,
            )


def _of_harbor(path: str, folder: str | None) -> tuple[str, ...]:
    """Where Harbor fails by the path of a script that does not run here, if it does."""
    if "\0" in path or _URL.match(path):
        return (MAKING,)
    full = os.path.join(folder or os.getcwd(), path)
    if not all(is_at_home(real_path(p), folder or os.getcwd()) for p in (full, path)):
        return (_ELSEWHERE,)
    if not os.path.exists(full) and not os.path.exists(path):
        return (MAKING,)
    return (RUNNING,) if path.startswith("-") or os.path.isdir(full) else ()


def _wrong_path(path: str, folder: str | None) -> tuple[str, str] | None:
    shown = printable(path)
    if "\0" in path:
        return f"script_path {shown!r} holds a NUL, which no path can", "delete it"
    if _URL.match(path):
        return (
            f"script_path {shown} is a URL; a script is a file",
            "save the script beside the registry, or use `git_url` and `git_commit_id`",
        )
    if os.path.isabs(path) or re.match(r"[A-Za-z]:[\\/]", path):
        return (
            f"script_path {shown} is absolute: it is there on one machine only",
            "keep the script beside the registry and name it relative to that",
        )
    if path.startswith("-"):
        return f"script_path {shown} begins with a dash and is taken for an option", "rename it"
    if folder is None:
        return None
    full = _where(path, folder)
    real = real_path(full)
    if wrong := _wrong_place(real, folder, shown):
        return wrong
    if os.path.isdir(real) or path.endswith("/"):
        return f"script_path {shown} is a directory", "name the file in it"
    if not os.path.isfile(real):
        slashed = path.replace("\\", "/")
        meant = _where(slashed, folder)
        if slashed != path and is_at_home(real_path(meant), folder) and os.path.isfile(meant):
            return (
                f"script {shown} not found: a path has `/` between its parts, not a backslash",
                f'write `"script_path": {json.dumps(slashed)}`',
            )
        return f"script {shown} not found: there is no {full}", "name a file that is there"
    return None


def _wrong_place(real: str, folder: str, shown: str) -> tuple[str, str] | None:
    if not is_at_home(real, folder):
        return (
            f"script_path {shown} leads outside the registry's folder",
            "keep the script inside that folder",
        )
    if not is_script_by_name(real, folder):
        return f"script_path {shown} does not end in .py, as the name of a script must", "rename it"
    return None


def _where(path: str, folder: str) -> str:
    """Beside the registry, or else, by Harbor's own rule, from the current directory.

    Not by what lies elsewhere than in the two.
    """
    beside, here = os.path.join(folder, path), os.path.abspath(path)
    for place, is_there in ((beside, os.path.lexists), (here, os.path.isfile)):
        if is_there(place) and is_at_home(real_path(place), folder):
            return place
    return beside


def script_twice(view: View) -> Iterator[Finding]:
    """Another script of that name, with other contents, lies in the current directory.

    Here the one beside the registry runs, in Harbor the one in the current directory.
    """
    for metric, path, _ in _readable(view):
        if view.scripts.have_other_copy(path, view.path):
            yield metric.find(
                *_PATH,
                severity=WARNING,
                message=f"another {printable(path)}, with other contents, lies in the current "
                "directory",
                label="which one is meant?",
                notes=("Harbor takes the one in the current directory",),
            )


def script_metadata(view: View) -> Iterator[Finding]:
    """A script's PEP 723 block is missing, stands twice, is not closed or is not TOML.

    The block names the Python and the packages that the script needs. Without it a script gets
    the standard library only here, and in Harbor whatever project the current directory is in.
    With a block that cannot be read the metric fails in `compute`.
    """
    for metric, path, script in _readable(view):
        message, severity = "", ERROR
        if script.block is None:
            message, severity = script.without_block
        elif isinstance(script.block, MetricFailure):
            message = str(script.block)
        if message:
            yield metric.find(
                *_PATH,
                severity=severity,
                message=f"{path}: {message}",
                label="this script",
                notes=(RUNNING,) if severity is ERROR else (),
                help="begin it with `# /// script`, `# dependencies = []`, `# ///`",
            )


def script_arguments(view: View) -> Iterator[Finding]:
    """A script does not look at `-i` and `-o`, with which Harbor calls it, or is not Python.

    Read from the text alone, so a script that takes its arguments in an unusual way may be meant
    wrongly: a warning. A text that is not Python is an error.
    """
    for metric, path, script in _readable(view):
        missing = script.untaken
        if isinstance(missing, int):
            line = f"line {missing}: " if missing else ""
            message = f"{path}: {line}the script is not Python"
            yield metric.find(*_PATH, message=message, label="this script", notes=(RUNNING,))
        elif missing:
            yield metric.find(
                *_PATH,
                severity=WARNING,
                message=f"{path}: the script does not seem to take {' and '.join(missing)}",
                label="this script",
                notes=("Harbor calls it with `-i rewards.jsonl -o metric.json`",),
                help='declare them: `parser.add_argument("-i", "--input-path", required=True)`',
            )


def script_pin(view: View) -> Iterator[Finding]:
    """A script is not the one whose digest the metric's `sha256` names.

    The digest stands beside `kwargs`, and Harbor ignores it. `compute` refuses to run a script that
    was changed since: look at what has changed, then let `validate --fix` write the new digest.
    """
    for metric in view.metrics:
        pin = metric.value.get("sha256")
        if not isinstance(pin, str) or view.folder is None:
            continue
        digest = view.scripts.pin(metric.value, view.path)
        if digest is None or not differs(metric.value, digest):
            continue
        path = printable(metric.value["kwargs"]["script_path"])
        whole = re.fullmatch(r"[0-9a-fA-F]{64}", pin)
        yield metric.find(
            "sha256",
            message=f"{path} is not the script that `sha256` names"
            if whole
            else "`sha256` is not a digest of 64 hexadecimal digits",
            label="another digest",
            notes=("`compute` does not run it; Harbor does not look at `sha256`",),
            help=f'if the script is as it should be, write `"sha256": "{digest}"`',
        )


def script_settings(view: View) -> Iterator[Finding]:
    """A script made by `add --for-harbor` asks for metrics in a way that gives none.

    Its `[tool.harbor-metrics]`, in the PEP 723 block, names metrics as `--metric` does, with their
    kwargs. In Harbor such a script answers how many trials there are, and no more; in `compute`
    the metric fails.
    """
    for metric, path, block in _for_harbor(view):
        try:
            settings_of(block)
        except MetricFailure as error:
            yield metric.find(
                *_PATH,
                message=f"{path}: {error}",
                label="this script",
                notes=("Harbor shows `trials` alone for it",),
                help='write `metrics = ["median"]`; `harbor-metrics list` shows all',
            )


def script_unpinned(view: View) -> Iterator[Finding]:
    """A script made by `add --for-harbor` fetches harbor-metrics in whatever version there is.

    Each machine that runs the dataset runs what it fetches, and in Harbor unconfined: the block
    should name one version, or a wheel with its digest.
    """
    for metric, path, block in _for_harbor(view):
        if not is_pinned(block):
            yield metric.find(
                *_PATH,
                severity=WARNING,
                message=f"{path}: the script fetches harbor-metrics without naming one version",
                label="this script",
                notes=("whoever holds that name runs code on every machine that runs this",),
                help='write `"harbor-metrics==VERSION"`, or a wheel with `#sha256=`',
            )


def script_first(view: View) -> Iterator[Finding]:
    """A script made by `add --for-harbor` is the first metric, which Harbor's progress bar shows.

    Until all trials have ended such a script answers how many there are.
    """
    for metric, path, _ in _for_harbor(view):
        if metric.at[-2:] == (ARRAYS[0], 0):
            yield metric.find(
                *_PATH,
                severity=WARNING,
                message=f"{path} is the first metric, and answers `trials` until the end",
                label="first of all",
                notes=("Harbor's progress bar shows the first metric",),
                help='put `{"type": "mean"}` before it',
            )


def _for_harbor(view: View) -> Iterator[tuple[Entry, str, dict[str, Any]]]:
    """Every metric whose script has a `[tool.harbor-metrics]`, with its path and its block."""
    for metric, path, script in _readable(view):
        block = script.block
        tool = block.get("tool") if isinstance(block, dict) else None
        if isinstance(block, dict) and isinstance(tool, dict) and DISTRIBUTION in tool:
            yield metric, path, block


def git_script_commit(view: View) -> Iterator[Finding]:
    """A script in a git repository is not pinned to a full commit, so it may change unseen.

    In `compute` the metric fails; nothing is fetched.
    """
    for metric in view.metrics:
        kwargs = metric.value.get("kwargs")
        git = isinstance(kwargs, dict) and kwargs.get("git_url")
        if metric.value.get("type") != UV_SCRIPT or not isinstance(kwargs, dict) or not git:
            continue
        commit = kwargs.get("git_commit_id")
        if isinstance(commit, str) and _COMMIT.fullmatch(commit):
            continue
        there = "git_commit_id" in kwargs
        yield metric.find(
            "kwargs",
            "git_commit_id" if there else "git_url",
            message="`git_commit_id` of a script must be a full commit of 40 digits"
            if there
            else "a script with `git_url` needs a `git_commit_id`",
            label="not pinned",
            help="write the whole commit: `git rev-parse HEAD`",
        )


def _scripts(view: View) -> Iterator[tuple[Entry, str]]:
    """Every metric whose script is a file, with the file's path as it is written."""
    for metric in view.metrics:
        kwargs = metric.value.get("kwargs")
        if metric.value.get("type") == UV_SCRIPT and isinstance(kwargs, dict):
            path = kwargs.get("script_path")
            if isinstance(path, str) and path and not kwargs.get("git_url"):
                yield metric, path


def _readable(view: View) -> Iterator[tuple[Entry, str, ScriptText]]:
    """Every metric whose script can be read, with its path and what its text says."""
    for metric, path in _scripts(view):
        if view.folder is None or _wrong_path(path, view.folder):
            continue
        script = view.scripts.text(_where(path, view.folder))
        if script.can_be_read:
            yield metric, path, script
