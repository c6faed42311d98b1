"""Change a registry file: locked against a second edit, compared before it is replaced."""

from __future__ import annotations

import codecs
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..catalogue import names
from ..contract.spec import ARRAYS, DEFAULT_TYPE, UV_SCRIPT, in_harbor
from ..documents.diagnostics import InvalidDocumentError
from ..documents.document import Document, parse
from ..documents.files import check_place, read_bytes, reason, write_atomically
from ..documents.paths import real_path
from ..documents.wording import MOST_LISTED, in_command, listed, printable, shown
from ..errors import MetricFailure, OutputError, UsageError
from . import edit, registry
from .edit import EditError, Place


@dataclass(frozen=True, slots=True)
class Change:
    """What was done, in a sentence, the text before and after, and what else comes of it."""

    message: str
    before: str
    after: str
    note: str = ""

    def diff(self, path: str) -> str:
        """The change as a unified diff to look at, without the carriage returns of Windows."""
        # Inside, for weight: only --diff needs it.
        from .unified import unified

        texts = [text.replace("\r\n", "\n") for text in (self.before, self.after)]
        before, after = ([f"{line}\n" for line in text.split("\n")] for text in texts)
        return unified(before, after, f"a/{printable(path)}", f"b/{printable(path)}")


def add(
    path: str, dataset: str, type_: str, kwargs: dict[str, Any], *, pin: bool = False
) -> Change:
    """Put a metric at the end of `metrics`, or of `extra_metrics` if Harbor cannot load it.

    With `pin` its script's digest stands beside it, and a metric that is there already gets it.

    Raises:
        UsageError: there is no such metric, it does not take these kwargs, or it has no script.
        InvalidDocumentError: the registry has mistakes; nothing was written.
        EditError: no dataset or several have that name; nothing was written.
    """
    try:
        names.check(type_, kwargs)
    except MetricFailure as error:
        raise UsageError(str(error)) from error
    entry: dict[str, Any] = {"type": type_, **({"kwargs": kwargs} if kwargs else {})}
    if pin:
        entry["sha256"] = _digest(entry, path)
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError("a kwarg holds bytes that are no UTF-8, and cannot be written") from error
    return add_all(path, dataset, [entry], pin=pin)


def add_all(
    path: str,
    dataset: str,
    entries: Sequence[dict[str, Any]],
    *,
    pin: bool = False,
    first: dict[str, Any] | None = None,
) -> Change:
    """Put several metrics, whose kwargs are known to be right, into a dataset in one change.

    `first` goes before them where the dataset has no metrics.

    Raises:
        InvalidDocumentError: the registry has mistakes; nothing was written.
        EditError: no dataset or several have that name; nothing was written.
    """

    note = ""

    def change(document: Document) -> tuple[str, str]:
        nonlocal note
        messages = []
        index, before, name = _look_up(document, dataset)
        lead = [] if first is None or before.get("metrics") else [first]
        text = document.text
        for entry in (*lead, *entries):
            if text != document.text:
                document = edit.edited(document, index, text)
            text, message = _put(document, dataset, entry, pin=pin)
            messages.append(message)
        if not before.get("metrics"):
            after = edit.edited(document, index, text).value[index]
            note = _without_default(after.get("metrics", []), path, name)
        return text, "\n".join(messages) or "nothing to add"

    return replace(apply(path, change), note=note)


def _without_default(metrics: Sequence[dict[str, Any]], path: str, name: str) -> str:
    """What becomes of Harbor's default in a dataset that had no `metrics` and now has these."""
    if not metrics or any(entry.get("type", DEFAULT_TYPE) == DEFAULT_TYPE for entry in metrics):
        return ""
    return (
        f"{name} had no `metrics`, so Harbor ran its default, `mean`; now it runs what stands "
        f"there, and `mean` no longer. To keep it: "
        f"harbor-metrics add {in_command(path, name)} mean"
    )


def _put(document: Document, dataset: str, entry: dict[str, Any], *, pin: bool) -> tuple[str, str]:
    """The text with the entry, or with its pin where the entry is there already; a sentence."""
    index, fields, name = _look_up(document, dataset)
    for field in ARRAYS:
        for i in edit.same_metrics(fields.get(field, []), entry):
            present = fields[field][i]
            if pin and present.get("sha256") != entry["sha256"]:
                pinned = {**present, "sha256": entry["sha256"]}
                message = f"pinned {_as_json(pinned)} of {name}, `{field}`"
                return edit.with_entry(document, Place(index, field, i), pinned), message
            return document.text, f"{name} has this metric in `{field}`: nothing was changed"
    field = ARRAYS[not in_harbor(entry)]
    place = Place(index, field, len(fields.get(field, [])))
    why = "" if field == "metrics" else ", which Harbor ignores: it cannot load this one"
    if why and entry["type"] != UV_SCRIPT:
        why += ". `compute` runs it; for Harbor itself: --for-harbor"
    message = f"added {_as_json(entry)} to {name}, `{field}`{why}"
    return edit.with_metric(document, place, entry), message


def _look_up(document: Document, dataset: str) -> tuple[int, dict[str, Any], str]:
    """The index, the fields and the full name of the only dataset that is meant."""
    registry.check(document)
    index = find(document, dataset)
    fields = document.value[index]
    return index, fields, printable(f"{fields['name']}@{fields['version']}")


