"""Where a task lies: paths, repositories and commits of which Harbor makes no job."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from operator import itemgetter
from pathlib import PurePath
from typing import Any

from ...documents.document import Finding
from ...documents.wording import printable
from . import MAKING, View, array

# What of a task is given to git, what it is, and what to write.
_OF_GIT = (
    ("git_url", "repository", "write its URL; a task on this machine has no `git_url`"),
    ("git_commit_id", "commit", "write the full commit"),
)


def task_path(view: View) -> Iterator[Finding]:
    """The path of a task leads out of its git repository, or is none that Harbor can look up.

    In a repository that is one which is absolute or has too many `..`; anywhere one with a NUL
    character, and on this machine one that begins with `~` and a name that no user has. Harbor
    refuses it when it makes the job, before anything runs.
    """
    for dataset in view.datasets:
        tasks = array(dataset, "tasks")
        if _all_stay_below(tasks):
            continue
        for j, task in enumerate(tasks):
            path = task.get("path") if isinstance(task, dict) else None
            if not isinstance(path, str):
                continue
            wrong = _wrong_with(path, in_git=isinstance(task.get("git_url"), str))
            if wrong is not None:
                message, label, help_ = wrong
                yield dataset.part("tasks", j).find(
                    "path", message=message, label=label, notes=(MAKING,), help=help_
                )


def _wrong_with(path: str, *, in_git: bool) -> tuple[str, str, str] | None:
    """Message, label and help for a path of which Harbor makes no task; None where it makes one."""
    if "\0" in path:
        message = f"the path {printable(path)} of a task has a NUL character"
        return message, "no path of a file has one", "write it without `\\u0000`"
    normal = posixpath.normpath(path)
    if in_git:
        if posixpath.isabs(path) or normal == ".." or normal.startswith("../"):
            message = f"the path {printable(path)} of a task in git leaves the repository"
            return (
                message,
                "outside the repository",
                "write it relative to the top of the repository",
            )
        return None
    # Harbor drops a `./` before it, and keeps any `..`, as here.
    first = next(iter(PurePath(path).parts), "")
    if first.startswith("~") and _is_of_nobody(first):
        message = f"the path {printable(path)} of a task begins with the home folder of nobody"
        label = f"no user is called {printable(first[1:])} here"
        return message, label, "write the whole path, or one relative to where Harbor is run"
    return None


def _is_of_nobody(home: str) -> bool:
    try:
        return os.path.expanduser(home).startswith("~")
    except UnicodeEncodeError:
        # Half of a surrogate pair is in the name of nobody.
        return True


def task_repository(view: View) -> Iterator[Finding]:
    """The `git_url` or `git_commit_id` of a task is none that git can be given.

    It is empty, which is not the same as none: Harbor gives it to git, which refuses it. Or it
    begins with `-`, which git takes for an option, or has a NUL character.
    """
    for dataset in view.datasets:
        for j, task in enumerate(array(dataset, "tasks")):
            if not isinstance(task, dict) or not isinstance(task.get("git_url"), str):
                continue
            for field, kind, instead in _OF_GIT:
                value = task.get(field)
                why = _not_for_git(value) if isinstance(value, str) else None
                if why is not None:
                    yield dataset.part("tasks", j).find(
                        field,
                        message=f"the `{field}` of task {printable(str(task.get('name')))} {why}",
                        label=f"no {kind}",
                        notes=(MAKING,),
                        help=instead,
                    )


def _not_for_git(value: str) -> str | None:
    if not value:
        return "is empty, and Harbor gives it to git nevertheless"
    if value.startswith("-"):
        return "begins with `-`: git takes it for an option"
    return "has a NUL character, which no command can be given" if "\0" in value else None


def _all_stay_below(tasks: list[Any]) -> bool:
    """Whether no path of a task is absolute or has `..`, `~` or NUL, as in most registries."""
    try:
        paths = "\n".join(map(itemgetter("path"), tasks))
    except (KeyError, TypeError):
        return False
    odd = any(sign in paths for sign in ("..", "~", "\0"))
    return not (odd or paths[:1] == "/" or "\n/" in paths)
