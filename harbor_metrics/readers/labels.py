"""A file that gives labels to tasks: JSON, JSONL or CSV."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Mapping
from typing import Any

from ..documents.document import parse
from ..documents.files import read_bytes
from ..errors import InputError
from ..trials.labels import OF_READERS, Labels
from ..trials.trial import Label

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
            if name.startswith(OF_READERS):
                raise InputError(
                    f"{path}: {where}: label `{name}` of task {task} is one that only readers of "
                    "logs give",
                    "give the label another name",
                )
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
    document, slips = parse(data, path)
    if document is not None and not slips:
        value = document.value
        if isinstance(value, dict) and not isinstance(value.get("task"), str):
            return _by_task(value, path)
        entries = value if isinstance(value, list) else [value]
        where = "entry" if isinstance(value, list) else "line"
        start = 0 if isinstance(value, list) else 1
        return [_row(f"{where} {i}", entry, path) for i, entry in enumerate(entries, start)]
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith(b"{") for _, line in lines):
        raise InputError(f"{path} is not a labels file: {slips[0].message}", _HELP)
    rows = []
    for number, line in lines:
        document, slips = parse(line, path, first_line=number)
        if document is None or slips:
            raise InputError(f"{path}: line {number}: {slips[0].message}", _HELP)
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
    # For weight: labels may be JSON.
    import csv

    from .rows import label, read_rows, refusal

    rows: list[tuple[str, str, dict[str, Any]]] = []
    try:
        stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        names, placed = read_rows(stream, path)
        if "task" not in names:
            raise InputError(f"{path} has no column `task`", _HELP)
        for place, row in placed:
            where = f"line {place.line}"
            if len(row) != len(names):
                raise InputError(f"{path}: {where}: not {len(names)} cells, as the heading has")
            cells = dict(zip(names, row, strict=True))
            task = cells.pop("task")
            if not task.strip():
                raise InputError(f"{path}: {where}: no name of a task")
            rows.append((where, task, {k: label(v) for k, v in cells.items() if v.strip()}))
    except (csv.Error, UnicodeDecodeError) as error:
        raise refusal(path, error) from error
    return rows
