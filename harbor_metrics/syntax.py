"""Why a text is not strict JSON: every slip with its place, in our own words on every Python.

Slow and patient: it is asked only when the fast reader has refused a text. It goes on after
what can be read in one way only (a missing comma, a comment, a repeated key) and stops elsewhere.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_DEPTH = 200
SHOWN = 40

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LINE_END = re.compile(r"[\r\n]")
_WORD = re.compile(r"[^\s,:\[\]{}\"]+")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONFLICT = re.compile(r"^<{7}(?: .*)?$", re.MULTILINE)
_LITERALS = {"true": True, "false": False, "null": None}
_NEAR_LITERALS = {"none": "null", "nil": "null", "undefined": "null"}
_NOT_FINITE = {"nan", "infinity", "inf"}


class Slip(NamedTuple):
    """One mistake of syntax; `start` and `end` are offsets into the text."""

    rule: str
    message: str
    start: int
    end: int
    label: str = ""
    note: str = ""
    help: str = ""


class _Stop(Exception):
    """The rest of the text cannot be read."""


@dataclass
class _Reader:
    text: str
    first_line: int
    slips: list[Slip] = field(default_factory=list)
    # Where an object begins -> the slip that tells of its repeated keys: one merge, one slip.
    repeated: dict[int, int] = field(default_factory=dict)

    def slip(self, rule: str, message: str, start: int, end: int, **more: str) -> None:
        self.slips.append(Slip(rule, message, start, max(end, start), **more))

    def stop(self, rule: str, message: str, start: int, end: int, **more: str) -> _Stop:
        self.slip(rule, message, start, end, **more)
        return _Stop()

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + self.first_line

    def space(self, at: int) -> int:
        """Skip white space, and comments, which are said."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # matches always
            if self.text.startswith("/*", at):
                close = self.text.find("*/", at + 2)
                end = close + 2 if close >= 0 else len(self.text)
            elif self.text.startswith("//", at) or self.text.startswith("#", at):
                end = self.end_of_line(at)
            else:
                return at
            self.slip(
                "json-comment",
                "JSON has no comments",
                at,
                min(end, self.end_of_line(at)),
                label="a comment",
                help="delete it, or put the text into a `description`",
            )
            at = end

    def end_of_line(self, at: int) -> int:
        match = _LINE_END.search(self.text, at)
        return match.start() if match else len(self.text)

    def ended(self, inside: str, began: int) -> _Stop:
        end = len(self.text)
        return self.stop(
            "json-syntax",
            f"the text ends inside {inside} that began on line {self.line(began)}: "
            "it is truncated or incomplete",
            end,
            end,
            label="ends here",
            help="fetch or write the file again, whole",
        )

    def string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self.bad_string(at)
        raw = match[0]
        for escape in re.finditer(r"\\.", raw, re.DOTALL):
            if not _ESCAPE.match(raw, escape.start()):
                start = at + escape.start()
                raise self.stop(
                    "json-syntax",
                    f"`{printable(escape[0])}` is not an escape in JSON",
                    start,
                    start + 2,
                    label="bad escape",
                    help="write a backslash as `\\\\`",
                )
        value: str = json.loads(raw)
        if _SURROGATE.search(value):
            self.slip(
                "lone-surrogate",
                f"the string {shown(value)} holds half of a surrogate pair, which is no character",
                at,
                match.end(),
                label="lone surrogate",
                note="a text with it cannot be written as UTF-8",
                help="write the character itself, or both halves",
            )
        return value, match.end()

    def bad_string(self, at: int) -> _Stop:
        end = at + 1
        while end < len(self.text):
            char = self.text[end]
            if char == "\\":
                end += 2
                continue
            if char == '"':
                break
            if char < " ":
                name = {"\n": "a line break", "\t": "a tab", "\r": "a carriage return"}.get(
                    char, f"the control character U+{ord(char):04X}"
                )
                return self.stop(
                    "json-syntax",
                    f"{name} inside a string that began on line {self.line(at)}",
                    end,
                    end + 1,
                    label="not allowed in a string",
                    help=f"close the string, or write {json.dumps(char)[1:-1]}",
                )
            end += 1
        return self.ended("a string", at)

    def word(self, at: int) -> tuple[Any, int]:
        match = _WORD.match(self.text, at)
        word = match[0] if match else self.text[at]
        end = at + len(word)
        if word in _LITERALS:
            return _LITERALS[word], end
        plain = word.lstrip("+-").lower()
        if plain in _NOT_FINITE:
            self.slip(
                "non-finite-number",
                f"`{word}` is not a JSON number",
                at,
                end,
                label="not finite",
                note="Python writes it, strict readers refuse the whole text",
                help="write a finite number, or leave the key out where there is no number",
            )
            return None, end
        near = _NEAR_LITERALS.get(plain, plain if plain in _LITERALS else "")
        hint = f"write `{near}`" if near else ""
        if word[:1] == "'":
            hint = "strings take double quotes in JSON"
        elif word[:1] in "+-.0123456789":
            hint = (
                "a JSON number is digits, with a digit before and after a point, no `+`, no 0 first"
            )
        raise self.stop(
            "json-syntax",
            f"`{printable(word[:SHOWN])}` is not a JSON value",
            at,
            end,
            label="not JSON",
            help=hint,
        )

    def number(self, at: int) -> tuple[Any, int]:
        match = _NUMBER.match(self.text, at)
        word = _WORD.match(self.text, at)
        if match is None or word is None or match.end() != word.end():
            return self.word(at)
        raw = match[0]
        whole = not set(raw) & set(".eE")
        if not math.isfinite(float(raw)):
            self.slip(
                "number-out-of-range",
                f"the number {raw[:SHOWN]} is out of range: larger than any binary64 number",
                at,
                match.end(),
                label="out of range",
            )
            return None, match.end()
        return (int(raw) if whole else float(raw)), match.end()

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        if at >= len(self.text):
            raise self.ended("the document", 0)
        char = self.text[at]
        if char == '"':
            return self.string(at)
        if char in "[{":
            if depth >= MAX_DEPTH:
                raise self.stop(
                    "too-deep",
                    f"nested deeper than {MAX_DEPTH} levels",
                    at,
                    at + 1,
                    label="too deep",
                )
            return self.container(at, depth, char)
        if char in "-0123456789":
            return self.number(at)
        return self.word(at)

    def container(self, at: int, depth: int, opening: str) -> tuple[Any, int]:
        """An object or an array; the loop is one, so that each level costs two frames only."""
        is_object = opening == "{"
        closing, inside = ("}", "an object") if is_object else ("]", "an array")
        noun = "member" if is_object else "element"
        members: dict[str, Any] = {}
        items: list[Any] = []
        start, comma, before = at, -1, ""
        at = self.space(at + 1)
        while True:
            if at >= len(self.text):
                raise self.ended(inside, start)
            if self.text[at] == closing:
                if comma >= 0:
                    self.slip(
                        "trailing-comma",
                        f"a comma after the last {noun} of {inside}",
                        comma,
                        comma + 1,
                        label="delete this comma",
                    )
                return (members if is_object else items), at + 1
            if self.text[at] == ",":
                raise self.stop("json-syntax", "a comma too many", at, at + 1, label="too many")
            if before and comma < 0:
                self.missing_comma(at, before, closing, inside)
            if is_object:
                before, at = self.member(at, depth, members, start)
            else:
                value, at = self.value(at, depth + 1)
                items.append(value)
                before = f"element {len(items) - 1}"
            at = self.space(at)
            comma = at if self.text.startswith(",", at) else -1
            if comma >= 0:
                at = self.space(at + 1)

    def missing_comma(self, at: int, before: str, closing: str, inside: str) -> None:
        char = self.text[at]
        if closing == "}" and char == '"':
            after = f"`{printable(self.string(at)[0])}`"
        elif closing == "]" and char in '"[{-0123456789tfn':
            after = "the next"
        else:
            raise self.stop(
                "json-syntax",
                f"`{printable(char)}` where a comma or the end of {inside} should be",
                at,
                at + 1,
                label=f"expected `,` or `{closing}`",
            )
        self.slip(
            "json-syntax",
            f"missing comma between {before} and {after}",
            at,
            at + 1,
            label="a comma must come before this",
            note="Harbor cannot read any dataset of a file with it",
            help="put a comma after the value before",
        )

    def member(self, at: int, depth: int, members: dict[str, Any], start: int) -> tuple[str, int]:
        if self.text[at] != '"':
            word = _WORD.match(self.text, at)
            raw = word[0] if word else self.text[at]
            raise self.stop(
                "json-syntax",
                f"`{printable(raw[:SHOWN])}` where a key in double quotes should be",
                at,
                at + len(raw),
                label="not a key",
            )
        key_at = at
        key, at = self.string(at)
        key_end = at
        at = self.space(at)
        if at >= len(self.text):
            raise self.ended("an object", start)
        if self.text[at] != ":":
            raise self.stop(
                "json-syntax",
                f"no colon after the key `{printable(key)}`",
                at,
                at + 1,
                label="expected `:`",
            )
        at = self.space(at + 1)
        if at >= len(self.text):
            raise self.ended("an object", start)
        value, at = self.value(at, depth + 1)
        if key in members:
            if (repeated := self.repeated.get(start)) is not None:
                first = self.slips[repeated]
                message = f"{first.message}; also `{printable(key)}`"
                self.slips[repeated] = first._replace(message=message)
                members[key] = value
                return f"`{printable(key)}`", at
            self.repeated[start] = len(self.slips)
            same = members[key] == value and type(members[key]) is type(value)
            what = (
                "both times the same"
                if same
                else f"first {shown(members[key])}, then {shown(value)}"
            )
            self.slip(
                "duplicate-key",
                f"duplicate key `{printable(key)}` in an object: {what}",
                key_at,
                key_end,
                label="the second time",
                note="Harbor keeps the last one and says nothing",
                help="delete one; where two objects were merged into one, part them again",
            )
        members[key] = value
        return f"`{printable(key)}`", at


