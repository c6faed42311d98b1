"""Change a registry file: locked against a second edit, compared before it is replaced."""

from __future__ import annotations

import codecs
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import catalogue, edit, registry
from .atomic import write_atomically
from .document import Document, parse, read_bytes, reason
from .edit import EditError, Place
from .errors import OutputError, UsageError
from .metric import HARBOR_TYPES, UV_SCRIPT
from .signature import SpecError
from .syntax import printable, shown

FIELDS = ("metrics", "extra_metrics")


@dataclass(frozen=True, slots=True)
class Change:
    """What was done, in a sentence, and the text before and after."""

    message: str
    before: str
    after: str

    def diff(self, path: str) -> str:
        """The change as a unified diff."""
        from difflib import unified_diff

        before, after = ([f"{li}\n" for li in t.split("\n")] for t in (self.before, self.after))
        return "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))


def add(
    path: str, dataset: str, type_: str, kwargs: dict[str, Any], *, pin: bool = False
) -> Change:
    """Put a metric at the end of `metrics`, or of `extra_metrics` if Harbor cannot load it.

    With `pin` its script's digest stands beside it, and a metric that is there already gets it.

    Raises:
        UsageError: there is no such metric, it does not take these kwargs, or it has no script.
        EditError: the registry has mistakes, or no or several such datasets; nothing was written.
    """
    try:
        catalogue.check(type_, kwargs)
    except SpecError as error:
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
    path: str, dataset: str, entries: Sequence[dict[str, Any]], *, pin: bool = False
) -> Change:
    """Put several metrics, known to exist, there in one change.

    Raises:
        EditError: the registry has mistakes, or no or several such datasets; nothing was written.
    """

    def change(document: Document) -> tuple[str, str]:
        messages = []
        for entry in entries:
            text, message = _added(document, dataset, entry, pin=pin)
            messages.append(message)
            if text != document.text:
                document = _editable(text.encode(), path)
        return document.text, "\n".join(messages) or "nothing to add"

    return apply(path, change)


def _added(
    document: Document, dataset: str, entry: dict[str, Any], *, pin: bool
) -> tuple[str, str]:
    registry.datasets_of(document)
    index = find(document, dataset)
    found = document.value[index]
    name = f"{found['name']}@{found['version']}"
    for other in FIELDS:
        for i in edit.same_metrics(found.get(other, []), entry):
            there = found[other][i]
            if pin and there.get("sha256") != entry["sha256"]:
                pinned = {**there, "sha256": entry["sha256"]}
                message = f"pinned {_whole(pinned)} of {name}, `{other}`"
                return edit.with_entry(document, Place(index, other, i), pinned), message
            return document.text, f"{name} has this metric in `{other}`: nothing was changed"
    field = FIELDS[not in_harbor(entry)]
    place = Place(index, field, len(found.get(field, [])))
    why = "" if field == "metrics" else ", which Harbor ignores: it cannot load this one"
    return (
        edit.with_metric(document, place, entry),
        f"added {_whole(entry)} to {name}, `{field}`{why}",
    )


def _digest(entry: dict[str, Any], registry: str) -> str:
    from .scripts.pins import digest_of

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
    return digest


def remove(path: str, dataset: str, which: str) -> Change:
    """Take out a metric by its type, or its index in `metrics` followed by `extra_metrics`.

    Raises:
        EditError: there is none or several of that type; nothing was written.
    """

    def change(document: Document) -> tuple[str, str]:
        registry.datasets_of(document)
        index = find(document, dataset)
        found = document.value[index]
        name = f"{found['name']}@{found['version']}"
        places = [Place(index, f, i) for f in FIELDS for i in range(len(found.get(f, [])))]
        place = _one(places, found, which, name)
        entry = found[place.field][place.index]
        return (
            edit.without_metric(document, place),
            f"removed {_whole(entry)} from {name}, `{place.field}`",
        )

    return apply(path, change)


