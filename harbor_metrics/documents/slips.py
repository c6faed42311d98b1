"""Every slip that a text can make in JSON, in our own words on every Python."""

from __future__ import annotations

import msgspec


class Slip(msgspec.Struct, frozen=True):
    """One mistake of syntax; `start` and `end` are offsets into the text."""

    rule: str
    message: str
    start: int
    end: int
    label: str = ""
    note: str = ""
    help: str = ""


class Sentence(msgspec.Struct, frozen=True):
    """What to say of a kind of slip; `{…}` stands for what the text has there."""

    rule: str
    message: str
    label: str
    help: str = ""
    note: str = ""

    def about(self, start: int, end: int, **words: object) -> Slip:
        """The slip at these offsets."""
        message, label, help_ = (
            part.format(**words) for part in (self.message, self.label, self.help)
        )
        return Slip(self.rule, message, start, max(start, end), label, self.note, help_)


# The whole text.

EMPTY = Sentence("json-syntax", "the file is empty", "nothing here")
WEB_PAGE = Sentence(
    "not-json",
    "this is HTML or XML, not JSON",
    "a web page",
    "it may be an error page saved by mistake: fetch the raw file again",
)
CONFLICT_MARKER = Sentence(
    "conflict-marker",
    "a conflict marker of git was left in",
    "left by a merge",
    "keep one side, or both with a comma between, and delete the markers",
)
CUT_OFF = Sentence(
    "json-syntax",
    "the text ends inside {inside} that began on line {line}: it is truncated or incomplete",
    "ends here",
    "fetch or write the file again, whole",
)
MORE_TEXT = Sentence("json-syntax", "`{char}` after the end of the document", "more text")
COMMENT = Sentence(
    "json-comment",
    "JSON has no comments",
    "a comment",
    "delete it, or put the text into a `description`",
)

# Objects and arrays.

TOO_DEEP = Sentence("too-deep", "nested deeper than {levels} levels", "too deep")
TRAILING_COMMA = Sentence(
    "trailing-comma", "a comma after the last {noun} of {inside}", "delete this comma"
)
SECOND_COMMA = Sentence("json-syntax", "a comma too many", "too many")
MISSING_COMMA = Sentence(
    "json-syntax",
    "missing comma between {before} and {after}",
    "a comma must come before this",
    "put a comma after the value before",
)
MISSING_BRACES = Sentence(
    "json-syntax",
    "missing `}}, {{` between {before} and {after}, which the object has already",
    "another object must begin here",
    "put `}}, {{` between the two, or a comma and another key",
)
NEITHER_COMMA_NOR_END = Sentence(
    "json-syntax",
    "`{char}` where a comma or the end of {inside} should be",
    "expected `,` or `{closing}`",
)
NOT_A_KEY = Sentence("json-syntax", "`{word}` where a key in double quotes should be", "not a key")
NO_COLON = Sentence("json-syntax", "no colon after the key `{key}`", "expected `:`")
DUPLICATE_KEY = Sentence(
    "duplicate-key",
    "duplicate key `{key}` in an object: {values}; the first is on line {line}",
    "the second time",
    "delete one; where two objects were merged into one, part them again",
    "Harbor keeps the last one and says nothing",
)

# Strings.

BAD_ESCAPE = Sentence(
    "json-syntax",
    "`{escape}` is not an escape in JSON",
    "bad escape",
    "write a backslash as `\\\\`",
)
CONTROL_CHARACTER = Sentence(
    "json-syntax",
    "{name} inside a string that began on line {line}",
    "not allowed in a string",
    "close the string, or write {escape}",
)
LONE_SURROGATE = Sentence(
    "lone-surrogate",
    "the string {string} holds half of a surrogate pair, which is no character",
    "lone surrogate",
    "write the character itself, or both halves",
    "a text with it cannot be written as UTF-8",
)

# Numbers and words.

NOT_A_VALUE = Sentence("json-syntax", "`{word}` is not a JSON value", "not JSON", "{hint}")
NOT_FINITE = Sentence(
    "non-finite-number",
    "`{word}` is not a JSON number",
    "not finite",
    "write a finite number, or leave the key out where there is no number",
    "Python writes it, strict readers refuse the whole text",
)
OUT_OF_RANGE = Sentence(
    "number-out-of-range",
    "the number {number} is out of range: larger than any binary64 number",
    "out of range",
)
QUOTES = "strings take double quotes in JSON"
DIGITS = "a JSON number is digits, with a digit before and after a point, no `+`, no 0 first"