def explain(text: str, first_line: int = 1) -> tuple[Any, list[Slip]]:
    """What the text says as far as it can be read, and every slip in it, in file order."""
    reader = _Reader(text, first_line)
    value: Any = None
    for marker in _CONFLICT.finditer(text):
        reader.slip(
            "conflict-marker",
            "a conflict marker of git was left in",
            marker.start(),
            marker.end(),
            label="left by a merge",
            help="keep one side, or both with a comma between, and delete the markers",
        )
    if reader.slips:
        return None, reader.slips
    try:
        at = reader.space(0)
        if at >= len(text):
            raise reader.stop("json-syntax", "the file is empty", at, at, label="nothing here")
        if text[at] == "<":
            raise reader.stop(
                "not-json",
                "this is HTML or XML, not JSON",
                at,
                at + 1,
                label="a web page",
                help="it may be an error page saved by mistake: fetch the raw file again",
            )
        value, at = reader.value(at, 0)
        at = reader.space(at)
        if at < len(text):
            raise reader.stop(
                "json-syntax",
                f"`{printable(text[at])}` after the end of the document",
                at,
                at + 1,
                label="more text",
            )
    except _Stop:
        pass
    return value, sorted(reader.slips, key=lambda slip: slip.start)


def shown(value: Any) -> str:
    """A value on one line, shortened, safe to print."""
    text = json.dumps(value, ensure_ascii=False)
    return printable(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def printable(text: str) -> str:
    """The text with control characters and lone surrogates escaped."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == " " else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
