"""Mistakes with exactly one right answer, mended through the editor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from . import edit
from .change import Change, apply
from .diagnostics import Severity
from .document import Document, parse
from .edit import EditError, Place
from .metric import names
from .rules import View, tasks
from .rules.fields import DATASET, TASK
from .syntax import printable
from .validation import validate_document

Step = str | int


def fix(path: str) -> Change:
    """Mend what can be mended in one way only, each mend checked to leave fewer mistakes.

    Raises:
        EditError: the registry has mistakes of syntax; nothing was written.
    """
    return apply(path, _mended)


def _mended(document: Document) -> tuple[str, str]:
    messages: list[str] = []
    if not isinstance(document.value, list):
        return document.text, "not a registry"
    while True:
        before = _mistakes(document)
        for message, text in _candidates(document):
            other, found = parse(text.encode(), document.path)
            if other is not None and not found and _mistakes(other) < before:
                document = other
                messages.append(message)
                break
        else:
            return document.text, "\n".join(messages) or "nothing to mend in one way only"


def _mistakes(document: Document) -> tuple[int, int, int]:
    """Errors, unknown fields, findings: a mend lowers this, or it is none.

    A field with its right name is better even where its value is now seen to be wrong, too.
    """
    found = validate_document(document)
    errors = sum(d.severity == Severity.ERROR for d in found)
    return errors, sum(d.rule.startswith("unknown-") for d in found), len(found)


def _candidates(document: Document) -> Iterator[tuple[str, str]]:
    """A sentence and the text after each mend that could be made."""
    view = View(document.value, document.path)
    for i, dataset in view.datasets:
        yield from _renamed(document, (i,), dataset, DATASET)
        for j, task in enumerate(tasks(dataset)):
            if isinstance(task, dict):
                yield from _renamed(document, (i, "tasks", j), task, TASK)
    for at, entry, _ in view.metrics():
        yield from _metric(document, Place(int(at[0]), str(at[1]), int(at[2])), entry)


def _renamed(
    document: Document, at: tuple[Step, ...], entry: dict[str, Any], known: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    absent = [field for field in known if field not in entry]
    for field in sorted(entry.keys() - set(known)):
        near = get_close_matches(field.lower(), absent, n=2, cutoff=0.7)
        if len(near) == 1:
            start, end = document.offsets((*at, field), key=True)
            text = document.text
            after = f"{text[:start]}{json.dumps(near[0])}{text[end:]}"
            yield f"renamed `{printable(field)}` to `{near[0]}`", after


def _metric(document: Document, place: Place, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    at = (place.dataset, place.field, place.index)
    yield from _renamed(document, at, entry, ("type", "kwargs"))
    type_ = entry.get("type")
    if isinstance(type_, str) and type_ not in names():
        plain = type_.lower().replace("_", "-")
        if plain in names():
            start, end = document.offsets((*at, "type"))
            text = document.text
            after = f"{text[:start]}{json.dumps(plain)}{text[end:]}"
            yield f"wrote `{plain}` for `{printable(type_)}`", after
    beside = {k: v for k, v in entry.items() if k not in ("type", "kwargs", "sha256")}
    kwargs = entry.get("kwargs", {})
    if beside and isinstance(kwargs, dict) and not beside.keys() & kwargs.keys():
        kept = {k: v for k, v in entry.items() if k in ("type", "sha256")}
        fixed = {**kept, "kwargs": {**kwargs, **beside}}
        moved = ", ".join(f"`{printable(k)}`" for k in beside)
        yield f"moved {moved} into `kwargs`", edit.with_entry(document, place, fixed)
    entries = document.value[place.dataset][place.field]
    if edit.same_metrics(entries[: place.index], entry):
        try:
            yield f"removed a second {json.dumps(entry)}", edit.without_metric(document, place)
        except EditError:
            return