def _digest(entry: dict[str, Any], registry: str) -> str:
    # Inside, for weight: only a pin needs it.
    from .script_file import digest_of, other_copy

    if entry["type"] != UV_SCRIPT:
        raise UsageError(f"a pin is the digest of a script, and `{entry['type']}` has none")
    if entry["kwargs"].get("git_url"):
        raise UsageError("a script in a git repository is pinned by its git_commit_id")
    digest = digest_of(entry, registry)
    if digest is None:
        raise UsageError(
            f"there is no script {printable(entry['kwargs']['script_path'])} to take the digest of",
            "it lies beside the registry; --new writes one to begin with",
        )
    script = entry["kwargs"]["script_path"]
    if other_copy(script, registry):
        raise UsageError(
            f"{printable(script)} lies beside the registry and, with other contents, in the "
            "current folder: neither is pinned",
            "run this where the registry lies, which pins the script there",
        )
    return digest


def remove(path: str, dataset: str, which: str) -> Change:
    """Take out a metric by its type, or its index in `metrics` followed by `extra_metrics`.

    Raises:
        InvalidDocumentError: the registry has mistakes; nothing was written.
        EditError: no metric or several are of that type; nothing was written.
    """

    def change(document: Document) -> tuple[str, str]:
        index, fields, name = _look_up(document, dataset)
        places = [Place(index, f, i) for f in ARRAYS for i in range(len(fields.get(f, [])))]
        place = _choose(places, fields, which, name)
        entry = fields[place.field][place.index]
        message = f"removed {_as_json(entry)} from {name}, `{place.field}`"
        return edit.without_metric(document, place), message

    return apply(path, change)


def _as_json(entry: dict[str, Any]) -> str:
    return printable(json.dumps(entry, ensure_ascii=False))


def find(document: Document, dataset: str) -> int:
    """The index of the only dataset that `name` or `name@version` means.

    Raises:
        EditError: it means no dataset, or several.
    """
    name, version = registry.split(dataset)
    entries = [
        (i, entry)
        for i, entry in enumerate(document.value)
        if dataset in (entry["name"], f"{entry['name']}@{entry['version']}")
        or (entry["name"] == name and version == entry["version"])
    ]
    if len(entries) == 1:
        return entries[0][0]
    names = [f"{e['name']}@{e['version']}" for e in document.value]
    known = listed(names, MOST_LISTED) or "none"
    if not entries:
        raise EditError(f"there is no dataset {dataset}; the registry has {known}")
    versions = listed([f"{e['name']}@{e['version']}" for _, e in entries], MOST_LISTED)
    if len({e["version"] for _, e in entries}) < len(entries):
        raise EditError(
            f"{dataset} stands in the registry more than once: {versions}",
            "delete one of them, or give it a version of its own, first",
        )
    raise EditError(f"{dataset} has several versions: {versions}", "name one of them")


def _choose(places: list[Place], fields: dict[str, Any], which: str, name: str) -> Place:
    """The place of the only metric that `which`, a type or an index, means."""
    if which.isdecimal():
        if len(which) < 10 and int(which) < len(places):
            return places[int(which)]
        raise EditError(f"{name} has {len(places)} metrics; there is no index {which[:20]}")
    fitting = [
        place for place in places if fields[place.field][place.index].get("type", "mean") == which
    ]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(f"{i}: {shown(fields[p.field][p.index])}" for i, p in enumerate(places))
    if not fitting:
        raise EditError(f"{name} has no metric `{which}`; it has {listed or 'none'}")
    raise EditError(f"{name} has several metrics `{which}`: {listed}", "name one by its index")


def apply(path: str, change: Callable[[Document], tuple[str, str]]) -> Change:
    """Make a change, a function from a document to its new text and a sentence, to a file.

    A link to a registry stays one, where it may be written through.

    Raises:
        InvalidDocumentError: the registry has mistakes of syntax.
        EditError: another program changed the registry meanwhile.
        OutputError: it cannot be written; it is as it was.
    """
    check_place(path)
    with _lock(path):
        data = read_bytes(path)
        document = _parse_whole(data, path)
        after, message = change(document)
        before = document.text
        # What a large registry says takes more than its text.
        del document
        if after != before:
            mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
            if read_bytes(path) != data:
                raise EditError(f"{path} was changed by another program meanwhile", "try again")
            del data
            write_atomically(path, mark + after.encode())
        return Change(message, before, after)


def _parse_whole(data: bytes, path: str) -> Document:
    """The document, if nothing in it is so wrong that an edit might lose it."""
    document, diagnostics = parse(data, path)
    diagnostics = [d for d in diagnostics if d.rule != "byte-order-mark"]
    if diagnostics or document is None:
        raise InvalidDocumentError(
            f"{path} has mistakes that a change could make worse: nothing was changed",
            diagnostics,
            document.text if document else "",
            exit_code=EditError.exit_code,
        )
    return document


@contextmanager
def _lock(path: str) -> Iterator[None]:
    """Hold a lock on the directory: one on the file would go with the file that is replaced."""
    folder = os.path.dirname(real_path(path))
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise OutputError(f"{folder}: {reason(error)}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
