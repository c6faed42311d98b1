"""Mistakes with exactly one right answer, mended through the editor."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

from . import catalogue, edit
from .change import Change, apply
from .diagnostics import Severity
from .document import Document, parse
from .edit import Place
from .metric import names
from .rules import View, tasks
from .rules.fields import DATASET, TASK
from .signature import SpecError
from .syntax import printable
from .validation import findings_in

Step = str | int
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+')


Candidate = tuple[int, str, str, str]


def fix(path: str, wanted: Callable[[str], bool] = lambda _: True) -> Change:
    """Mend what can be mended in one way only, each mend checked to leave fewer mistakes.

    `wanted` tells of a rule whether its findings are to be mended.

    Raises:
        EditError: the registry has mistakes of syntax; nothing was written.
    """
    return apply(path, lambda document: _mended(document, wanted))


def _mended(document: Document, wanted: Callable[[str], bool]) -> tuple[str, str]:
    messages: list[str] = []
    if not isinstance(document.value, list):
        return document.text, "not a registry"
    while True:
        for dataset, rule, message, text in _candidates(document):
            if not wanted(rule):
                continue
            other, found = parse(text.encode(), document.path)
            if other is None or found:
                continue
            if _mistakes(other, dataset) < _mistakes(document, dataset):
                document = other
                messages.append(message)
                break
        else:
            return document.text, "\n".join(messages) or "nothing to mend in one way only"


def _mistakes(document: Document, dataset: int) -> tuple[int, int, int]:
    """Errors, unknown fields, findings in a dataset: a mend lowers this, or it is none.

    A field with its right name is better even where its value is now seen to be wrong, too.
    """
    found = [f.what for f in findings_in([document.value[dataset]], document.path)]
    errors = sum(what.get("severity", "error") == Severity.ERROR for what in found)
    return errors, sum(what["rule"].startswith("unknown-") for what in found), len(found)


def _candidates(document: Document) -> Iterator[Candidate]:
    """Dataset, rule, a sentence and the text after, of each mend that could be made."""
    view = View(document.value, document.path)
    for i, dataset in view.datasets:
        yield from _renamed(document, (i,), dataset, DATASET, "unknown-field")
        for j, task in enumerate(tasks(dataset)):
            if isinstance(task, dict):
                yield from _renamed(document, (i, "tasks", j), task, TASK, "unknown-field")
    for at, entry, _ in view.metrics():
        yield from _metric(document, Place(int(at[0]), str(at[1]), int(at[2])), entry)


def _renamed(
    document: Document,
    at: tuple[Step, ...],
    entry: dict[str, Any],
    known: tuple[str, ...],
    rule: str,
) -> Iterator[Candidate]:
    absent = [field for field in known if field not in entry]
    unknown = sorted(entry.keys() - set(known))
    near_to = {f: get_close_matches(f.lower(), absent, n=2, cutoff=0.7) for f in unknown}
    for field, near in near_to.items():
        if len(near) == 1 and list(near_to.values()).count(near) == 1:
            start, end = document.offsets((*at, field), key=True)
            text = document.text
            after = f"{text[:start]}{json.dumps(near[0])}{text[end:]}"
            yield int(at[0]), rule, f"renamed `{printable(field)}` to `{near[0]}`", after


def _metric(document: Document, place: Place, entry: dict[str, Any]) -> Iterator[Candidate]:
    at = (place.dataset, place.field, place.index)
    yield from _renamed(document, at, entry, ("type", "kwargs"), "unknown-metric-field")
    type_ = entry.get("type")
    if isinstance(type_, str) and not catalogue.known(type_):
        plain = type_.lower().replace("_", "-")
        if plain in names():
            after = _with_value(document, (*at, "type"), plain)
            message = f"wrote `{plain}` for `{printable(type_)}`"
            yield place.dataset, "unknown-metric-type", message, after
    beside = {k: v for k, v in entry.items() if k not in ("type", "kwargs", "sha256")}
    kwargs = entry.get("kwargs", {})
    if beside and isinstance(kwargs, dict) and not beside.keys() & kwargs.keys():
        kept = {k: v for k, v in entry.items() if k in ("type", "sha256")}
        fixed = {**kept, "kwargs": {**kwargs, **beside}}
        after = edit.with_entry(document, place, fixed)
        if _fits(fixed) and _keeps_spelling(document, at, after):
            moved = ", ".join(f"`{printable(k)}`" for k in beside)
            yield place.dataset, "misplaced-kwargs", f"moved {moved} into `kwargs`", after
    if "sha256" in entry:
        from .scripts.pins import differs, digest_of

        digest = digest_of(entry, document.path)
        if digest is not None and differs(entry, digest):
            after = _with_value(document, (*at, "sha256"), digest)
            message = f"wrote the sha256 of {printable(entry['kwargs']['script_path'])}"
            yield place.dataset, "script-pin", message, after
    entries = document.value[place.dataset][place.field]
    if entry in entries[: place.index]:
        twin = entries.index(entry)
        if json.dumps(entries[twin]) == json.dumps(entry):
            after = edit.without_metric(document, place)
            yield place.dataset, "duplicate-metric", f"removed a second {json.dumps(entry)}", after


def _with_value(document: Document, at: tuple[Step, ...], value: str) -> str:
    start, end = document.offsets(at)
    return f"{document.text[:start]}{json.dumps(value)}{document.text[end:]}"


def _fits(entry: dict[str, Any]) -> bool:
    try:
        catalogue.check(entry.get("type", "mean"), entry["kwargs"])
    except SpecError:
        return False
    return True


def _keeps_spelling(document: Document, at: tuple[int, str, int], after: str) -> bool:
    """Whether every number and string of the entry is written after as it was before."""
    start, end = document.offsets(at)
    before = Counter(_TOKEN.findall(document.text[start:end]))
    stop = end + len(after) - len(document.text)
    return not before - Counter(_TOKEN.findall(after[start:stop]))
