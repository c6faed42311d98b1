"""Add or remove a metric as the smallest possible change of a registry's text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..documents.document import Document, parse
from ..errors import HarborMetricsError

# So much of two texts is compared at once.
_PIECE = 1 << 20


class EditError(HarborMetricsError):
    """A registry cannot be changed as asked without a guess; the file is as it was."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a metric stands or will stand: dataset index, field, index in its array."""

    dataset: int
    field: str
    index: int


class Style(NamedTuple):
    """How a text is written: spaces behind colons, what ends a line, spaces of a level."""

    is_spaced: bool
    newline: str
    step: int

    @classmethod
    def of(cls, text: str) -> Style:
        """The style of a text; a file of several lines has spaces behind its colons."""
        return cls(
            is_spaced='": ' in text or "\n" in text.strip(),
            newline="\r\n" if "\r\n" in text else "\n",
            step=_step(text),
        )

    def written(self, entry: dict[str, Any], text: str, start: int, end: int) -> str:
        """The entry as the one that stands in the text from `start` to `end` is written."""
        return self.write(entry, _indent(text, start), over_lines="\n" in text[start:end])

    def write(self, entry: dict[str, Any], indent: str | None, *, over_lines: bool) -> str:
        """The entry on one line, or over several where there is an indent."""
        if not over_lines or indent is None:
            separators = (", ", ": ") if self.is_spaced else (",", ":")
            return json.dumps(entry, ensure_ascii=False, separators=separators)
        unit = "\t" if indent.startswith("\t") else " " * self.step
        lines = json.dumps(entry, ensure_ascii=False, indent=unit).split("\n")
        return f"{self.newline}{indent}".join(lines)


def with_metric(document: Document, place: Place, entry: dict[str, Any]) -> str:
    """The text with `entry` put at the end of the field's array.

    Raises:
        EditError: the new text would differ by more than that.
    """
    dataset = document.value[place.dataset]
    if dataset.get(place.field):
        text = _append(document, place, entry)
    elif place.field in dataset:
        text = _fill_empty(document, place, entry)
    else:
        text = _add_field(document, place, entry)
    expected = {**dataset, place.field: [*dataset.get(place.field, []), entry]}
    return _check(document, place.dataset, text, expected)


def with_entry(document: Document, place: Place, entry: dict[str, Any]) -> str:
    """The text with `entry` instead of the metric at `place`."""
    text = document.text
    start, end = document.offsets((place.dataset, place.field, place.index))
    return text[:start] + Style.of(text).written(entry, text, start, end) + text[end:]


def without_metric(document: Document, place: Place) -> str:
    """The text without the metric; an array that was written for it alone goes too.

    Raises:
        EditError: the new text would differ by more than that.
    """
    text, array = document.text, (place.dataset, place.field)
    dataset = document.value[place.dataset]
    metrics = dataset[place.field]
    start, end = document.offsets((*array, place.index))
    left = metrics[: place.index] + metrics[place.index + 1 :]
    expected = {**dataset, place.field: left}
    if place.index < len(left):
        following = document.offsets((*array, place.index + 1))[0]
        after = text[:start] + text[following:]
    elif left:
        previous = document.offsets((*array, place.index - 1))[1]
        after = text[:previous] + text[end:]
    else:
        opening, closing = document.offsets(array)
        if start > opening + 1:
            before, behind = text[opening + 1 : start], text[end : closing - 1]
            inside = before if before == behind else ""
            after = f"{text[:opening]}[{inside}]{text[closing:]}"
        else:
            del expected[place.field]
            after = _drop_field(document, array)
    return _check(document, place.dataset, after, expected)


def _append(document: Document, place: Place, entry: dict[str, Any]) -> str:
    text, array = document.text, (place.dataset, place.field)
    last = len(document.value[place.dataset][place.field]) - 1
    start, end = document.offsets((*array, last))
    space = _space_before(text, start)
    style = Style.of(text)
    if last == 0 and "\n" not in space:
        space = " " if style.is_spaced else ""
    written = style.written(entry, text, start, end)
    return f"{text[:end]},{space}{written}{text[end:]}"


def _fill_empty(document: Document, place: Place, entry: dict[str, Any]) -> str:
    text = document.text
    opening, closing = document.offsets((place.dataset, place.field))
    key = document.offsets((place.dataset, place.field), key=True)[0]
    indent = _indent(text, key)
    inside = text[opening + 1 : closing - 1]
    style = Style.of(text)
    if inside or indent is None:
        # What stood between the brackets stands on both sides, so that `remove` can restore it.
        before, after = (inside, inside) if inside else (" ", "")
        written = style.write(entry, None, over_lines=False)
        return f"{text[:opening]}[{before}{written}{after}]{text[closing:]}"
    newline = style.newline
    inner = indent + _unit(document, place.dataset)
    written = style.write(entry, inner, over_lines=False)
    return f"{text[:opening]}[{newline}{inner}{written}{newline}{indent}]{text[closing:]}"


