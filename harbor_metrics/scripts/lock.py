"""The addresses in the lock beside a script that would be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import indexes
from .requirements import is_beside, is_words

_PATHS = ("path", "directory", "editable", "virtual")
_INDEXES = ("index", "registry")


def of_lock(lock: Mapping[str, Any], folder: str) -> Iterator[str]:
    """What of a lock beside a script in that folder leads elsewhere than the user's indexes.

    Of packages that an index has the name, the version and the digests are used, and the user's
    indexes are asked.
    """
    content = dict(lock)
    packages = content.pop("package", [])
    if isinstance(packages, list):
        packages = [package for package in packages if not _of_index(package)]
    if content or packages:
        yield from _elsewhere([content, packages], folder, indexes.known())


def _elsewhere(value: Any, folder: str, known: indexes.Known, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key in _PATHS:
            # Of one from the root uv writes the address, which holds no space.
            at_home = is_beside(value, folder) and (value.startswith("/") or " " not in value)
        elif key in _INDEXES:
            at_home = indexes.is_of_user(value, known)
        else:
            at_home = key not in ("url", "git") and is_words(value)
        if not at_home:
            yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not is_words(name):
                yield name
            yield from _elsewhere(inner, folder, known, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _elsewhere(inner, folder, known, key)


def _of_index(package: Any) -> bool:
    source = package.get("source") if isinstance(package, dict) else None
    return isinstance(source, dict) and list(source) == ["registry"]
