"""The file of a user's metric script: where it lies, and that it may lie there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256

from ..document import reason
from ..syntax import printable


class ScriptError(Exception):
    """A script that gave no answer that can be used; the message says why, in full."""

    def __init__(self, message: str, rule: str = "script-failed") -> None:
        super().__init__(message)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Script:
    """A script file as it was when it was found."""

    path: str
    text: bytes
    # What repeats it by hand: the path as the registry and the user wrote them.
    shown: str = ""

    @property
    def sha256(self) -> str:
        """The digest of the file's bytes."""
        return sha256(self.text).hexdigest()


def find(script_path: str, registry: str | None, *, allow_outside: bool = False) -> Script:
    """The file that `script_path` means: beside the registry first, then in the current directory.

    Without a registry the path is the user's word and is taken as it is.

    Raises:
        ScriptError: there is none, or the path leads where a registry may not point.
    """
    if "\0" in script_path:
        raise ScriptError(f"script_path {printable(script_path)!r} holds a NUL", "script-missing")
    free = registry is None or allow_outside
    if os.path.isabs(script_path) and not free:
        raise ScriptError(
            f"script_path {script_path} is absolute; a registry names scripts relative to itself "
            "(--allow-outside permits it)",
            "script-outside",
        )
    folders = [os.getcwd()] if registry is None else [_folder(registry), os.getcwd()]
    as_written = ["" if registry is None else os.path.dirname(registry), ""]
    tried = [os.path.join(folder, script_path) for folder in dict.fromkeys(folders)]
    for folder, written, path in zip(folders, as_written, tried, strict=False):
        if not os.path.lexists(path):
            continue
        real = os.path.realpath(path)
        inside = any(_is_within(real, os.path.realpath(other)) for other in folders)
        if not (free or inside):
            raise ScriptError(
                f"script_path {script_path} leads outside {folder} (--allow-outside permits it)",
                "script-outside",
            )
        return read(real, script_path, os.path.join(written, script_path))
    raise ScriptError(
        f"script {printable(script_path)} not found; looked for {' and '.join(tried)}",
        "script-missing",
    )


def other_copy(script_path: str, registry: str) -> bool:
    """Whether both places where a script is looked for have one, and they differ."""
    paths = [os.path.join(folder, script_path) for folder in (_folder(registry), os.getcwd())]
    if "\0" in script_path or not all(map(os.path.isfile, paths)):
        return False
    try:
        first, second = (read(path, script_path).text for path in paths)
    except ScriptError:
        return False
    return first != second


def _folder(registry: str) -> str:
    return os.path.dirname(os.path.abspath(registry))


def _is_within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def read(path: str, written: str, shown: str = "") -> Script:
    """The script at a path, which errors call as it was `written`.

    Raises:
        ScriptError: it is no regular file, or cannot be read.
    """
    if os.path.isdir(path):
        raise ScriptError(f"script {written} is a directory", "script-missing")
    if not os.path.isfile(path):
        raise ScriptError(f"script {written} is not a regular file", "script-missing")
    try:
        with open(path, "rb") as file:
            return Script(path, file.read(), shown or path)
    except OSError as error:
        raise ScriptError(f"script {written}: {reason(error)}", "script-missing") from error
