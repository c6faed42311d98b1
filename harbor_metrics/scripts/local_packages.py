"""Packages that lie beside a script as files: which, what they hold, and whom they ask for more.

uv asks whatever address the METADATA of such a wheel names, or the project file of a folder.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from typing import Any
from urllib.parse import unquote

from ..documents.wording import printable
from ..errors import MetricFailure
from .contents import contents

# `name[extra] @ place`, perhaps with a digest or a marker after it.
_AT = re.compile(r"\s*[\w.-]+\s*(?:\[[^\]]*\])?\s*@\s*([^\s;#]+)")
_LOCAL = ("path", "directory", "editable", "virtual")
_MOST_METADATA = 4 << 20


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
    places = (os.path.join(folder, name) for name in named if "\0" not in name)
    return tuple(dict.fromkeys(map(os.path.realpath, places)))


def check_wheels(packages: Sequence[str]) -> None:
    """Each package that is there is a wheel.

    Raises:
        MetricFailure: one would be built.
    """
    for path in packages:
        if os.path.lexists(path) and not _is_wheel(path):
            raise MetricFailure(
                "script-environment",
                "the environment of the script could not be made: "
                f"{printable(os.path.basename(path))} is not a wheel "
                "(--allow-build lets packages run their build code)",
            )


def asks_for_an_address(path: str) -> bool:
    """Whether a wheel may depend on what lies at an address, or cannot be asked."""
    if not _is_wheel(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            listed = [entry for entry in archive.infolist() if "metadata" in entry.filename.lower()]
            if any(entry.file_size > _MOST_METADATA for entry in listed):
                return True
            texts = [archive.read(entry) for entry in listed]
    except (OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile):
        return True
    return any(map(_depends_on_an_address, texts))


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


def _is_wheel(path: str) -> bool:
    return path.endswith(".whl") and os.path.isfile(path)


def _depends_on_an_address(metadata: bytes) -> bool:
    # Its lines as wide as any reader of headers takes them; one may be encoded.
    lines = re.sub(rb"\n[ \t]+", b" ", metadata.replace(b"\r\n", b"\n")).lower().split(b"\n")
    return any(b"requires-dist" in line and (b"@" in line or b"=?" in line) for line in lines)


def _digest(path: str) -> str:
    if os.path.isdir(path):
        listing = [(file.path, file.sha256) for file in contents(path)]
        return sha256(repr(sorted(listing)).encode("utf-8", "surrogatepass")).hexdigest()
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
