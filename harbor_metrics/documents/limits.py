"""What no text may hold, whoever reads it: deep nesting, integers beyond binary64."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 200
# Digits of the shortest integer that may be beyond binary64, rounded down.
_LONG = 300
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Of so many digits that follow each other this many stand at places that the step divides.
_STEP = 50
_LARGEST = int(sys.float_info.max)
_MET = b"0" * (_LONG // _STEP)
_PIECE = 1 << 20
_OUT_OF_RANGE = "a number is out of range: larger than any binary64 number"
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_NUMBER = rb"-?[0-9]{%d,}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?" % _LONG


class LimitError(ValueError):
    """A text goes beyond a limit; the message says which."""


def check_limits(data: bytes) -> None:
    """Refuse a JSON text that is nested too deep or has an integer that no float is near.

    Floats beyond binary64 are left to the decoders, which refuse them all.

    Raises:
        LimitError: it is so; nothing is said of a text that is not JSON.
    """
    if is_too_deep(data):
        raise LimitError(f"nested deeper than {MAX_DEPTH} levels")
    check_integers(data)


def check_integers(data: bytes) -> None:
    """The same for lines that cannot be nested, because of what they are decoded to."""
    if has_huge_integer(data):
        raise LimitError(_OUT_OF_RANGE)


def check_decoded(value: Any) -> None:
    """The same for what another text than JSON says, which is no part of itself.

    Raises:
        LimitError: an integer is beyond binary64; nobody could write it out either.
        RecursionError: it is nested too deep.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if any(map(is_huge, level)):
            raise LimitError(_OUT_OF_RANGE)
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise RecursionError(f"nested deeper than {MAX_DEPTH} levels")


def is_huge(value: Any) -> bool:
    """Whether it is an integer that no float is near."""
    return isinstance(value, int) and not -_LARGEST <= value <= _LARGEST


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def is_too_deep(data: bytes) -> bool:
    """Whether arrays and objects lie in each other more than `MAX_DEPTH` levels deep.

    Those that are never closed count: a decoder enters them before it meets the end of the text.
    """
    # One kind is counted, and few are replaced: half the time of counting both.
    if len(data) < _PIECE and data.replace(b"[", b"{").count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes that meet change nothing of what is inside a string and what is not.
    structure = data.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    pairs = b"".join(structure.split(b'"')[::2]).translate(_BRACKETS)
    unclosed = 2 * len(pairs.translate(None, b"]")) - len(pairs)
    if unclosed > MAX_DEPTH:
        return True
    pairs += b"]" * unclosed
    # Each round takes the innermost level away.
    for _ in range(MAX_DEPTH):
        fewer = pairs.replace(b"[]", b"")
        if len(fewer) == len(pairs):
            return False
        pairs = fewer
    return b"[]" in pairs


def has_huge_integer(data: bytes) -> bool:
    """Whether a number that begins with very many digits is beyond binary64."""
    if not has_long_number(data):
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b" ".join(data.split(b'"')[::2])
    return any(math.isinf(float(number)) for number in re.findall(_NUMBER, outside))


def has_long_number(data: bytes) -> bool:
    """Whether so many digits follow each other anywhere that they may be such an integer."""
    if _MET not in data[::_STEP].translate(_DIGITS):
        return False
    return any(
        b"0" * _LONG in data[start : start + _PIECE + _LONG].translate(_DIGITS)
        for start in range(0, len(data), _PIECE)
    )
