"""Rewards as evsys hands them to its metrics: `[[reward, …], …]`, a list of samples a task.

Three shapes: the bare array, whose tasks are named by their place, `task:1`, `task:2`, …; an
object of task name -> samples; and `{"task_rewards": [[…], …], "tasks": ["name", …]}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ..documents.document import Document, Finding, parse
from ..documents.places import Steps
from ..documents.wording import article, listed, printable
from ..errors import InputError
from ..trials.check import check_name
from ..trials.source import Source
from ..trials.trial import NO_GROUP, Trial
from .files import lenient
from .files.file import File
from .reading import Options, Reading
from .recognition import FITS, Fit, Head, document_of

_REWARDS, _NAMES = "task_rewards", ("tasks", "task_names", "task_ids")
_KEY = "reward"
_BEGINS = re.compile(rb"\s*\[\s*\[\s*(?:-?[0-9]|null|NaN|\])")


def fit(head: Head) -> Fit:
    """An array of arrays, or an object of arrays, of numbers."""
    if head.is_array and not isinstance(head.line, dict):
        value = document_of(head)
        if value is None:
            begins = _BEGINS.match(head.data) is not None
            return FITS if begins else Fit(0.3, "it does not begin with an array of rewards")
        if value and all(isinstance(samples, list) for samples in value):
            return FITS
        if not value:
            return Fit(0.6, "the array is empty")
        return Fit(0.5, f"an item of the array is {_item(value)}, not an array of a task's rewards")
    value = head.members
    if _REWARDS in value:
        return FITS
    lists = [v for v in value.values() if isinstance(v, list)]
    numbers = all(type(v) in (int, float, bool, type(None)) for samples in lists for v in samples)
    if lists and len(lists) == len(value) and numbers and value.keys() != {_KEY}:
        return FITS
    return Fit(
        0.4 * len(lists) / max(len(value), 1),
        "it is no array of arrays of rewards, `[[1.0, 0.0], …]`",
    )


def _item(value: list[Any]) -> str:
    return next(article(item) for item in value if not isinstance(item, list))


def read(file: File, _options: Options) -> list[Source]:
    """One source; sample i of a task is its attempt i."""
    reading = Reading(file)
    document = _document(reading)
    empty: list[str] = []
    wrong: list[Finding] = []
    for task, samples, path in _tasks(document):
        check_name(task, "task", file.path)
        if not samples:
            empty.append(task)
        for attempt, reward in enumerate(samples, 1):
            if reward is None or type(reward) in (int, float):
                rewards = None if reward is None else {_KEY: reward}
                reading.trials.append(Trial(task=task, rewards=rewards, attempt=attempt))
            else:
                wrong.append(_wrong((*path, attempt - 1), task, attempt, reward))
    reading.n_unread = len(wrong)
    reading.diagnostics += document.resolve(wrong)
    if empty:
        reading.note(
            rule="task-without-rewards",
            message=f"{file.path}: {len(empty)} tasks have no rewards and are left out: "
            f"{listed(empty, counted=False)}",
            advice="write null for a sample without a reward",
        )
    by_place = _names_no_task(document.value)
    return [reading.source(unread=[NO_GROUP] * reading.n_unread, by_place=by_place)]


def _names_no_task(value: Any) -> bool:
    if isinstance(value, dict):
        names = next((value[name] for name in _NAMES if name in value), None)
        return isinstance(value.get(_REWARDS), list) and names is None
    return isinstance(value, list)


def _document(reading: Reading) -> Document:
    """The JSON of a file; numbers that are not finite are marked as `lenient` marks them.

    Raises:
        InputError: the file holds something else.
    """
    document, slips = parse(reading.content(), reading.path)
    if document is None or any(slip.rule == "json-syntax" for slip in slips):
        line = slips[0].span.line if slips[0].span else 1
        raise InputError(f"{reading.path} is not JSON: line {line}: {slips[0].message}")
    # What is said of each with its task need not be said here.
    reading.diagnostics += [slip for slip in slips if slip.rule != "non-finite-number"]
    if len(reading.diagnostics) < len(slips):
        return msgspec.structs.replace(document, value=lenient.decode(document.data, Any))
    return document


def _tasks(document: Document) -> Iterator[tuple[str, list[Any], list[str | int]]]:
    """Name, samples and place of each task."""
    value = document.value
    where: list[str | int] = []
    names: Any = None
    if isinstance(value, dict) and _REWARDS in value:
        said = [value[name] for name in _NAMES if name in value]
        if any(other != said[0] for other in said):
            both = " and ".join(f"`{name}`" for name in _NAMES if name in value)
            raise InputError(f"{document.path} names its tasks twice, in {both}, and otherwise")
        names = said[0] if said else None
        where = [_REWARDS]
        value = value[_REWARDS]
    if isinstance(value, dict):
        pairs: list[tuple[Any, Any, str | int]] = [(k, v, k) for k, v in value.items()]
    elif isinstance(value, list):
        if names is None:
            names = [f"task:{number}" for number in range(1, len(value) + 1)]
        if not isinstance(names, list) or len(names) != len(value):
            given = len(names) if isinstance(names, list) else article(names)
            raise InputError(
                f"{document.path} has rewards of {len(value)} tasks, and names of {given}"
            )
        pairs = [(name, samples, i) for i, (name, samples) in enumerate(zip(names, value))]  # noqa: B905
    else:
        raise InputError(
            f"{document.path}: rewards come as an array of arrays, not {article(value)}"
        )
    seen: dict[str, int] = {}
    for name, samples, step in pairs:
        task = str(name)
        if task in seen:
            raise InputError(f"{document.path} has two tasks named {printable(task)}")
        seen[task] = 1
        if not isinstance(samples, list):
            raise InputError(
                f"{document.path}: the rewards of task {printable(task)} must be an array, "
                f"not {article(samples)}"
            )
        yield task, samples, [*where, step]


def _wrong(path: Steps, task: str, attempt: int, reward: Any) -> Finding:
    reward_in_words = lenient.constant(reward) or article(reward)
    return Finding(
        path,
        rule="invalid-reward",
        message=f"reward {attempt} of task {printable(task)} must be a finite number or null, "
        f"not {reward_in_words}",
        label="no reward",
        notes=("NaN does not pass in evsys, and makes its mean NaN",)
        if reward_in_words == "NaN"
        else (),
        help="write null where there is no reward",
    )
