"""JSON as Python harnesses write it: bare NaN and Infinity, and halves of surrogate pairs.

A bare constant becomes a text that no harness writes: NUL and its name. Readers know it by
`constant`, and what is only passed on is a text.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

from .source import REFUSED

_CONSTANT = re.compile(rb"-?(?:NaN|Infinity)")
_MARK = "\0"


class NotJSONError(ValueError):
    """The text is no JSON, or not of the shape that is asked for; the message says where."""


def constant(value: Any) -> str:
    """`NaN`, `Infinity` or `-Infinity` where a value stands for one, else nothing."""
    if isinstance(value, str) and value[:1] == _MARK:
        return value[1:]
    return ""


def decode(data: bytes, to: Any) -> Any:
    """The value of a JSON text.

    Raises:
        NotJSONError: it is none, or has another shape.
    """
    try:
        return msgspec.json.decode(data, type=to)
    except REFUSED as error:
        refused = error
    if b"NaN" in data or b"Infinity" in data:
        try:
            return msgspec.json.decode(without_constants(data), type=to)
        except REFUSED as error:
            refused = error
    if "truncated" in str(refused):
        raise NotJSONError("cut off: the JSON ends too early") from refused
    try:
        value = json.loads(data, parse_constant=lambda name: f"{_MARK}{name}", parse_float=_finite)
        return msgspec.convert(_encodable(value), to)
    except msgspec.ValidationError as error:
        raise NotJSONError(f"{error}") from error
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise NotJSONError(f"line {error.lineno}, column {error.colno}: {what}") from error
    except UnicodeDecodeError as error:
        raise NotJSONError(f"not UTF-8: {data[error.start]:#04x} at byte {error.start}") from error
    except (ValueError, RecursionError) as error:
        raise NotJSONError("nested too deeply, or a number too long") from error


def _finite(literal: str) -> float | str:
    """A number beyond binary64 is infinite."""
    value = float(literal)
    if math.isfinite(value):
        return value
    return f"{_MARK}Infinity" if value > 0 else f"{_MARK}-Infinity"


def without_constants(data: bytes) -> bytes:
    """The same text with each bare constant as a string of its name behind a NUL.

    A constant is bare where the quotes before it are even in number.
    """
    parts: list[bytes] = []
    last = 0
    inside = False
    for found in _CONSTANT.finditer(data):
        before = data[last : found.start()]
        inside ^= _quotes(before) % 2 == 1
        parts.append(before)
        name = found.group()
        parts.append(name if inside else b'"\\u0000' + name + b'"')
        last = found.end()
    parts.append(data[last:])
    return b"".join(parts)


def _quotes(text: bytes) -> int:
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return text.count(b'"')


def _encodable(value: Any) -> Any:
    """The same with half surrogate pairs replaced, so that it can be written again."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value
