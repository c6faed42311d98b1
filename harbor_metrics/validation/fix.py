"""Mistakes with exactly one right answer, mended in three passes over a registry.

First the fields of datasets, then tasks and metrics, each by itself, then repeated metrics. An
entry is looked at alone, so that many mends cost no more for each than one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from ..catalogue import names
from ..catalogue.families import metric_names
from ..contract.spec import DEFAULT_TYPE, FIELDS, HARBOR_FIELDS
from ..documents.diagnostics import Severity
from ..documents.document import Document, parse
from ..documents.paths import check_stays
from ..documents.places import Extent, Path, find_places
from ..documents.wording import nearest, printable
from ..errors import MetricFailure
from ..registries import edit
from ..registries.change import Change, apply
from ..registries.registry import DATASET
from ..registries.script_file import differs
from .rules import Entry, View, array
from .rules.fields import TASK
from .script_texts import Scripts
from .validation import findings_in

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[-+.\w]+')
Wanted = Callable[[str], bool]


class Mend(NamedTuple):
    """A mend that could be made: its rule, what it does, and the text of the entry after it."""

    rule: str
    message: str
    text: str


class Cut(NamedTuple):
    """What to write instead of a stretch of a text."""

    start: int
    end: int
    text: str


def fix(path: str, wanted: Wanted = lambda _: True) -> Change:
    """Mend what can be mended in one way only, each mend checked to leave fewer mistakes.

    `wanted` tells of a rule whether its findings are to be mended.

    Raises:
        EditError: the registry has mistakes of syntax; nothing was written.
        InputError: it is a link to somewhere else.
    """
    check_stays(path)
    return apply(path, lambda document: _mended(document, wanted))


def _mended(document: Document, wanted: Wanted) -> tuple[str, str]:
    messages: list[str] = []
    if not isinstance(document.value, list):
        return document.text, "not a registry"
    scripts = Scripts()
    document = _with_cuts(document, list(_mend_fields(document, wanted, messages, scripts)))
    document = _with_cuts(document, list(_mend_entries(document, wanted, messages, scripts)))
    document = _with_cuts(document, list(_remove_repeated(document, wanted, messages)))
    return document.text, "\n".join(messages) or "nothing to mend in one way only"


def _with_cuts(document: Document, cuts: list[Cut]) -> Document:
    """The document with stretches of its text replaced, which do not overlap."""
    parts, last = [], 0
    for cut in sorted(cuts):
        parts += [document.text[last : cut.start], cut.text]
        last = cut.end
    after, slips = parse("".join([*parts, document.text[last:]]).encode(), document.path)
    if after is None or slips:
        raise edit.EditError("the mends would damage the registry, and were not made")
    return after


def _mistakes(dataset: dict[str, Any], path: str, scripts: Scripts) -> tuple[int, int, int]:
    """How many errors, unknown fields and findings a dataset has; a mend makes it less.

    A field with its right name is better even where its value is now seen to be wrong, too.
    """
    findings = findings_in([dataset], path, scripts)
    # What only Harbor refuses has a place of its own to go to, and is said after the mend, too.
    ours = [finding for finding in findings if finding.rule != "not-in-harbor"]
    errors = sum(finding.severity == Severity.ERROR for finding in ours)
    unknown = sum(finding.rule.startswith("unknown-") for finding in findings)
    return errors, unknown, len(findings)


def _misspelt(value: dict[str, Any], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each unknown field that looks like one absent field only, which no other looks like."""
    absent = [field for field in known if field not in value]
    unknown = sorted(value.keys() - set(known))
    near_to = {field: nearest(field, absent, most=2, cutoff=0.7) for field in unknown}
    times = Counter(near[0] for near in near_to.values() if near)
    for field, near in near_to.items():
        if len(near) == 1 and times[near[0]] == 1:
            yield field, near[0]


def _renamed(field: str, near: str) -> str:
    return f"renamed `{printable(field)}` to `{near}`"


def _mend_fields(
    document: Document, wanted: Wanted, messages: list[str], scripts: Scripts
) -> Iterator[Cut]:
    """Rename the fields of datasets."""
    if not wanted("unknown-field"):
        return
    names_of: dict[Path, str] = {}
    for dataset in View(document.value, document.path).datasets:
        value = dataset.value
        for field, near in _misspelt(value, DATASET):
            after = {near if name == field else name: part for name, part in value.items()}
            before = _mistakes(value, document.path, scripts)
            if _mistakes(after, document.path, scripts) < before:
                value = after
                names_of[*dataset.at, field] = near
                messages.append(_renamed(field, near))
    for path, place in find_places(document.text, map(tuple, names_of)).items():
        if path in names_of:
            assert place.key is not None
            yield Cut(*place.key, json.dumps(names_of[path]))


def _mend_entries(
    document: Document, wanted: Wanted, messages: list[str], scripts: Scripts
) -> Iterator[Cut]:
    """Mend each task and each metric as long as there is something to mend."""
    view = View(document.value, document.path)
    tasks = [
        dataset.part("tasks", j)
        for dataset in view.datasets
        for j, task in enumerate(array(dataset, "tasks"))
        if isinstance(task, dict) and not task.keys() <= set(TASK)
    ]
    entries = [*tasks, *view.metrics]
    places = find_places(document.text, (entry.at for entry in entries))
    style = edit.Style.of(document.text)
    for entry in entries:
        place = places[entry.at]
        mending = _Mending(document, entry, place, style, scripts)
        messages += [mend.message for mend in mending.mends(wanted)]
        if mending.text != document.text[place.start : place.end]:
            yield Cut(place.start, place.end, mending.text)


