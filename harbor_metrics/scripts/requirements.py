"""The forms in which a script or a package may ask for others, and lead to no address by it.

What has another form is not read at all: others could read it otherwise.
"""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import unquote

from ..documents.paths import is_below, real_path

_NAME = r"[a-zA-Z0-9][a-zA-Z0-9._-]*"
_EXTRAS = r"\[[a-zA-Z0-9._, -]*\]"
# A name with versions and a marker: no `@`, without which nothing is an address to uv. No part can
# begin with what the one before it may hold, so that each text is looked at once.
_PLAIN = re.compile(
    rf" *{_NAME} *(?:{_EXTRAS} *)?"
    r"(?:[<>=!~][\w.<>=!~*+, -]*|\([\w.<>=!~*+, -]*\) *)?(?:;[\w .<>=!~*+,'\"()-]*)?",
    re.ASCII,
)
_WORDS = re.compile(r"[\w .<>=!~*+,;:'\"()\[\]&|-]*", re.ASCII)
# As parsers of addresses take them: with or without slashes, or a user of git.
_ADDRESS = re.compile(r"(?:https?|ssh|git|ftps?|file|s3|gs|sftp):", re.IGNORECASE)
_FILE = re.compile(rf"{_NAME}(?:{_EXTRAS})? *@ *file://(/[\w./+~!%-]*)(?:#sha256=[0-9a-f]{{64}})?")
# No part of it looks like an option.
_PATH = re.compile(r"(?:\./)?(?:[\w./+~!-]| (?!-))+")
_MOST = 10_000


def is_plain(text: Any) -> bool:
    """Whether a text asks for a package by its name, and of an index."""
    return isinstance(text, str) and len(text) < _MOST and _PLAIN.fullmatch(text) is not None


def is_words(text: str) -> bool:
    """Whether a text holds names, versions, markers or times, and neither a path nor an address."""
    return _WORDS.fullmatch(text) is not None and _ADDRESS.search(text) is None


def is_file_beside(text: Any, folder: str) -> bool:
    """Whether a text asks for a file below a folder, by the address that the file has."""
    match = _FILE.fullmatch(text) if isinstance(text, str) and len(text) < _MOST else None
    return match is not None and is_beside(unquote(match[1]), folder)


def is_beside(path: Any, folder: str) -> bool:
    """Whether a path leads below a folder, also by the links on its way."""
    if not isinstance(path, str) or len(path) > _MOST or not _PATH.fullmatch(path):
        return False
    # What `..` leads to differs between who follows links first and who does not.
    parts = (path[2:] if path.startswith("./") else path.removeprefix("/")).split("/")
    if {"", ".", ".."} & {*parts} or parts[0].startswith("~"):
        return False
    own = real_path(folder)
    real = real_path(os.path.join(own, path))
    return real != own and is_below(real, own)
