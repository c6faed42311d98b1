"""Mistakes with exactly one right answer, mended through the editor."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..catalogue import names
from ..catalogue.families import metric_names
from ..contract.spec import DEFAULT_TYPE, FIELDS, HARBOR_FIELDS
from ..documents.diagnostics import Severity
from ..documents.document import Document, parse
from ..documents.wording import nearest, printable
from ..errors import MetricFailure
from ..registries import edit
from ..registries.change import Change, apply
from ..registries.edit import Place
from ..registries.script_file import differs, digest_of
from .rules import Entry, Step, View, array
from .rules.fields import DATASET, TASK
from .validation import findings_in

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+')


class Candidate(NamedTuple):
    """A mend that could be made: the text after it, and what it does, in a sentence."""

    dataset: int
    rule: str
    message: str
    text: str


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
            other, slips = parse(text.encode(), document.path)
            if other is None or slips:
                continue
            if _mistakes(other, dataset) < _mistakes(document, dataset):
                document = other
                messages.append(message)
                break
        else:
            return document.text, "\n".join(messages) or "nothing to mend in one way only"


def _mistakes(document: Document, dataset: int) -> tuple[int, int, int]:
    """How many errors, unknown fields and findings a dataset has; a mend makes it less.

    A field with its right name is better even where its value is now seen to be wrong, too.
    """
    findings = findings_in([document.value[dataset]], document.path)
    errors = sum(finding.severity == Severity.ERROR for finding in findings)
    unknown = sum(finding.rule.startswith("unknown-") for finding in findings)
    return errors, unknown, len(findings)


def _candidates(document: Document) -> Iterator[Candidate]:
    """Every mend that could be made, in file order."""
    view = View(document.value, document.path)
    for dataset in view.datasets:
        yield from _renamed(document, dataset, DATASET, "unknown-field")
        for j, task in enumerate(array(dataset, "tasks")):
            if isinstance(task, dict):
                yield from _renamed(document, dataset.part("tasks", j), TASK, "unknown-field")
    for metric in view.metrics:
        yield from _metric(document, metric)


def _renamed(
    document: Document, entry: Entry, known: tuple[str, ...], rule: str
) -> Iterator[Candidate]:
    absent = [field for field in known if field not in entry.value]
    unknown = sorted(entry.value.keys() - set(known))
    near_to = {field: nearest(field, absent, most=2, cutoff=0.7) for field in unknown}
    for field, near in near_to.items():
        if len(near) == 1 and list(near_to.values()).count(near) == 1:
            start, end = document.offsets((*entry.at, field), key=True)
            text = document.text
            after = f"{text[:start]}{json.dumps(near[0])}{text[end:]}"
            yield Candidate(
                int(entry.at[0]), rule, f"renamed `{printable(field)}` to `{near[0]}`", after
            )


def _metric(document: Document, metric: Entry) -> Iterator[Candidate]:
    yield from _renamed(document, metric, HARBOR_FIELDS, "unknown-metric-field")
    entry, at = metric.value, metric.at
    place = Place(int(at[0]), str(at[1]), int(at[2]))
    type_ = entry.get("type")
    if isinstance(type_, str) and not names.known(type_):
        plain = type_.lower().replace("_", "-")
        if plain in metric_names():
            after = _with_value(document, (*at, "type"), plain)
            message = f"wrote `{plain}` for `{printable(type_)}`"
            yield Candidate(place.dataset, "unknown-metric-type", message, after)
    beside = {k: v for k, v in entry.items() if k not in FIELDS}
    kwargs = entry.get("kwargs", {})
    if beside and isinstance(kwargs, dict) and not beside.keys() & kwargs.keys():
        kept = {k: v for k, v in entry.items() if k not in (*beside, "kwargs")}
        whole = {**kept, "kwargs": {**kwargs, **beside}}
        after = edit.with_entry(document, place, whole)
        if _fits(whole) and _keeps_spelling(document, at, after):
            moved = ", ".join(f"`{printable(k)}`" for k in beside)
            yield Candidate(
                place.dataset, "misplaced-kwargs", f"moved {moved} into `kwargs`", after
            )
    if "sha256" in entry:
        digest = digest_of(entry, document.path)
        if digest is not None and differs(entry, digest):
            after = _with_value(document, (*at, "sha256"), digest)
            message = f"wrote the sha256 of {printable(entry['kwargs']['script_path'])}"
            yield Candidate(place.dataset, "script-pin", message, after)
    entries = document.value[place.dataset][place.field]
    if entry in entries[: place.index]:
        twin = entries.index(entry)
        if json.dumps(entries[twin]) == json.dumps(entry):
            after = edit.without_metric(document, place)
            yield Candidate(
                place.dataset, "duplicate-metric", f"removed a second {json.dumps(entry)}", after
            )


def _with_value(document: Document, at: tuple[Step, ...], value: str) -> str:
    start, end = document.offsets(at)
    return f"{document.text[:start]}{json.dumps(value)}{document.text[end:]}"


def _fits(entry: dict[str, Any]) -> bool:
    try:
        names.check(entry.get("type", DEFAULT_TYPE), entry["kwargs"])
    except MetricFailure:
        return False
    return True


def _keeps_spelling(document: Document, at: tuple[Step, ...], after: str) -> bool:
    """Whether every number and string of the entry is written after as it was before."""
    start, end = document.offsets(at)
    before = Counter(_TOKEN.findall(document.text[start:end]))
    stop = end + len(after) - len(document.text)
    return not before - Counter(_TOKEN.findall(after[start:stop]))
