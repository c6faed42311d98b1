"""What a schema cannot say, by family: every public function of a module is a rule.

A rule's name is the function's with `-` for `_`; its docstring is what `explain` prints.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from ..diagnostics import Severity
from ..document import Finding
from ..syntax import printable

Step = str | int
Rule = Callable[["View"], Iterator[Finding]]
METRIC_FIELDS = ("metrics", "extra_metrics")
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


@dataclass(frozen=True)
class View:
    """A registry as rules see it: what is well-formed in it; the schema tells of the rest."""

    value: list[Any]
    path: str

    @cached_property
    def folder(self) -> str | None:
        """Where the file lies, None for standard input."""
        return None if self.path == "-" else os.path.dirname(os.path.abspath(self.path))

    @cached_property
    def datasets(self) -> list[tuple[int, dict[str, Any]]]:
        """Index and entry of every dataset that is an object."""
        return [(i, entry) for i, entry in enumerate(self.value) if isinstance(entry, dict)]

    def metrics(self) -> Iterator[tuple[tuple[Step, ...], dict[str, Any], str]]:
        """Path, entry and subject of every metric that is an object."""
        for i, dataset in self.datasets:
            for field in METRIC_FIELDS:
                entries = dataset.get(field)
                for j, entry in enumerate(entries if isinstance(entries, list) else ()):
                    if isinstance(entry, dict):
                        yield (i, field, j), entry, f"{label(dataset)}, {field}[{j}]"


def tasks(dataset: dict[str, Any]) -> list[Any]:
    """The tasks of a dataset, as they are; none where the field is no array."""
    found = dataset.get("tasks")
    return found if isinstance(found, list) else []


def label(dataset: dict[str, Any]) -> str:
    """A dataset in a reader's words."""
    name, version = dataset.get("name"), dataset.get("version")
    if not isinstance(name, str):
        return "a dataset without a name"
    return f"dataset {printable(f'{name}@{version}' if isinstance(version, str) else name)}"


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        family = importlib.import_module(f"{__name__}.{module.name}")
        for name, function in vars(family).items():
            own = inspect.isfunction(function) and function.__module__ == family.__name__
            if own and not name.startswith("_"):
                found[name.replace("_", "-")] = function
    return found
