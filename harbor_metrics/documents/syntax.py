"""Why a text is not strict JSON: every slip with its place.

Slow and patient: it is asked only when the fast reader has refused a text. It goes on after
what can be read in one way only (a missing comma, a comment, a repeated key) and stops elsewhere.
"""

from __future__ import annotations

import json
import math
import re
import sys
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

import msgspec

from . import slips
from .limits import MAX_DEPTH
from .slips import Sentence, Slip
from .wording import SHOWN, printable, shown

# Of so many repeated keys of an object the slip gives the names.
_NAMED = 20

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LINE_END = re.compile(r"[\r\n]")
_WORD = re.compile(r"(?:(?!//|/\*)[^\s,:\[\]{}\"#])+")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONFLICT = re.compile(r"^<{7}(?: .*)?$", re.MULTILINE)
_LITERALS = {"true": True, "false": False, "null": None}
_NEAR_LITERALS = {"none": "null", "nil": "null", "undefined": "null"}
_NOT_FINITE = {"nan", "infinity", "inf"}
_CONTROL = {"\n": "a line break", "\t": "a tab", "\r": "a carriage return"}


class Explanation(msgspec.Struct, frozen=True):
    """What a text says as far as it can be read, and every slip in it, in file order.

    `mended` is the text without its slips, every offset as it was; None where it cannot be read to
    its end, or not in one way.
    """

    value: Any
    slips: list[Slip]
    mended: str | None


def explain(text: str, first_line: int = 1) -> Explanation:
    """Read a text that is not strict JSON, past every slip that leaves one way to read on."""
    reader = _Reader(text, first_line)
    for marker in _CONFLICT.finditer(text):
        reader.note(slips.CONFLICT_MARKER, marker.start(), marker.end())
    if reader.slips:
        return Explanation(None, reader.slips, None)
    value: Any = None
    mended = None
    try:
        value, at = reader.document()
        if at < len(text):
            raise reader.stop(slips.MORE_TEXT, at, at + 1, char=printable(text[at]))
        mended = reader.mended()
    except _Stop:
        pass
    for repeated in reader.repeated.values():
        slip = reader.slips[repeated.slip]
        reader.slips[repeated.slip] = msgspec.structs.replace(
            slip, message=slip.message + repeated.said
        )
    return Explanation(value, sorted(reader.slips, key=lambda slip: slip.start), mended)


class _Stop(Exception):
    """The rest of the text cannot be read."""


@dataclass
class _Repeated:
    """The repeated keys of an object: which slip tells of them, and those after the first."""

    slip: int
    others: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """What the slip says of the other keys, of many how many they are."""
        said = "".join(f"; also `{printable(key)}`" for key in self.others[:_NAMED])
        more = len(self.others) - _NAMED
        return f"{said}; and {more:,} more" if more > 0 else said