class _Mending:
    """An entry as it is mended: its text and its value."""

    def __init__(
        self,
        document: Document,
        entry: Entry,
        place: Extent,
        style: edit.Style,
        scripts: Scripts,
    ) -> None:
        self.document = document
        self.scripts = scripts
        self.at = entry.at
        self.place = place
        self.style = style
        self.value = entry.value
        self.text = document.text[place.start : place.end]

    def mends(self, wanted: Wanted) -> Iterator[Mend]:
        """Make one mend after the other while each leaves fewer mistakes."""
        candidates = _task if self.at[1] == "tasks" else _metric
        before: tuple[int, int, int] | None = None
        while True:
            for mend in candidates(self):
                if not wanted(mend.rule):
                    continue
                other, slips = parse(mend.text.encode(), "")
                if other is None or slips:
                    continue
                before = before or self._mistakes(self.value)
                after = self._mistakes(other.value)
                if after < before:
                    self.text, self.value, before = mend.text, other.value, after
                    yield mend
                    break
            else:
                return

    def _mistakes(self, value: Any) -> tuple[int, int, int]:
        """Those of a dataset that has this task or metric, and no other mistakes."""
        alone = {"name": "", "version": "", str(self.at[1]): [value]}
        return _mistakes(alone, self.document.path, self.scripts)

    def with_key(self, field: str, name: str) -> str:
        """The text with another name for a field."""
        key = find_places(self.text, [(field,)])[field,].key
        assert key is not None
        return f"{self.text[: key[0]]}{json.dumps(name)}{self.text[key[1] :]}"

    def with_value(self, field: str, value: str) -> str:
        """The text with another value of a field."""
        place = find_places(self.text, [(field,)])[field,]
        return f"{self.text[: place.start]}{json.dumps(value)}{self.text[place.end :]}"


def _task(mending: _Mending) -> Iterator[Mend]:
    for field, near in _misspelt(mending.value, TASK):
        yield Mend("unknown-field", _renamed(field, near), mending.with_key(field, near))


def _metric(mending: _Mending) -> Iterator[Mend]:
    entry = mending.value
    for field, near in _misspelt(entry, HARBOR_FIELDS):
        yield Mend("unknown-metric-field", _renamed(field, near), mending.with_key(field, near))
    type_ = entry.get("type")
    if isinstance(type_, str) and not names.known(type_):
        plain = type_.lower().replace("_", "-")
        if plain in metric_names():
            message = f"wrote `{plain}` for `{printable(type_)}`"
            yield Mend("unknown-metric-type", message, mending.with_value("type", plain))
    beside = {k: v for k, v in entry.items() if k not in FIELDS}
    kwargs = entry.get("kwargs", {})
    if beside and isinstance(kwargs, dict) and not beside.keys() & kwargs.keys():
        kept = {k: v for k, v in entry.items() if k not in (*beside, "kwargs")}
        whole = {**kept, "kwargs": {**kwargs, **beside}}
        place = mending.place
        text = mending.style.written(whole, mending.document.text, place.start, place.end)
        if _fits(whole) and _keeps_spelling(mending.text, text):
            moved = ", ".join(f"`{printable(k)}`" for k in beside)
            yield Mend("misplaced-kwargs", f"moved {moved} into `kwargs`", text)
    if "sha256" in entry:
        path, scripts = mending.document.path, mending.scripts
        digest = scripts.pin(entry, path)
        # Which script is meant is a choice where there are two.
        if (
            digest is not None
            and differs(entry, digest)
            and not scripts.have_other_copy(entry["kwargs"]["script_path"], path)
        ):
            message = f"wrote the sha256 of {printable(entry['kwargs']['script_path'])}"
            yield Mend("script-pin", message, mending.with_value("sha256", digest))


def _fits(entry: dict[str, Any]) -> bool:
    type_ = entry.get("type", DEFAULT_TYPE)
    if not isinstance(type_, str):
        return False
    try:
        names.check(type_, entry["kwargs"])
    except MetricFailure:
        return False
    return True


def _keeps_spelling(before: str, after: str) -> bool:
    """Whether every number and string of an entry is written after as it was before."""
    return not Counter(_TOKEN.findall(before)) - Counter(_TOKEN.findall(after))


def _remove_repeated(document: Document, wanted: Wanted, messages: list[str]) -> Iterator[Cut]:
    """Remove each metric that is written as another one of its array is."""
    if not wanted("duplicate-metric"):
        return
    repeated: list[Entry] = []
    seen: set[tuple[object, ...]] = set()
    for metric in View(document.value, document.path).metrics:
        text = json.dumps(metric.value)
        key = (*metric.at[:2], text)
        if key not in seen:
            seen.add(key)
        elif "type" in metric.value:
            repeated.append(metric)
            messages.append(f"removed a second {text}")
    around = [
        (*at[:2], int(at[2]) - before) for at in (m.at for m in repeated) for before in (0, 1)
    ]
    places = find_places(document.text, around)
    for metric in repeated:
        *array_, index = metric.at
        # With the comma before it, which the first of an array has not.
        start = places[*array_, int(index) - 1].end
        yield Cut(start, places[metric.at].end, "")
