"""Datasets and their tasks: what is repeated, cannot be reached, or is not pinned."""

from __future__ import annotations

import posixpath
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..document import Finding
from ..registry import best_version
from ..syntax import printable
from . import NOTE, WARNING, View, label, tasks


def duplicate_dataset(view: View) -> Iterator[Finding]:
    """The same name and version stands twice in the file.

    With `--registry-path` Harbor takes the last one, with `--repo` the first; where the two differ
    the same command runs different tasks or metrics, which is an error.
    """
    seen: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for i, dataset in _named(view):
        key = dataset["name"], str(dataset.get("version"))
        if key not in seen:
            seen[key] = i, dataset
            continue
        first, other = seen[key]
        same = other == dataset
        what = {
            "rule": "duplicate-dataset",
            "severity": WARNING if same else "error",
            "message": f"{label(dataset)} stands twice, at index {first} and {i}, "
            + ("both times the same" if same else f"and they differ in {_differ(other, dataset)}"),
            "subject": label(dataset),
            "label": "the second time",
            "notes": ("Harbor takes the last of them from a file, the first from a repository",),
            "help": "delete one, or give it a version of its own",
        }
        yield Finding((i, "name"), what)


def _differ(one: dict[str, Any], other: dict[str, Any]) -> str:
    fields = dict.fromkeys([*one, *other])
    return ", ".join(printable(f) for f in fields if one.get(f) != other.get(f))


def duplicate_task(view: View) -> Iterator[Finding]:
    """A dataset names the same task twice, so that it counts twice."""
    yield from _repeated(view, "name", "duplicate-task", "task {} stands twice in the dataset")


def shared_task_path(view: View) -> Iterator[Finding]:
    """Two tasks of a dataset have the same path: one of them is probably the wrong one."""
    yield from _repeated(view, "path", "shared-task-path", "two tasks have the path {}")


def _repeated(view: View, field: str, rule: str, message: str) -> Iterator[Finding]:
    for i, dataset in view.datasets:
        values = [t.get(field) for t in tasks(dataset) if isinstance(t, dict)]
        try:
            if len(set(values)) == len(values):
                continue
        except TypeError:
            pass  # the schema tells of values that are no strings
        seen: dict[tuple[Any, ...], int] = {}
        for j, task in enumerate(tasks(dataset)):
            value = task.get(field) if isinstance(task, dict) else None
            if not isinstance(value, str):
                continue
            where = str(task.get("git_url")), str(task.get("git_commit_id"))
            key = (value, *where) if field == "path" else (value,)
            if key in seen and field == "path" and _name(dataset, seen[key]) == task.get("name"):
                continue  # duplicate-task says it
            if key in seen:
                what = {
                    "rule": rule,
                    "severity": WARNING,
                    "message": message.format(printable(value)) + f": tasks[{seen[key]}] too",
                    "subject": f"{label(dataset)}, tasks[{j}]",
                    "label": "the second time",
                }
                yield Finding((i, "tasks", j, field), what)
            else:
                seen[key] = j


def _name(dataset: dict[str, Any], index: int) -> Any:
    return tasks(dataset)[index].get("name")


def task_without_commit(view: View) -> Iterator[Finding]:
    """A task in a git repository has no `git_commit_id`: it changes when the repository does."""
    for i, dataset in view.datasets:
        for j, task in enumerate(tasks(dataset)):
            if isinstance(task, dict) and task.get("git_url") and not task.get("git_commit_id"):
                what = {
                    "rule": "task-without-commit",
                    "severity": WARNING,
                    "message": f"task {printable(str(task.get('name')))} is not pinned to a commit",
                    "subject": f"{label(dataset)}, tasks[{j}]",
                    "label": "no `git_commit_id`",
                    "help": "add the full commit as `git_commit_id`",
                }
                yield Finding((i, "tasks", j), what)


def task_path(view: View) -> Iterator[Finding]:
    """The path of a task in a git repository is absolute or leads out of the repository.

    Harbor refuses it when it makes the list of tasks, before anything runs.
    """
    for i, dataset in view.datasets:
        for j, task in enumerate(tasks(dataset)):
            path = task.get("path") if isinstance(task, dict) and task.get("git_url") else None
            if not isinstance(path, str) or not (path.startswith("/") or ".." in path):
                continue
            normal = posixpath.normpath(path)
            if posixpath.isabs(path) or normal == ".." or normal.startswith("../"):
                what = {
                    "rule": "task-path",
                    "message": f"the path {printable(path)} of a task in git leaves the repository",
                    "subject": f"{label(dataset)}, tasks[{j}]",
                    "label": "outside the repository",
                    "notes": ("Harbor fails before the job starts",),
                    "help": "write it relative to the top of the repository",
                }
                yield Finding((i, "tasks", j, "path"), what)


