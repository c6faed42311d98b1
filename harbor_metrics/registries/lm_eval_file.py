"""The text of an lm-eval task file (YAML), and of what it includes."""

from __future__ import annotations

import os
import re
from typing import Any

import yaml

from ..documents.files import read_bytes
from ..documents.paths import holds_everything, leads_inside, real_path
from ..documents.wording import printable
from ..errors import InputError
from .lm_eval_yaml import Loader

# That include each other, for one task; and what one says.
_MOST_FILES, _MOST_KEYS = 100, 1_000
_PACKAGES = ("site-packages", "dist-packages")
# What PyYAML quotes: of the text, or before that what it expects.
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*+'?|"(?:[^"\\]|\\.)*+"?""", re.DOTALL)
_EXPECTED = ("expected ", " or ")


def load(path: str) -> dict[str, Any]:
    """What a task file says with all that it includes.

    Raises:
        InputError: it cannot be read, is not a task file, or includes what is not its own.
    """
    return _load(path, _root(path), (), {})


def _load(
    path: str, root: str | None, including: tuple[str, ...], read: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """What a file says, included by others perhaps; `read` are those that were, by their paths."""
    task = _parse(read_bytes(path), path)
    if not isinstance(task, dict):
        raise InputError(f"{path} is no task file of lm-eval: it is not a mapping")
    if len(task) > _MOST_KEYS:
        raise InputError(f"{path} is no task file of lm-eval: it has more than {_MOST_KEYS:,} keys")
    included = task.pop("include", [])
    if not isinstance(included, str | list):
        raise InputError(f"{path}: `include` must be a file or a list of files")
    names = [included] if isinstance(included, str) else list(map(str, included))
    if len(names) > _MOST_FILES:
        raise _too_many(path)
    places: dict[str, None] = {}
    for name in reversed(names):
        other = os.path.join(os.path.dirname(path), name)
        _check_own(path, printable(name), other, root)
        real = real_path(other)
        if real in including:
            raise InputError(f"{path} includes itself by way of {printable(name)}")
        # What it includes itself is named from its folder: a link to it may mean others.
        place = os.path.join(real_path(os.path.dirname(other)), os.path.basename(other))
        if place not in read:
            if len(read) + len(including) >= _MOST_FILES:
                raise _too_many(path)
            read[place] = _load(other, root, (*including, real), read)
        # Of several the first one counts, as in lm-eval; and of one that stands there twice.
        places.pop(place, None)
        places[place] = None
    base: dict[str, Any] = {}
    for place in places:
        base |= read[place]
    return {**base, **task}


def _too_many(path: str) -> InputError:
    return InputError(f"{path}: more than {_MOST_FILES} files are included")


def _root(path: str) -> str | None:
    """Within which folder a task file may include others, None where all is somebody's own.

    It is the git checkout or the package that the file lies in, else the file's own folder.
    """
    folder = own = os.path.dirname(real_path(path))
    while not holds_everything(folder):
        above = os.path.dirname(folder)
        if os.path.lexists(os.path.join(folder, ".git")) or os.path.basename(above) in _PACKAGES:
            return folder
        if os.path.basename(folder).startswith("."):
            break
        folder = above
    return None if holds_everything(own) else own


def _check_own(path: str, name: str, other: str, root: str | None) -> None:
    """Refuse what a stranger's task file names to learn of it: messages and entries tell."""
    if "\0" in other:
        raise InputError(f"{path} includes {name!r}, which holds a NUL, as no path can")
    if root is None:
        raise InputError(
            f"{path} includes {name}, but lies among all that somebody has, of which nothing is "
            "included",
            "put the task file and what it includes into a folder of their own",
        )
    if not leads_inside(other, root):
        raise InputError(
            f"{path} includes {name}, which leads out of {root}, or to what is hidden there: only "
            "what lies in the git checkout, the package or the folder of a task file is included",
            f"put a copy below {os.path.dirname(path) or 'its folder'}, "
            "or name the file with --from-lm-eval itself",
        )


def _parse(data: bytes, path: str) -> Any:
    try:
        return yaml.load(data, Loader)  # noqa: S506  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        parts = (_without_quotes(part) for part in (error.context, error.problem) if part)
        mark = error.problem_mark or error.context_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        problem = f"{', '.join(parts)}{place}"
    except yaml.reader.ReaderError as error:
        problem = f"what stands at offset {error.position} is no text"
    except Exception as error:
        deep = isinstance(error, RecursionError)
        why = "it is nested too deep" if deep else "it cannot be read"
        raise InputError(f"{path} is no YAML: {why}") from error
    raise InputError(f"{path} is no YAML: {problem}")


def _without_quotes(problem: str) -> str:
    """The words of a problem without what they quote of the text, which may be a secret."""

    def words(quoted: re.Match[str]) -> str:
        return quoted[0] if problem.endswith(_EXPECTED, 0, quoted.start()) else "…"

    return _QUOTED.sub(words, problem)
