"""Labels of tasks from elsewhere: a labels file, or the registry; joined to trials by task name."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from .document import parse, read_bytes
from .errors import InputError
from .table import Table
from .trial import Label

# Task -> name of a label -> its value.
Labels = Mapping[str, Mapping[str, Label]]
_HELP = (
    'JSON: {"task-1": {"category": "math"}, …} or [{"task": "task-1", "category": "math"}, …]; '
    "JSONL: one such object a line; CSV: a heading with `task`"
)


def read(path: str) -> Labels:
    """The labels that a JSON, JSONL or CSV file gives to tasks.

    Raises:
        InputError: it cannot be read, or has two rows for one task.
    """
    data = read_bytes(path).removeprefix(codecs.BOM_UTF8)
    start = data.lstrip()[:1]
    rows = _json(data, path) if start in (b"{", b"[") else _csv(data, path)
    labels: dict[str, Mapping[str, Label]] = {}
    for where, task, row in rows:
        if task in labels:
            raise InputError(f"{path}: {where}: a second row for task {task}")
        for name, value in row.items():
            if not isinstance(value, str | int | float | bool | None):
                raise InputError(
                    f"{path}: {where}: label `{name}` of task {task} is no string, number, "
                    "boolean or null"
                )
        labels[task] = row
    if not labels:
        raise InputError(f"{path} has no labels", _HELP)
    return labels


def _json(data: bytes, path: str) -> Iterable[tuple[str, str, dict[str, Any]]]:
    document, found = parse(data, path)
    if document is not None and not found:
        value = document.value
        if isinstance(value, dict) and not isinstance(value.get("task"), str):
            return _by_task(value, path)
        entries = value if isinstance(value, list) else [value]
        where = "entry" if isinstance(value, list) else "line"
        start = 0 if isinstance(value, list) else 1
        return [_row(f"{where} {i}", entry, path) for i, entry in enumerate(entries, start)]
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith(b"{") for _, line in lines):
        raise InputError(f"{path} is not a labels file: {found[0].message}", _HELP)
    rows = []
    for number, line in lines:
        document, found = parse(line, path, first_line=number)
        if document is None or found:
            raise InputError(f"{path}: line {number}: {found[0].message}", _HELP)
        rows.append(_row(f"line {number}", document.value, path))
    return rows


def _by_task(value: dict[str, Any], path: str) -> list[tuple[str, str, dict[str, Any]]]:
    for task, row in value.items():
        if not isinstance(row, dict):
            raise InputError(f"{path}: the labels of task {task} are no object", _HELP)
    return [(f"task {task}", task, row) for task, row in value.items()]


def _row(where: str, entry: Any, path: str) -> tuple[str, str, dict[str, Any]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("task"), str):
        raise InputError(f"{path}: {where}: an object with a `task` is needed", _HELP)
    return where, entry["task"], {k: v for k, v in entry.items() if k != "task"}


def _csv(data: bytes, path: str) -> Iterable[tuple[str, str, dict[str, Any]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 at byte {error.start}") from error
    import csv

    csv.field_size_limit(len(text) + 1)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = reader.fieldnames or []
    if "task" not in names:
        raise InputError(f"{path} has no column `task`", _HELP)
    if len(set(names)) < len(names):
        raise InputError(f"{path} has two columns of one name")
    rows: list[tuple[str, str, dict[str, Any]]] = []
    for row in reader:
        where = f"line {reader.line_num}"
        if None in row or None in row.values():
            raise InputError(f"{path}: {where}: not {len(names)} cells, as the heading has")
        rows.append((where, row["task"], {k: v for k, v in row.items() if k != "task"}))
    return rows


def of_tasks(tasks: Iterable[Any]) -> Labels:
    """The scalars in the `metadata` of a registry's tasks; those inside objects by dotted names."""
    labels: dict[str, Mapping[str, Label]] = {}
    for task in tasks:
        if isinstance(task, dict) and isinstance(task.get("metadata"), dict):
            labels[str(task.get("name"))] = dict(_flat(task["metadata"], ""))
    return labels


def _flat(value: dict[str, Any], prefix: str) -> Iterable[tuple[str, Label]]:
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _flat(each, f"{prefix}{name}.")
        elif isinstance(each, str | int | float | bool | None):
            yield f"{prefix}{name}", each


def joined(table: Table, labels: Labels, *, path: str | None = None) -> Table:
    """The trials with these labels, too; a trial's own stay.

    Raises:
        InputError: a label of the file at `path` is not the one that a trial has.
    """
    if not labels.keys() & set(table.tasks):
        return table
    trials = []
    for trial in table:
        more = labels.get(trial.task, {})
        for name in more.keys() & trial.labels.keys() if path else ():
            if more[name] != trial.labels[name]:
                raise InputError(
                    f"{path}: label `{name}` of task {trial.task} is {more[name]!r}, "
                    f"and its trials say {trial.labels[name]!r}"
                )
        trials.append(msgspec.structs.replace(trial, labels={**more, **trial.labels}))
    return Table(trials)