def mixed_task_sources(view: View) -> Iterator[Finding]:
    """Some tasks of a dataset lie in git and others on this machine.

    Harbor looks for a task without `git_url` in the current directory, whoever runs the dataset.
    """
    for i, dataset in view.datasets:
        local = [
            j for j, t in enumerate(tasks(dataset)) if isinstance(t, dict) and not t.get("git_url")
        ]
        if local and len(local) < len(tasks(dataset)):
            what = {
                "rule": "mixed-task-sources",
                "severity": WARNING,
                "message": f"{len(local)} of {len(tasks(dataset))} tasks have no `git_url`, "
                "the others have one",
                "subject": f"{label(dataset)}, tasks[{local[0]}]",
                "label": "the first without",
                "notes": ("Harbor looks for it in the current directory of whoever runs it",),
            }
            yield Finding((i, "tasks", local[0]), what)


def unreachable_name(view: View) -> Iterator[Finding]:
    """A dataset's name has an `@` or a `/`, and so `-d` cannot name it.

    Harbor splits `-d` at the first `@`, and looks for a name with a `/` in Harbor's hub.
    """
    for i, dataset in _named(view):
        for char, why in (("@", "ends the name there"), ("/", "looks in Harbor's hub instead")):
            if char in dataset["name"]:
                what = {
                    "rule": "unreachable-name",
                    "severity": WARNING,
                    "message": f"`-d {printable(dataset['name'])}` cannot reach this dataset: "
                    f"at `{char}` Harbor {why}",
                    "subject": label(dataset),
                    "label": f"has `{char}`",
                    "help": "rename it with `-`",
                }
                yield Finding((i, "name"), what)
                break


def name_breaks_results(view: View) -> Iterator[Finding]:
    """A dataset's name has `__`, at which Harbor splits the key of its results.

    The final metrics of such a dataset are empty, or another dataset's, and the table of results
    fails.
    """
    for i, dataset in _named(view):
        if "__" in dataset["name"]:
            what = {
                "rule": "name-breaks-results",
                "severity": WARNING,
                "message": f"the name {printable(dataset['name'])} has `__`, "
                "at which Harbor splits its results",
                "subject": label(dataset),
                "label": "has `__`",
                "notes": ("the job's final metrics are empty, or those of another dataset",),
                "help": "write `-` or a single `_`",
            }
            yield Finding((i, "name"), what)


def similar_dataset_names(view: View) -> Iterator[Finding]:
    """Two names differ only in case or in how a letter is encoded, and are taken for each other."""
    seen: dict[str, str] = {}
    for i, dataset in _named(view):
        name = dataset["name"]
        folded = unicodedata.normalize("NFKC", name).casefold()
        first = seen.setdefault(folded, name)
        if first != name:
            what = {
                "rule": "similar-dataset-names",
                "severity": WARNING,
                "message": f"the names {printable(first)} and {printable(name)} differ only in "
                "case or Unicode form",
                "subject": label(dataset),
                "label": "looks the same",
            }
            yield Finding((i, "name"), what)


def empty_dataset(view: View) -> Iterator[Finding]:
    """A dataset has no tasks, so there is nothing to run."""
    for i, dataset in view.datasets:
        if dataset.get("tasks") == []:
            what = {
                "rule": "empty-dataset",
                "severity": WARNING,
                "message": f"{label(dataset)} has no tasks",
                "subject": label(dataset),
                "label": "nothing to run",
            }
            yield Finding((i, "tasks"), what)


def unreachable_version(view: View) -> Iterator[Finding]:
    """A version that is no PEP 440 version is never chosen while the dataset has one that is.

    Without a version `-d` means `head`, else the highest PEP 440 version; others take part only
    where no version is one. It can still be named.
    """
    versions = Counter(
        (dataset["name"], dataset["version"])
        for _, dataset in _named(view)
        if isinstance(dataset.get("version"), str)
    )
    by_name: dict[str, list[str]] = {}
    for name, version in versions:
        by_name.setdefault(name, []).append(version)
    for i, dataset in _named(view):
        version = dataset.get("version")
        others = by_name.get(dataset["name"], [])
        if not isinstance(version, str) or len(others) < 2 or version == "head":
            continue
        from packaging.version import InvalidVersion, Version

        try:
            Version(version)
        except InvalidVersion:
            chosen = best_version(others)
            if chosen == version:
                continue
            what = {
                "rule": "unreachable-version",
                "severity": NOTE,
                "message": f"version {printable(version)} is never chosen by itself: "
                f"`-d {printable(dataset['name'])}` means {printable(chosen)}",
                "subject": label(dataset),
                "label": "no PEP 440 version",
            }
            yield Finding((i, "version"), what)


def _named(view: View) -> Iterator[tuple[int, dict[str, Any]]]:
    return ((i, d) for i, d in view.datasets if isinstance(d.get("name"), str))
