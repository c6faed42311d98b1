"""The scripts that metrics name: each is read once for what a rule asks, whoever names it."""

from __future__ import annotations

import ast
import errno
import os
import re
import warnings
from functools import cached_property
from typing import Any

from ..contract.spec import UV_SCRIPT
from ..documents.diagnostics import Severity
from ..documents.files import open_regular
from ..documents.paths import folder_of, real_path
from ..documents.sizes import MOST_WRITTEN, whole
from ..errors import MetricFailure
from ..registries.modules import Content, Folders
from ..registries.private import check_holds_no_passwords
from ..registries.script_file import Script, digest_of, metadata, other_copy

_OPENING = re.compile(r"^# /// *(\S*)", re.MULTILINE)
# Of a script that somebody wrote: at most so many characters, and so many without ASCII between.
_MOST_PARSED = 1 << 18
_LONG_NAME = re.compile(r"[^\x00-\x7f]{2000}")
_ARGUMENTS = {"-i", "-o"}
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
# Where a file lies, links of its folder resolved, and its name there.
_Place = tuple[str, str]


class ScriptText:
    """What a script's text says; the text itself is not kept."""

    def __init__(self, path: str) -> None:
        self._path = path

    @cached_property
    def can_be_read(self) -> bool:
        """Whether it is a file that can be."""
        try:
            self._opened()
        except OSError:
            return False
        return True

    @cached_property
    def block(self) -> dict[str, Any] | MetricFailure | None:
        """Its PEP 723 block as a table, or why it is none."""
        try:
            return metadata(Script(self._path, Content(self._read().encode())))
        except MetricFailure as error:
            return error

    @cached_property
    def without_block(self) -> tuple[str, Severity]:
        """How a script without a block comes to have none."""
        text = self._read()
        opening = _OPENING.search(text)
        if opening is None:
            return "the script has no PEP 723 block", Severity.NOTE
        line = text.count("\n", 0, opening.start()) + 1
        if opening[1] != "script":
            message = f"line {line}: `# /// {opening[1]}` is not a PEP 723 script block"
        else:
            message = f"line {line}: the PEP 723 block is not closed by a line `# ///`"
        return message, Severity.ERROR

    @cached_property
    def untaken(self) -> list[str] | int:
        """Which arguments of Harbor's it does not take; or the line where it is no Python, or 0.

        Of a text that is too long to be looked at none is missing.
        """
        try:
            tree = _parsed(self._read())
        except _NOT_PYTHON as error:
            return (isinstance(error, SyntaxError) and error.lineno) or 0
        if tree is None:
            return []
        nodes = list(ast.walk(tree))
        constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
        missing = sorted(_ARGUMENTS - {value for value in constants if isinstance(value, str)})
        if missing and any(
            isinstance(node, ast.Attribute) and node.attr == "argv" for node in nodes
        ):
            return []
        return missing

    @cached_property
    def keys(self) -> set[str]:
        """The keys of all objects that it spells out."""
        try:
            tree = _parsed(self._read())
        except _NOT_PYTHON:
            return set()
        if tree is None:
            return set()
        return {
            key.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict)
            for key in node.keys
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }

    def _read(self) -> str:
        """The text; nothing where it went since it was asked whether it can be read."""
        try:
            return self._opened()
        except OSError:
            return ""

    def _opened(self) -> str:
        try:
            check_holds_no_passwords(real_path(self._path))
        except MetricFailure as error:
            raise PermissionError(errno.EACCES, str(error)) from error
        with open_regular(self._path) as file:
            return whole(file, MOST_WRITTEN).decode("utf-8-sig", "replace")


class Scripts:
    """What is known of scripts, by where they lie."""

    def __init__(self) -> None:
        self._texts: dict[str, ScriptText] = {}
        self._pins: dict[tuple[_Place, _Place], str | None] = {}
        self._copies: dict[tuple[_Place, _Place], bool] = {}
        self._folders = Folders()

    def text(self, path: str) -> ScriptText:
        """What the script at a path says."""
        real = real_path(path)
        if real not in self._texts:
            self._texts[real] = ScriptText(path)
        return self._texts[real]

    def pin(self, entry: dict[str, Any], registry: str) -> str | None:
        """The pin of the script that a metric names, None where it names no file that is there."""
        kwargs = entry.get("kwargs")
        path = kwargs.get("script_path") if isinstance(kwargs, dict) else None
        if entry.get("type") != UV_SCRIPT or not isinstance(path, str) or "\0" in path:
            return digest_of(entry, registry)  # which reads nothing
        if kwargs is not None and kwargs.get("git_url"):
            return None
        places = _places(path, registry)
        if places not in self._pins:
            self._pins[places] = digest_of(entry, registry, self._folders)
        return self._pins[places]

    def have_other_copy(self, path: str, registry: str) -> bool:
        """Whether the registry's folder and the current one have different scripts of a path."""
        places = _places(path, registry)
        if places not in self._copies:
            self._copies[places] = other_copy(path, registry)
        return self._copies[places]


def _places(path: str, registry: str) -> tuple[_Place, _Place]:
    """Where a path leads from the registry's folder and from the current one."""
    beside = os.path.join(folder_of(registry), path)
    return _place(beside), _place(os.path.abspath(path))


def _place(path: str) -> _Place:
    folder, name = os.path.split(path)
    return real_path(folder), name


def _parsed(text: str) -> ast.Module | None:
    """The script as Python reads it, which takes hundreds of times its size; None of a long one.

    Names that are not ASCII it normalizes in the square of their length.
    """
    if len(text) > _MOST_PARSED or _LONG_NAME.search(text):
        return None
    with warnings.catch_warnings():
        # Warnings about the style of a script are not about the metric.
        warnings.simplefilter("ignore")
        return ast.parse(text)
