"""The lock beside a script: what uv writes, and the addresses in it that would be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..documents.wording import printable
from ..errors import MetricFailure
from . import indexes
from .requirements import is_beside, is_words

# That of a script with hundreds of packages has a third of it.
MOST_BYTES = 4 << 20
# uv writes none outside of texts, and reading a long row of dotted keys takes its square.
_MOST_DOTS = 6
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?")
# What would be more than a part of one line where uv writes names and paths of a lock into lines.
_BEYOND_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029#\\]|\$\{?\w")
_PATHS = ("path", "directory", "editable", "virtual")
_INDEXES = ("index", "registry")


def read_lock(lock: bytes | None) -> dict[str, Any]:
    """The table of a lock, empty where there is none.

    Raises:
        MetricFailure: it is not what uv writes, so that uv may read something else in it.
    """
    if lock is None:
        return {}
    # For weight: few scripts have a lock.
    import tomllib

    if len(lock) > MOST_BYTES:
        raise _not_of_uv(f"has more than {MOST_BYTES >> 20} MiB")
    try:
        text = lock.decode()
        if '"""' in text or "'''" in text:
            raise _not_of_uv("holds a text of several lines")
        if any(line.count(".") > _MOST_DOTS for line in _TEXT.sub("", text).splitlines()):
            raise _not_of_uv("holds a key of too many parts")
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_of_uv(f"is not TOML: {error}") from error
    # None of the addresses of files is used.
    odd = next((text for text in _texts(content) if _BEYOND_A_LINE.search(text)), None)
    if odd is not None:
        raise _not_of_uv(f"holds {printable(odd[:200])!r}, which is no name, path or marker")
    return content


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
            at_home = is_beside(value, folder)
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


def _texts(value: Any) -> Iterator[str]:
    """All texts in a lock, keys among them, but for addresses of files."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value
            pending += [inner for key, inner in value.items() if key != "url"]
        elif isinstance(value, list):
            pending += value


def _not_of_uv(what: str) -> MetricFailure:
    return MetricFailure(
        "script-environment",
        f"the lock beside the script {what} (make it anew: uv lock --script)",
    )