def _add_field(document: Document, place: Place, entry: dict[str, Any]) -> str:
    text, fields = document.text, list(document.value[place.dataset])
    style = Style.of(text)
    colon = ": " if style.is_spaced else ":"
    member = f'"{place.field}"{colon}[{style.write(entry, None, over_lines=False)}]'
    if "tasks" in fields:
        at = document.offsets((place.dataset, "tasks"), key=True)[0]
        space = _space_before(text, at)
        if fields[0] == "tasks" and "\n" not in space:
            space = " " if style.is_spaced else ""
        return f"{text[:at]}{member},{space}{text[at:]}"
    last_key = document.offsets((place.dataset, fields[-1]), key=True)[0]
    end = document.offsets((place.dataset, fields[-1]))[1]
    return f"{text[:end]},{_space_before(text, last_key)}{member}{text[end:]}"


def _drop_field(document: Document, array: tuple[int, str]) -> str:
    text, fields = document.text, list(document.value[array[0]])
    index = fields.index(array[1])
    key = document.offsets(array, key=True)[0]
    if index < len(fields) - 1:
        following = document.offsets((array[0], fields[index + 1]), key=True)[0]
        return text[:key] + text[following:]
    end = document.offsets(array)[1]
    previous = document.offsets((array[0], fields[index - 1]))[1] if index else key
    return text[:previous] + text[end:]


def _space_before(text: str, at: int) -> str:
    begin = at
    while begin and text[begin - 1].isspace():
        begin -= 1
    return text[begin:at]


def _indent(text: str, at: int) -> str | None:
    """The white space before `at`; None where something else stands before it on its line."""
    begin = at
    while begin and text[begin - 1] in " \t":
        begin -= 1
    return text[begin:at] if begin and text[begin - 1] == "\n" else None


def _step(text: str) -> int:
    """How many spaces one level of the text is indented by."""
    steps = [len(m[1]) for m in re.finditer(r"^( +)\S", text[:5_000], re.MULTILINE)]
    return min(steps, default=2)


def _unit(document: Document, dataset: int) -> str:
    """What one level of the text is indented by: a tab, or spaces."""
    first = next(iter(document.value[dataset]))
    indent = _indent(document.text, document.offsets((dataset, first), key=True)[0])
    return "\t" if indent and indent.startswith("\t") else " " * _step(document.text)


def edited(document: Document, dataset: int, text: str) -> Document:
    """The document with a text that `_check` has passed; no more than the dataset is read again."""
    changed = _changed(document, dataset, text)
    value = [*document.value[:dataset], changed, *document.value[dataset + 1 :]]
    return Document(document.path, text.encode(), value)


def _changed(document: Document, dataset: int, text: str) -> Any:
    """The dataset in a text that differs from that of the document in this dataset alone.

    Raises:
        EditError: it differs elsewhere, or the dataset is not JSON.
    """
    start, end = document.offsets((dataset,))
    n_behind = len(document.text) - end
    until = len(text) - n_behind
    is_same = _agree(document.text, 0, text, 0, start)
    if not (is_same and _agree(document.text, end, text, until, n_behind)):
        raise _too_much()
    piece, slips = parse(text[start:until].encode(), "")
    if slips or piece is None:
        raise _too_much()
    return piece.value


def _agree(a: str, a_at: int, b: str, b_at: int, n: int) -> bool:
    """Whether so many characters from these places on are the same; no text is copied whole."""
    return all(
        a[a_at + i : a_at + min(i + _PIECE, n)] == b[b_at + i : b_at + min(i + _PIECE, n)]
        for i in range(0, n, _PIECE)
    )


def _too_much() -> EditError:
    return EditError(
        "the change would alter more than the metric, and was not made",
        "edit the file by hand, and tell us how it is written",
    )


def _check(document: Document, dataset: int, text: str, expected: Any) -> str:
    """The text, if the dataset says what is expected and nothing else is different."""
    try:
        changed = _changed(document, dataset, text)
    except UnicodeEncodeError:
        raise EditError(
            "the metric holds half of a surrogate pair, which no file can hold",
            "write the character itself",
        ) from None
    if not _is_same(changed, expected):
        raise _too_much()
    return text


def _is_same(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true, equal in Python, are not."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_is_same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def _exact(value: Any) -> str:
    """A value as text that tells 1, 1.0 and true apart, which are equal in Python."""
    return json.dumps(value, sort_keys=True)


def canonical(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry with its defaults, to compare it with others."""
    return {"type": entry.get("type", "mean"), "kwargs": entry.get("kwargs", {})}


def same_metrics(entries: Sequence[Any], entry: dict[str, Any]) -> list[int]:
    """The indices of the entries that are the same metric."""
    return [
        i
        for i, e in enumerate(entries)
        if isinstance(e, dict) and _exact(canonical(e)) == _exact(canonical(entry))
    ]
