"""Packages that lie beside a script as files: which, and what they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from typing import Any
from urllib.parse import unquote

from ..documents.paths import real_path
from ..documents.wording import printable
from ..errors import MetricFailure
from .contents import contents
from .wheels import is_wheel

# `name[extra] @ place`, perhaps with a digest or a marker after it.
_AT = re.compile(r"\s*+[\w.-]++\s*+(?:\[[^\]]*+\]\s*+)?@\s*+([^\s;#]+)")
# Of a path that the system takes.
_LONGEST = 4096
_LOCAL = ("path", "directory", "editable", "virtual")


def local_packages(
    wants: Mapping[str, Any], lock: Mapping[str, Any], folder: str
) -> tuple[str, ...]:
    """The paths of packages that a block or a lock names in the file system, as they are read."""
    tool = wants.get("tool")
    settings = tool.get("uv") if isinstance(tool, dict) else None
    sources = settings.get("sources") if isinstance(settings, dict) else None
    packages = lock.get("package")
    named = [*_paths(wants), *_tables(sources)]
    for package in packages if isinstance(packages, list) else ():
        named += _tables(package.get("source") if isinstance(package, dict) else None)
    short = (name for name in named if "\0" not in name and len(name) <= _LONGEST)
    places = (os.path.join(folder, name) for name in short)
    return tuple(dict.fromkeys(map(real_path, places)))


def check_wheels(packages: Sequence[str]) -> None:
    """Each package that is there is a wheel.

    Raises:
        MetricFailure: one would be built.
    """
    for path in packages:
        if os.path.lexists(path) and not is_wheel(path):
            raise MetricFailure(
                "script-environment",
                "the environment of the script could not be made: "
                f"{printable(os.path.basename(path))} is not a wheel "
                "(--allow-build lets packages run their build code)",
            )


def digests(packages: Sequence[str]) -> list[tuple[str, str]]:
    """Each package with the SHA-256 of all that is in it, an empty one where it is not there.

    Raises:
        OSError: one cannot be read.
    """
    return [(path, _digest(path)) for path in packages]


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        found = _AT.match(value)
        if found:
            yield unquote(re.sub("^file:(//)?", "", found[1], flags=re.IGNORECASE))
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _paths(inner)


def _tables(value: Any) -> Iterator[str]:
    """The paths in a source, in a list of them, or in a table of such."""
    if isinstance(value, list):
        for inner in value:
            yield from _tables(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in _LOCAL and isinstance(inner, str):
                yield inner
            elif name == "workspace":
                yield "."
            else:
                yield from _tables(inner)


def _digest(path: str) -> str:
    if os.path.isdir(path):
        listing = [(file.path, file.sha256) for file in contents(path)]
        return sha256(repr(sorted(listing)).encode("utf-8", "surrogatepass")).hexdigest()
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
