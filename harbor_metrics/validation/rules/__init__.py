"""What a schema cannot say, by family: every public function of a module is a rule.

A rule's name is the function's with `-` for `_`; its docstring is what `explain` prints.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any

import msgspec

from ...contract.spec import ARRAYS
from ...documents.diagnostics import Severity
from ...documents.document import Finding
from ...documents.paths import STANDARD_INPUT, folder_of
from ...documents.wording import printable
from ..script_texts import Scripts

Step = str | int
Rule = Callable[["View"], Iterator[Finding]]
# What the rules of one family are called together.
HINTS, _ADVICE = "hints", ".advice"
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

# Where Harbor fails.
LOADING = "Harbor cannot load any dataset of the file"
READING = "Harbor cannot load the manifest"
MAKING = "Harbor fails when it makes the job"
RUNNING = "Harbor fails when it runs the metric, after the first trial"
# What to call a dataset that has neither name nor version.
_NAMELESS = "a dataset without a name"
_LONGEST = 200


class Entry(msgspec.Struct, frozen=True):
    """A dataset, a task or a metric: where it stands, what it says, and what to call it."""

    at: tuple[Step, ...]
    value: dict[str, Any]
    subject: str

    def part(self, field: str, index: int) -> Entry:
        """An entry of an array of this one."""
        at = (*self.at, field, index)
        return Entry(at, self.value[field][index], f"{self.subject}, {field}[{index}]")

    def find(
        self,
        *steps: Step,
        message: str,
        severity: Severity = ERROR,
        label: str = "",
        notes: tuple[str, ...] = (),
        help: str = "",  # noqa: A002
        key: bool = False,
        first: tuple[Step, ...] | None = None,
    ) -> Finding:
        """A finding about what the steps lead to from here, or with `key` about the key there.

        Where they lead to nothing it is about what they lead to last.
        """
        there: list[Step] = []
        value: Any = self.value
        for step in steps:
            if not (step in value if isinstance(value, dict) else isinstance(value, list)):
                break
            there.append(step)
            value = value[step]
        at = (*self.at, *there)
        return Finding(at, message, severity, self.subject, label, notes, help, key, first=first)


class View(msgspec.Struct, frozen=True, dict=True):
    """The entries of a registry that are objects; the schema says what is wrong with others.

    With `only` a view of one dataset, by its index. `title` is how to call a dataset that has
    neither name nor version. Of a `manifest`, the one dataset is the whole document. `scripts` are
    known from other views, too.
    """

    value: list[Any]
    path: str
    only: int | None = None
    title: str = _NAMELESS
    manifest: dict[str, Any] | None = None
    scripts: Scripts = msgspec.field(default_factory=Scripts)

    @cached_property
    def folder(self) -> str | None:
        """Where the file lies, None for standard input."""
        return None if self.path == STANDARD_INPUT else folder_of(self.path)

    @cached_property
    def datasets(self) -> list[Entry]:
        """Every dataset that is an object."""
        if self.manifest is not None:
            return [Entry((), self.manifest, "[dataset]")]
        return [
            Entry((i,), dataset, label(dataset, self.title))
            for i, dataset in enumerate(self.value)
            if isinstance(dataset, dict) and self.only in (None, i)
        ]

    @cached_property
    def metrics(self) -> list[Entry]:
        """Every metric that is an object."""
        return [
            dataset.part(field, j)
            for dataset in self.datasets
            for field in ARRAYS
            for j, metric in enumerate(array(dataset, field))
            if isinstance(metric, dict)
        ]


def array(entry: Entry, field: str) -> list[Any]:
    """What a field holds; nothing where it is not an array, which the schema says."""
    value = entry.value.get(field)
    return value if isinstance(value, list) else []


def tables_in(manifest: dict[str, Any], name: str) -> list[Entry]:
    """The tables of a name in a table of a manifest."""
    value = manifest.get(name)
    if isinstance(value, dict):
        return [Entry((name,), value, f"[{name}]")]
    entries = value if isinstance(value, list) else []
    return [
        Entry((name, i), entry, f"[[{name}]]")
        for i, entry in enumerate(entries)
        if isinstance(entry, dict)
    ]


def label(dataset: dict[str, Any], title: str = _NAMELESS) -> str:
    """A dataset in a reader's words, by its title where it has no name."""
    name, version = dataset.get("name"), dataset.get("version")
    if not isinstance(name, str):
        return title
    called = f"{name}@{version}" if isinstance(version, str) else name
    # Whatever is wrong in the dataset says it, so that a long one would be there often.
    cut = called if len(called) <= _LONGEST else f"{called[: _LONGEST - 1]}…"
    return f"dataset {printable(cut)}"


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its name."""
    by_name = {}
    for file in sorted(os.listdir(__path__[0])):
        stem, ending = os.path.splitext(file)
        if ending != ".py" or stem.startswith("_"):
            continue
        family = importlib.import_module(f"{__name__}.{stem}")
        for name, function in vars(family).items():
            is_its = inspect.isfunction(function) and function.__module__ == family.__name__
            if is_its and not name.startswith("_"):
                by_name[name.replace("_", "-")] = function
    return by_name


@cache
def hints() -> frozenset[str]:
    """The rules that only speak where they are asked for."""
    return frozenset(n for n, rule in rules().items() if rule.__module__.endswith(_ADVICE))


def with_hints(names: Iterable[str]) -> list[str]:
    """The names of rules, with each hint in place of `hints`."""
    return [rule for name in names for rule in (sorted(hints()) if name == HINTS else [name])]


def run(view: View, names: Iterable[str] | None = None) -> Iterator[Finding]:
    """What the rules of these names find, or all but hints; each finding gets its rule's name."""
    usual = [name for name in rules() if name not in hints()]
    for name in usual if names is None else names:
        for finding in rules()[name](view):
            yield msgspec.structs.replace(finding, rule=name)
