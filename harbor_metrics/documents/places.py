"""Where the values of a JSON text stand: paths to offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # real, but not in the stubs
from json.scanner import c_make_scanner  # type: ignore[import-untyped,attr-defined,unused-ignore]
from typing import Any

import msgspec

Path = Sequence[str | int]
Steps = tuple[str | int, ...]
# The paths to look for: a step to the steps that follow it.
_Tree = dict[str | int, "_Tree"]

_SPACE = re.compile(r"[ \t\n\r]*")
_scan_once: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder(strict=False))


class Extent(msgspec.Struct, frozen=True):
    """Offsets of a value, and of the key that names it where it is a member of an object."""

    start: int
    end: int
    key: tuple[int, int] | None


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def find_places(text: str, paths: Iterable[Steps]) -> dict[Steps, Extent]:
    """The places of values in a text that is JSON, in one walk through it.

    Raises:
        KeyError: nothing stands at one of the paths.
    """
    tree: _Tree = {}
    targets = list(paths)
    for path in targets:
        node = tree
        for step in path:
            node = node.setdefault(step, {})
    places: dict[Steps, Extent] = {}
    _walk(text, _past_space(text, 0), tree, (), None, places)
    for path in targets:
        if path not in places:
            raise KeyError(path)
    return places


def _past_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # matches always


def _past(text: str, at: int) -> int:
    """The offset behind a value; of an array one entry at a time is held, for long ones."""
    if text[at] != "[":
        end: int = _scan_once(text, at)[1]
        return end
    at = _past_space(text, at + 1)
    while text[at] != "]":
        at = _past_space(text, _scan_once(text, at)[1])
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return at + 1


def _walk(
    text: str,
    at: int,
    node: _Tree,
    path: Steps,
    key: tuple[int, int] | None,
    places: dict[Steps, Extent],
) -> int:
    """Note the places of the nodes below the value at `at`, and give the offset behind that value.

    Values without a node are skipped by the scanner of `json`, which runs in C. Of a repeated key
    the last one counts.
    """
    if not node or text[at] not in "{[":
        end = _past(text, at)
        places[path] = Extent(at, end, key)
        return end
    start, is_object = at, text[at] == "{"
    at = _past_space(text, at + 1)
    index = 0
    while text[at] not in "]}":
        member: tuple[int, int] | None = None
        step: str | int = index
        if is_object:
            key_at = at
            step, at = scanstring(text, at + 1, False)
            member = (key_at, at)
            at = _past_space(text, _past_space(text, at) + 1)
        if step in node:
            at = _walk(text, at, node[step], (*path, step), member, places)
        else:
            at = _past(text, at)
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
        index += 1
    places[path] = Extent(start, at + 1, key)
    return at + 1
