"""JSON as Python harnesses write it: bare NaN and Infinity, and halves of surrogate pairs.

A bare constant becomes a text that no harness writes: NUL and its name. Readers recognise it by
`constant`; where a value is passed on unread, it stays this text, and a document that has this text
itself is refused. Half a pair, which no UTF-8 holds, becomes a sign for private use: one sign,
since scores of texts count them, and each its own.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any

import msgspec

from ...documents.limits import MAX_DEPTH, has_huge_integer, is_too_deep
from ...documents.wording import encodable
from ...trials.source import REFUSED

_CONSTANT = re.compile(rb"-?(?:NaN|Infinity)")
_MARK, _NUL = "\0", b"\\u0000"
_NAMES = {"NaN", "Infinity", "-Infinity"}
# A text of so few letters that it can be one of these marks, whatever stands for a letter.
_MARKED = re.compile(rb'(?<!\\)"\\u0000(?:[-a-zA-Z]|\\u00[0-9a-fA-F]{2}){3,9}"')
_TOO_LARGE = "nested too deeply, or a number too long"
# How half a pair is written, for `str.encode`; the first half, and the sign for that.
_PRIVATE = "harbor-metrics-private"
_FIRST_HALF, _FIRST_SIGN = 0xD800, 0x100000
_SIGN = re.compile(rb"\xf4\x80[\x80-\x9f]|\\ud[bB][cC][01]\\u", re.IGNORECASE)


class NotJSONError(ValueError):
    """The text is not JSON, or not of the shape that is asked for; the message says where."""


class InfiniteError(ValueError):
    """A value that would be a reward is infinite; `key` is the reward's."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def constant(value: Any) -> str:
    """`NaN`, `Infinity` or `-Infinity` where a value stands for one, else nothing."""
    if isinstance(value, str) and value[:1] == _MARK and value[1:] in _NAMES:
        return value[1:]
    return ""


def _in_private(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    halves = error.object[error.start : error.end]
    signs = (chr(ord(half) - _FIRST_HALF + _FIRST_SIGN) for half in halves)
    return "".join(signs).encode(), error.end


codecs.register_error(_PRIVATE, _in_private)


def decode(data: bytes, to: Any) -> Any:
    """The value of a JSON text.

    Raises:
        NotJSONError: it is not JSON, or has another shape.
    """
    data = _as_utf8(data)
    _check(data)
    refused: Exception | None = None
    # The fast decoder would take an integer that is beyond binary64.
    if not has_huge_integer(data):
        try:
            return msgspec.json.decode(data, type=to)
        except REFUSED as error:
            refused = error
        if b"NaN" in data or b"Infinity" in data:
            try:
                return msgspec.json.decode(without_constants(data), type=to)
            except REFUSED as error:
                refused = error
    try:
        value = json.loads(
            data,
            parse_constant=lambda name: f"{_MARK}{name}",
            parse_float=_finite,
            parse_int=_whole,
        )
    except (ValueError, RecursionError) as error:
        # Not before: msgspec says so of half a surrogate pair at the very end, too.
        if "truncated" in str(refused):
            raise NotJSONError("cut off: the JSON ends too early") from refused
        raise NotJSONError(_reason(error, data)) from error
    value = _without_halves(value, data)
    try:
        return msgspec.convert(value, to)
    except RecursionError as error:
        raise NotJSONError(_TOO_LARGE) from error
    except msgspec.ValidationError as error:
        # Inside, for weight: only a text of another shape needs it.
        from ...documents.mismatch import mismatch_with

        mismatch = mismatch_with(to, value)
        raise NotJSONError(mismatch.sentence if mismatch else str(error)) from error


def _as_utf8(data: bytes) -> bytes:
    """The text as UTF-8: Python reads others, too."""
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8"):
        return data
    try:
        return data.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        raise NotJSONError(_reason(error, data)) from error


def _check(data: bytes) -> None:
    """Refuse what is nested too deep, and a text that would be taken for a constant."""
    if is_too_deep(data):
        raise NotJSONError(f"nested deeper than {MAX_DEPTH} levels")
    check_marks(data)


def check_marks(data: bytes) -> None:
    """Refuse JSON with a text that `constant` would take for a constant.

    Raises:
        NotJSONError: it has one.
    """
    for match in _MARKED.finditer(data) if _NUL in data else ():
        if name := constant(json.loads(match.group())):
            raise NotJSONError(f"a text is NUL and `{name}`, which cannot be told from {name}")


def _without_halves(value: Any, data: bytes) -> Any:
    """The value with signs for halves of pairs; it may have no such signs itself then."""
    written = encodable(value, _PRIVATE)
    if _SIGN.search(data) and written != value:
        raise NotJSONError("half of a surrogate pair beside a sign between U+100000 and U+1007FF")
    return written


def _reason(error: ValueError | RecursionError, data: bytes) -> str:
    """Why a text is not JSON, and where."""
    if isinstance(error, json.JSONDecodeError):
        message = error.msg[:1].lower() + error.msg[1:]
        return f"line {error.lineno}, column {error.colno}: {message}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: {data[error.start]:#04x} at byte {error.start}"
    return _TOO_LARGE


def _finite(literal: str) -> float | str:
    """The number, or the mark of an infinite one where it is beyond binary64."""
    value = float(literal)
    if math.isfinite(value):
        return value
    return f"{_MARK}Infinity" if value > 0 else f"{_MARK}-Infinity"


def _whole(literal: str) -> int | str:
    """The integer, or the mark of an infinite number where it is beyond binary64."""
    marked = _finite(literal)
    return marked if isinstance(marked, str) else int(literal)


def without_constants(data: bytes) -> bytes:
    """The text with each bare constant as a string of its name behind a NUL.

    A constant is bare where the quotes before it are even in number.
    """
    parts: list[bytes] = []
    last = 0
    inside = False
    for match in _CONSTANT.finditer(data):
        before = data[last : match.start()]
        inside ^= _quotes(before) % 2 == 1
        parts.append(before)
        name = match.group()
        parts.append(name if inside else b'"\\u0000' + name + b'"')
        last = match.end()
    parts.append(data[last:])
    return b"".join(parts)


def _quotes(text: bytes) -> int:
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return text.count(b'"')