@dataclass
class _Reader:
    """A method reads what begins at an offset, and gives its value and the offset behind it."""

    text: str
    first_line: int
    slips: list[Slip] = field(default_factory=list)
    # Where an object begins -> its repeated keys, of which one slip tells: one merge, one slip.
    repeated: dict[int, _Repeated] = field(default_factory=dict)
    # Where objects begin that two were merged into without a comma: that is said already.
    parted: set[int] = field(default_factory=set)
    # Offset -> what stands there instead, once the text is mended; as long as what stood there.
    mends: dict[int, str] = field(default_factory=dict)
    has_room: bool = True

    def note(self, sentence: Sentence, start: int, end: int, **words: object) -> None:
        """Keep a slip, and read on."""
        self.slips.append(sentence.about(start, end, **words))

    def stop(self, sentence: Sentence, start: int, end: int, **words: object) -> _Stop:
        """Keep the last slip, behind which nothing can be read."""
        self.note(sentence, start, end, **words)
        return _Stop()

    def mend(self, start: int, end: int, instead: str = "") -> None:
        """Keep what is to stand in a stretch of the text, filled up with spaces.

        A comma may have to stand where a comment begins: both mends begin there.
        """
        both = zip_longest(instead.ljust(end - start), self.mends.get(start, ""), fillvalue=" ")
        self.mends[start] = "".join(new if new != " " else old for new, old in both)

    def mended(self) -> str | None:
        """The text with its mends in it; None where they take more room than there is."""
        if not self.has_room:
            return None
        parts, last = [], 0
        for start, instead in sorted(self.mends.items()):
            parts += [self.text[last:start], instead]
            last = start + len(instead)
        return "".join([*parts, self.text[last:]])

    def cut_off(self, inside: str, began: int) -> _Stop:
        end = len(self.text)
        return self.stop(slips.CUT_OFF, end, end, inside=inside, line=self.line(began))

    def line(self, offset: int) -> int:
        return bisect_left(self.newlines, offset) + self.first_line

    @cached_property
    def newlines(self) -> list[int]:
        """The offsets of all of them, looked for once."""
        return [match.start() for match in re.finditer("\n", self.text)]

    def end_of_line(self, at: int, most: int = sys.maxsize) -> int:
        """Where the line of `at` ends, no further than `most`."""
        match = _LINE_END.search(self.text, at, most)
        return match.start() if match else min(most, len(self.text))

    def word_at(self, at: int) -> str:
        match = _WORD.match(self.text, at)
        return match[0] if match else self.text[at]

    def document(self) -> tuple[Any, int]:
        at = self.space(0)
        if at >= len(self.text):
            raise self.stop(slips.EMPTY, at, at)
        if self.text[at] == "<":
            raise self.stop(slips.WEB_PAGE, at, at + 1)
        value, at = self.value(at, 0)
        return value, self.space(at)

    def space(self, at: int) -> int:
        """The offset behind white space, and behind comments, each of which is a slip."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # matches always
            if self.text.startswith("/*", at):
                close = self.text.find("*/", at + 2)
                end = close + 2 if close >= 0 else len(self.text)
            elif self.text.startswith("//", at) or self.text.startswith("#", at):
                end = self.end_of_line(at)
            else:
                return at
            self.note(slips.COMMENT, at, self.end_of_line(at, end))
            self.mend(at, end)
            at = end

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        if at >= len(self.text):
            raise self.cut_off("the document", 0)
        char = self.text[at]
        if char == '"':
            return self.string(at)
        if char in "[{":
            if depth >= MAX_DEPTH:
                raise self.stop(slips.TOO_DEEP, at, at + 1, levels=MAX_DEPTH)
            return self.container(at, depth, char)
        if char in "-0123456789":
            return self.number(at)
        return self.word(at)

    def container(self, at: int, depth: int, opening: str) -> tuple[Any, int]:
        """An object or an array; the loop is one, so that each level costs two frames only."""
        is_object = opening == "{"
        closing, inside = ("}", "an object") if is_object else ("]", "an array")
        members: dict[str, Any] = {}
        items: list[Any] = []
        keys: dict[str, int] = {}
        start, comma, before, last = at, -1, "", 0
        at = self.space(at + 1)
        while True:
            if at >= len(self.text):
                raise self.cut_off(inside, start)
            if self.text[at] == closing:
                if comma >= 0:
                    noun = "member" if is_object else "element"
                    self.note(slips.TRAILING_COMMA, comma, comma + 1, noun=noun, inside=inside)
                    self.mend(comma, comma + 1)
                return (members if is_object else items), at + 1
            if self.text[at] == ",":
                raise self.stop(slips.SECOND_COMMA, at, at + 1)
            if before and comma < 0:
                is_next = self.missing_comma(at, before, closing, inside, members)
                self.mend(last, last + 1, ",")
                self.has_room = self.has_room and last < at and not is_next
                if is_next:
                    self.parted.add(start)
            if is_object:
                before, at = self.member(at, depth, members, keys, start)
            else:
                value, at = self.value(at, depth + 1)
                items.append(value)
                before = f"element {len(items) - 1}"
            last = at
            at = self.space(at)
            comma = at if self.text.startswith(",", at) else -1
            if comma >= 0:
                at = self.space(at + 1)

    def missing_comma(
        self, at: int, before: str, closing: str, inside: str, members: dict[str, Any]
    ) -> bool:
        """Note it; whether what follows is another object, which has that key again."""
        char = self.text[at]
        is_next = False
        if closing == "}" and char == '"':
            key = self.string(at)[0]
            after, is_next = f"`{printable(key)}`", key in members
        elif closing == "]" and char in '"[{-0123456789tfn':
            after = "the next"
        else:
            words = {"char": printable(char), "inside": inside, "closing": closing}
            raise self.stop(slips.NEITHER_COMMA_NOR_END, at, at + 1, **words)
        sentence = slips.MISSING_BRACES if is_next else slips.MISSING_COMMA
        self.note(sentence, at, at + 1, before=before, after=after)
        return is_next

    def member(
        self, at: int, depth: int, members: dict[str, Any], keys: dict[str, int], start: int
    ) -> tuple[str, int]:
        """Read a key and its value into the object that began at `start`; what to call the key."""
        if self.text[at] != '"':
            word = self.word_at(at)
            raise self.stop(slips.NOT_A_KEY, at, at + len(word), word=printable(word[:SHOWN]))
        key_at = at
        key, key_end = self.string(at)
        at = self.space(key_end)
        if at >= len(self.text):
            raise self.cut_off("an object", start)
        if self.text[at] != ":":
            raise self.stop(slips.NO_COLON, at, at + 1, key=printable(key))
        at = self.space(at + 1)
        if at >= len(self.text):
            raise self.cut_off("an object", start)
        value, at = self.value(at, depth + 1)
        if key in members:
            self.repeat(key, (members[key], value), start, (keys[key], key_at, key_end))
        members[key] = value
        keys.setdefault(key, key_at)
        return f"`{printable(key)}`", at

    def repeat(
        self, key: str, values: tuple[Any, Any], start: int, at: tuple[int, int, int]
    ) -> None:
        """Note a repeated key, in the slip of its object if there is one already."""
        if start in self.parted:
            return
        if (repeated := self.repeated.get(start)) is not None:
            repeated.others.append(key)
            return
        self.repeated[start] = _Repeated(len(self.slips))
        first, second = values
        same = first == second and type(first) is type(second)
        both = "both times the same" if same else f"first {shown(first)}, then {shown(second)}"
        line = self.line(at[0])
        self.note(slips.DUPLICATE_KEY, *at[1:], key=printable(key), values=both, line=line)

    def string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self.bad_string(at)
        raw = match[0]
        for escape in re.finditer(r"\\.", raw, re.DOTALL):
            if not _ESCAPE.match(raw, escape.start()):
                start = at + escape.start()
                raise self.stop(slips.BAD_ESCAPE, start, start + 2, escape=printable(escape[0]))
        value: str = json.loads(raw)
        if _SURROGATE.search(value):
            self.note(slips.LONE_SURROGATE, at, match.end(), string=shown(value))
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
                words = {
                    "name": _CONTROL.get(char, f"the control character U+{ord(char):04X}"),
                    "line": self.line(at),
                    "escape": json.dumps(char)[1:-1],
                }
                return self.stop(slips.CONTROL_CHARACTER, end, end + 1, **words)
            end += 1
        return self.cut_off("a string", at)

    def number(self, at: int) -> tuple[Any, int]:
        match = _NUMBER.match(self.text, at)
        if match is None or match[0] != self.word_at(at):
            return self.word(at)
        raw, end = match[0], match.end()
        if not math.isfinite(float(raw)):
            self.note(slips.OUT_OF_RANGE, at, end, number=raw[:SHOWN])
            self.mend(at, end, "0")
            return None, end
        return (float(raw) if set(raw) & set(".eE") else int(raw)), end

    def word(self, at: int) -> tuple[Any, int]:
        word = self.word_at(at)
        end = at + len(word)
        if word in _LITERALS:
            return _LITERALS[word], end
        plain = word.lstrip("+-").lower()
        if plain in _NOT_FINITE:
            self.note(slips.NOT_FINITE, at, end, word=word)
            self.mend(at, end, "0")
            return None, end
        near = _NEAR_LITERALS.get(plain, plain if plain in _LITERALS else "")
        hint = f"write `{near}`" if near else ""
        if word[:1] == "'":
            hint = slips.QUOTES
        elif word[:1] in "+-.0123456789":
            hint = slips.DIGITS
        raise self.stop(slips.NOT_A_VALUE, at, end, word=printable(word[:SHOWN]), hint=hint)