def _whole(entry: dict[str, Any]) -> str:
    return printable(json.dumps(entry, ensure_ascii=False))


def in_harbor(entry: dict[str, Any]) -> bool:
    """Whether Harbor can load the entry whole and make a metric of it."""
    takes = {"script_path"} if entry["type"] == UV_SCRIPT else set()
    return entry["type"] in HARBOR_TYPES and entry.get("kwargs", {}).keys() <= takes


def find(document: Document, dataset: str) -> int:
    """The index of the only dataset that `name` or `name@version` means.

    Raises:
        EditError: it means none, or several.
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
    known = ", ".join(f"{e['name']}@{e['version']}" for e in document.value) or "none"
    if not entries:
        raise EditError(f"there is no dataset {dataset}; the registry has {known}")
    versions = ", ".join(f"{e['name']}@{e['version']}" for _, e in entries)
    if len({e["version"] for _, e in entries}) < len(entries):
        raise EditError(
            f"{dataset} stands in the registry more than once: {versions}",
            "delete one of them, or give it a version of its own, first",
        )
    raise EditError(f"{dataset} has several versions: {versions}", "name one of them")


def _one(places: list[Place], found: dict[str, Any], which: str, name: str) -> Place:
    if which.isdecimal():
        if len(which) < 10 and int(which) < len(places):
            return places[int(which)]
        raise EditError(f"{name} has {len(places)} metrics; there is no index {which[:20]}")
    fitting = [
        place for place in places if found[place.field][place.index].get("type", "mean") == which
    ]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(f"{i}: {shown(found[p.field][p.index])}" for i, p in enumerate(places))
    if not fitting:
        raise EditError(f"{name} has no metric `{which}`; it has {listed or 'none'}")
    raise EditError(f"{name} has several metrics `{which}`: {listed}", "name one by its index")


def apply(path: str, change: Callable[[Document], tuple[str, str]]) -> Change:
    """Make a change, a function from a document to its new text and a sentence, to a file.

    Raises:
        EditError: the registry has mistakes of syntax, or was changed meanwhile.
        OutputError: it cannot be written; it is as it was.
    """
    with _locked(path):
        data = read_bytes(path)
        document = _editable(data, path)
        after, message = change(document)
        if after != document.text:
            mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
            if read_bytes(path) != data:
                raise EditError(f"{path} was changed by another program meanwhile", "try again")
            write_atomically(path, mark + after.encode())
        return Change(message, document.text, after)


def _editable(data: bytes, path: str) -> Document:
    """The document, if nothing in it is so wrong that an edit might lose it."""
    document, found = parse(data, path)
    found = [diagnostic for diagnostic in found if diagnostic.rule != "byte-order-mark"]
    if found or document is None:
        error = EditError(
            f"{path} has mistakes that a change could make worse: nothing was changed"
        )
        error.diagnostics = found  # type: ignore[attr-defined]
        error.text = document.text if document else ""  # type: ignore[attr-defined]
        raise error
    return document


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """A lock on the directory: on the file itself it would go with the file that is replaced."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise OutputError(f"{folder}: {reason(error)}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def parse_kwargs(type_: str, given: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` as the metric's kwargs want it: text where it takes text, else JSON.

    Raises:
        UsageError: there is no `=`, or no value of any type fits.
    """
    kwargs: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"-k {pair}: write NAME=VALUE")
        kwargs[name] = value
    try:
        catalogue.check(type_, kwargs)
    except SpecError as error:
        if error.kwarg is None or error.kwarg not in kwargs:
            return kwargs
        try:
            typed = {**kwargs, error.kwarg: json.loads(kwargs[error.kwarg])}
        except ValueError:
            return kwargs
        rest = [f"{n}={v}" for n, v in kwargs.items() if n != error.kwarg]
        return {**parse_kwargs(type_, rest), error.kwarg: typed[error.kwarg]} if rest else typed
    return kwargs
