"""The options of the plugin, as `--pk NAME=VALUE` gives them to Harbor."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import msgspec

from ..computation.request import LEVEL
from ..documents.files import check_writable
from ..documents.paths import real_path
from ..documents.wording import listed, shown
from ..errors import HarborMetricsError, UsageError
from ..evaluation.asked import plan_asked
from ..registries.registry import Registries
from ..trials.snapshot import SNAPSHOT
from ..trials.table import Missing

# Documents of the job itself, which its own result must not replace.
_OF_THE_JOB = ("config.json", "lock.json", "result.json", SNAPSHOT)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of a job when it ends; the names are those of `compute`.

    `document` is where the result document goes: by default into the job's folder.
    """

    metrics: tuple[str, ...] = ()
    missing: Missing | None = None
    level: float | None = LEVEL
    registry: tuple[str, ...] = ()
    require_complete: bool = False
    document: str | None = None
    quiet: bool = False


def options_of(given: Mapping[str, Any]) -> Options:
    """The options, each checked as far as it can be before there is a trial.

    Raises:
        UsageError: one is unknown or wrong; the message names it as it was written.
    """
    known = Options.__struct_fields__
    for name in given:
        if name not in known:
            raise UsageError(f"--pk {name}: there is no such option; there are {listed(known, 9)}")
    values: dict[str, Any] = {name: _CHECKS[name](name, value) for name, value in given.items()}
    return Options(**values)


def _wrong(name: str, value: Any, right: str) -> UsageError:
    return UsageError(f"--pk {name}={shown(value)}: write {right}")


def _metrics(name: str, value: Any) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    if not all(isinstance(entry, str | dict) for entry in entries):
        raise _wrong(name, value, 'a type, {"type": …, "kwargs": …}, or a list of these')
    metrics = tuple(each if isinstance(each, str) else json.dumps(each) for each in entries)
    for metric in metrics:
        try:
            plan_asked(metric)
        except HarborMetricsError as error:
            raise UsageError(f"--pk {name}: {str(error).removeprefix('--metric ')}") from error
    return metrics


def _missing(name: str, value: Any) -> Missing | None:
    if value not in (None, *get_args(Missing)):
        raise _wrong(name, value, listed(get_args(Missing)))
    missing: Missing | None = value
    return missing


def _level(name: str, value: Any) -> float | None:
    if value in (None, "off"):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise _wrong(name, value, "a number between 0 and 1, or off")
    return float(value)


def _registry(name: str, value: Any) -> tuple[str, ...]:
    paths = value if isinstance(value, list) else [value]
    if not all(isinstance(path, str) for path in paths):
        raise _wrong(name, value, "a path, or a list of paths")
    try:
        Registries(paths).all_given()
    except HarborMetricsError as error:
        raise UsageError(f"--pk {name}: {error}") from error
    return tuple(paths)


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def _document(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(name, value, "the path of a file")
    try:
        check_writable(value)
    except HarborMetricsError as error:
        raise UsageError(f"--pk {name}: {error}") from error
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "metrics": _metrics,
    "missing": _missing,
    "level": _level,
    "registry": _registry,
    "require_complete": _switch,
    "document": _document,
    "quiet": _switch,
}


def refuse_overwriting(options: Options, job: str) -> None:
    """Refuse a document that would replace what the result is computed from.

    Raises:
        UsageError: it is a document of the job, or a registry.
    """
    if options.document is None:
        return
    target = real_path(options.document)
    inputs: Sequence[str] = [*options.registry, *(f"{job}/{name}" for name in _OF_THE_JOB)]
    for path in inputs:
        if target == real_path(path):
            raise UsageError(f"--pk document={options.document} is {path}, which would be read")
