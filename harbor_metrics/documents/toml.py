"""TOML that knows where everything stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from . import document
from .diagnostics import Diagnostic, Span
from .document import Document
from .limits import check_decoded
from .places import Extent, Steps

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
# One that nobody ends is no TOML: it is not looked at again from each quote in it.
_STRING = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5})?"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?",
    re.DOTALL,
)
_TEXT = re.compile(rf"#[^\n]*|{_STRING.pattern}", re.DOTALL)
# To read a row of dotted keys takes its square, of one key and of all on one line.
_MOST_DOTS, _MOST_OF_A_KEY = 500, 50
# Where texts are left out. It begins where no other part of a key stands before it.
_PART = r"[A-Za-z0-9_-]*+[ \t]*+\.[ \t]*+"
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_\-. \t])[ \t]*+(?:{_PART}){{{_MOST_OF_A_KEY + 1}}}")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
# A number, a date, true or false; a date may have a space before the time.
_PLAIN = re.compile(r"[^\n,\]}#]*[^\s,\]}#]")
_PLACE = re.compile(r"line (\d+), column (\d+)")


def loads(text: str, most: int | None = None) -> dict[str, Any]:
    """What a TOML text of `most` characters says, in a time that a stranger cannot make long.

    Raises:
        ValueError: it is not TOML, is longer, or has an integer beyond binary64.
        RecursionError: it is nested too deep, or may be by the dots outside of texts, of a key or
            on one line.
    """
    if most is not None and len(text) > most:
        raise ValueError(f"it has more than {most >> 10} KiB")
    bare = _TEXT.sub("", text) if text.count(".") > _MOST_OF_A_KEY else ""
    if any(line.count(".") > _MOST_DOTS for line in bare.split("\n")):
        raise RecursionError(f"a line has more than {_MOST_DOTS} dots")
    if _LONG_KEY.search(bare):
        raise RecursionError(f"a key has more than {_MOST_OF_A_KEY} dots")
    table = tomllib.loads(text)
    # It takes integers of any length where they are not decimal.
    check_decoded(table)
    return table


class TomlDocument(Document, frozen=True, dict=True):
    """A TOML text and what it says; a table stands where its header does."""

    def places(self, paths: Iterable[Steps]) -> dict[Steps, Extent]:
        """The offsets of the values at the paths.

        Raises:
            KeyError: nothing stands at one of them.
        """
        places = _Walk(self.text).places
        return {path: places[path] for path in paths}


def parse(data: bytes, path: str) -> tuple[TomlDocument | None, list[Diagnostic]]:
    """Read bytes as TOML: the document, or why they are not TOML."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None, document.parse(data, path)[1]
    try:
        return TomlDocument(path, data, loads(text)), []
    except (ValueError, RecursionError) as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        is_deep = isinstance(error, RecursionError)
        reason = str(error).partition(" (at ")[0]
        return None, [
            Diagnostic(
                rule="too-deep" if is_deep else "toml-syntax",
                message="nested too deep" if is_deep else f"not TOML: {reason}",
                notes=("Harbor cannot load the manifest",),
                path=path,
                span=Span(line, column, line, column + 1),
            )
        ]


class _Walk:
    """One walk through a text that is TOML; a method takes an offset and gives the one behind."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: dict[Steps, Extent] = {(): Extent(0, 0, None)}
        # How many tables of an array of tables there are so far.
        self.counts: dict[Steps, int] = {}
        table: Steps = ()
        at = self.space(0)
        while at < len(text):
            if text[at] == "[":
                table, at = self.header(at)
            else:
                at = self.member(at, table)
            at = self.space(at)

    def space(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # matches always

    def header(self, start: int) -> tuple[Steps, int]:
        is_array = self.text.startswith("[[", start)
        at = self.space(start + 1 + is_array)
        keys, at = self.keys(at)
        end = self.space(at) + 1 + is_array
        path: Steps = ()
        for i, (key, extent) in enumerate(keys):
            path = (*path, key)
            is_last = i == len(keys) - 1
            self.places.setdefault(path, Extent(start, end, extent) if is_last else _at(extent))
            if is_array and is_last:
                self.counts[path] = self.counts.get(path, 0) + 1
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
                self.places.setdefault(path, Extent(start, end, extent))
        return path, end

    def keys(self, at: int) -> tuple[list[tuple[str, tuple[int, int]]], int]:
        """A key, or several with dots between, each with its offsets."""
        keys = []
        while True:
            match = _STRING.match(self.text, at) or _BARE.match(self.text, at)
            assert match is not None, "the text is TOML"
            is_quoted = match[0][0] in "\"'"
            key = tomllib.loads(f"k = {match[0]}")["k"] if is_quoted else match[0]
            keys.append((key, match.span()))
            dot = _DOT.match(self.text, match.end())
            if dot is None:
                return keys, match.end()
            at = dot.end()

    def member(self, at: int, table: Steps) -> int:
        """A key and its value, of which the places are noted below the path of the table."""
        keys, at = self.keys(at)
        path = table
        for key, extent in keys:
            path = (*path, key)
            self.places.setdefault(path, _at(extent))
        start = _EQUALS.match(self.text, at).end()  # type: ignore[union-attr]  # it is TOML
        end = self.value(start, path)
        self.places[path] = Extent(start, end, keys[-1][1])
        return end

    def value(self, at: int, path: Steps) -> int:
        if self.text[at] in "[{":
            return self.container(at, path)
        match = _STRING.match(self.text, at) or _PLAIN.match(self.text, at)
        return match.end()  # type: ignore[union-attr]  # the text is TOML

    def container(self, at: int, path: Steps) -> int:
        is_table, index = self.text[at] == "{", 0
        at = self.space(at + 1)
        while self.text[at] not in "]}":
            if is_table:
                at = self.member(at, path)
            else:
                end = self.value(at, (*path, index))
                self.places[(*path, index)] = Extent(at, end, None)
                at, index = end, index + 1
            at = self.space(at)
            if self.text[at] == ",":
                at = self.space(at + 1)
        return at + 1


def _at(extent: tuple[int, int]) -> Extent:
    return Extent(*extent, extent)
