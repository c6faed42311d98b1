"""Datasets and their tasks: what is repeated, cannot be reached, or is not pinned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from ...documents.document import Finding
from ...documents.wording import printable
from ...registries.registry import best_version
from . import ERROR, NOTE, WARNING, Entry, View, array

# How many names a message lists.
_LISTED = 100
_LONGEST = 1_000


def duplicate_dataset(view: View) -> Iterator[Finding]:
    """The same name and version stands twice in the file.

    With `--registry-path` Harbor takes the last one, with `--repo` the first; where the two differ
    the same command runs different tasks or metrics, which is an error. `compute` takes the last
    one and warns.
    """
    seen: dict[tuple[str, str], Entry] = {}
    for name, dataset in _named(view):
        first = seen.setdefault((name, str(dataset.value.get("version"))), dataset)
        if first is dataset:
            continue
        same = first.value == dataset.value
        yield dataset.find(
            "name",
            severity=WARNING if same else ERROR,
            message=f"{dataset.subject} stands twice, at index {first.at[0]} and {dataset.at[0]}, "
            + (
                "both times the same"
                if same
                else f"and they differ in {_differ(first.value, dataset.value)}"
            ),
            label="the second time",
            notes=("Harbor takes the last of them from a file, the first from a repository",),
            help="delete one, or give it a version of its own",
            first=(*first.at, "name"),
        )


def _differ(first: dict[str, Any], second: dict[str, Any]) -> str:
    fields = chain(first, (field for field in second if field not in first))
    differing = [*islice((f for f in fields if first.get(f) != second.get(f)), _LISTED + 1)]
    more = ", …" if len(differing) > _LISTED else ""
    return ", ".join(map(printable, differing[:_LISTED])) + more


def duplicate_task(view: View) -> Iterator[Finding]:
    """A dataset names the same task twice, so that it counts twice."""
    yield from _repeated(view, "name", "task {} stands twice in the dataset")


def shared_task_path(view: View) -> Iterator[Finding]:
    """Two tasks of a dataset have the same path: one of them is probably the wrong one."""
    yield from _repeated(view, "path", "two tasks have the path {}")


def _repeated(view: View, field: str, message: str) -> Iterator[Finding]:
    for dataset in view.datasets:
        tasks = array(dataset, "tasks")
        values = [task.get(field) for task in tasks if isinstance(task, dict)]
        try:
            if len(set(values)) == len(values):
                continue
        except TypeError:
            pass  # the schema tells of values that are not strings
        seen: dict[tuple[Any, ...], int] = {}
        for j, task in enumerate(tasks):
            value = task.get(field) if isinstance(task, dict) else None
            if not isinstance(value, str):
                continue
            where = str(task.get("git_url")), str(task.get("git_commit_id"))
            first = seen.setdefault((value, *where) if field == "path" else (value,), j)
            if first == j:
                continue
            if field == "path" and tasks[first].get("name") == task.get("name"):
                continue  # duplicate-task says it
            yield dataset.part("tasks", j).find(
                field,
                severity=WARNING,
                message=f"{message.format(printable(value))}: tasks[{first}] too",
                label="the second time",
                first=(*dataset.at, "tasks", first, field),
            )


def task_without_commit(view: View) -> Iterator[Finding]:
    """A task in a git repository has no `git_commit_id`: it changes when the repository does."""
    for dataset in view.datasets:
        tasks = array(dataset, "tasks")
        if _all_have("git_commit_id", tasks):
            continue
        for j, task in enumerate(tasks):
            if isinstance(task, dict) and task.get("git_url") and task.get("git_commit_id") is None:
                yield dataset.part("tasks", j).find(
                    severity=WARNING,
                    message=f"task {printable(str(task.get('name')))} is not pinned to a commit",
                    label="no `git_commit_id`",
                    help="add the full commit as `git_commit_id`",
                )


def _all_have(field: str, tasks: list[Any]) -> bool:
    """Whether every task has the field, and not empty; in C, for registries of many tasks."""
    try:
        return all(map(itemgetter(field), tasks))
    except (KeyError, TypeError):
        return False


def mixed_task_sources(view: View) -> Iterator[Finding]:
    """Some tasks of a dataset lie in git and others on this machine.

    Harbor looks for a task without `git_url` in the current directory, whoever runs the dataset.
    """
    for dataset in view.datasets:
        tasks = array(dataset, "tasks")
        if _all_have("git_url", tasks):
            continue
        local = [j for j, t in enumerate(tasks) if isinstance(t, dict) and t.get("git_url") is None]
        if local and len(local) < len(tasks):
            yield dataset.part("tasks", local[0]).find(
                severity=WARNING,
                message=f"{len(local)} of {len(tasks)} tasks have no `git_url`, "
                "the others have one",
                label="the first without",
                notes=("Harbor looks for it in the current directory of whoever runs it",),
            )


def unreachable_name(view: View) -> Iterator[Finding]:
    """A dataset's name has an `@` or a `/`, and so `-d` cannot name it.

    Harbor splits `-d` at the first `@`, and looks for a name with a `/` in Harbor's hub.
    """
    for name, dataset in _named(view):
        for char, why in (("@", "ends the name there"), ("/", "looks in Harbor's hub instead")):
            if char in name:
                yield dataset.find(
                    "name",
                    severity=WARNING,
                    message=f"`-d {printable(name)}` cannot reach this dataset: "
                    f"at `{char}` Harbor {why}",
                    label=f"has `{char}`",
                    help="rename it with `-`",
                )
                break


def name_breaks_results(view: View) -> Iterator[Finding]:
    """A dataset's name has `__`, at which Harbor splits the key of its results.

    The final metrics of such a dataset are empty, or another dataset's, and the table of results
    fails.
    """
    for name, dataset in _named(view):
        if "__" in name:
            yield dataset.find(
                "name",
                severity=WARNING,
                message=f"the name {printable(name)} has `__`, at which Harbor splits its results",
                label="has `__`",
                notes=("the job's final metrics are empty, or those of another dataset",),
                help="write `-` or a single `_`",
            )


def _folded(name: str) -> str:
    # Marks that stand on one letter are sorted in the square of their number.
    if not name.isascii() and len(name) <= _LONGEST:
        # For weight: most names are ASCII.
        from unicodedata import normalize

        name = normalize("NFKC", name)
    return name.casefold()


def similar_dataset_names(view: View) -> Iterator[Finding]:
    """Two names differ only in case or in how a letter is encoded, and are taken for each other."""
    seen: dict[str, str] = {}
    for name, dataset in _named(view):
        first = seen.setdefault(_folded(name), name)
        if first != name:
            yield dataset.find(
                "name",
                severity=WARNING,
                message=f"the names {printable(first)} and {printable(name)} differ only in "
                "case or Unicode form",
                label="looks the same",
            )


def empty_dataset(view: View) -> Iterator[Finding]:
    """A dataset has no tasks, so there is nothing to run."""
    for dataset in view.datasets:
        if dataset.value.get("tasks") == []:
            yield dataset.find(
                "tasks",
                severity=WARNING,
                message=f"{dataset.subject} has no tasks",
                label="nothing to run",
            )


def unreachable_version(view: View) -> Iterator[Finding]:
    """A version that is not a PEP 440 version is never chosen while the dataset has one that is.

    Without a version `-d` means `head`, else the highest PEP 440 version; others take part only
    where no version is one. It can still be named.
    """
    versions: dict[str, dict[str, None]] = {}
    best: dict[str, str] = {}
    for name, dataset in _named(view):
        version = dataset.value.get("version")
        if isinstance(version, str):
            versions.setdefault(name, {})[version] = None
    for name, dataset in _named(view):
        version = dataset.value.get("version")
        if not isinstance(version, str) or len(versions[name]) < 2 or version == "head":
            continue
        # For weight: most datasets have one version.
        from packaging.version import InvalidVersion, Version

        try:
            Version(version)
        except InvalidVersion:
            if name not in best:
                best[name] = best_version(list(versions[name]))
            chosen = best[name]
            if chosen != version:
                yield dataset.find(
                    "version",
                    severity=NOTE,
                    message=f"version {printable(version)} is never chosen by itself: "
                    f"`-d {printable(name)}` means {printable(chosen)}",
                    label="not a PEP 440 version",
                )


def _named(view: View) -> Iterator[tuple[str, Entry]]:
    for dataset in view.datasets:
        name = dataset.value.get("name")
        if isinstance(name, str):
            yield name, dataset
