"""Numbers as people read them: as many digits as their standard error bears out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from ..evaluation.result import Uncertainty
from ..numbers.exact import Number

# How a table writes numbers: two significant digits of the error, or all that there are.
Digits = Literal["significant", "full"]
NONE = "—"
# Beyond these places a number is written with an exponent.
_WIDEST, _FINEST = 15, -9


class Numerals(msgspec.Struct, frozen=True):
    """A value with its standard error and its interval, as text; empty where it has none."""

    value: str
    stderr: str = ""
    interval: str = ""


def numerals(value: Number | None, sure: Uncertainty | None, digits: Digits) -> Numerals:
    """The value, and both ends of its interval, to the place of the error's second digit.

    GUM 7.2.6. Without an error three significant digits; without any uncertainty the number itself.
    """
    if sure is None or value is None:
        text = NONE if value is None else exact(value, digits)
        return Numerals(text, *((NONE, NONE) if sure else ()))
    write = _writer(sure.stderr, digits)
    stderr = NONE if sure.stderr is None else write(sure.stderr)
    ends = (sure.low, sure.high)
    known = [write(end) for end in ends if end is not None]
    interval = f"[{', '.join(known)}]" if len(known) == len(ends) else NONE
    return Numerals(write(value), stderr, interval)


def exact(value: Number, digits: Digits = "significant") -> str:
    """A number without an error: six significant digits, integers below 10^15 whole."""
    if digits == "full":
        return repr(value).removesuffix(".0")
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    return f"{value:.6g}"


def significant(value: Number, digits: int) -> str:
    """The number with so many significant digits; 0 and 1 where it is 0 and 1."""
    plain = exact(value)
    if value in (0, 1):
        return plain
    text = f"{value:.{digits}g}"
    return text if float(text) not in (0, 1) else _apart(value)


def _writer(error: Number | None, digits: Digits) -> Callable[[Number], str]:
    """What writes the numbers beside an error."""
    if digits == "full":
        return lambda number: exact(number, "full")
    if not error:
        return lambda number: significant(number, 3)
    place = int(f"{error:.1e}".partition("e")[2]) - 1
    return lambda number: _to_place(number, place)


def _to_place(value: Number, place: int) -> str:
    """The number up to the digit of 10^place; only 0 and 1 themselves are written as 0 and 1."""
    if value in (0, 1):
        return str(int(value))
    size = int(f"{value:e}".partition("e")[2])
    if size >= _WIDEST or place < _FINEST:
        return f"{value:.{max(0, size - place)}e}"
    text = f"{value:.{-place}f}" if place < 0 else f"{round(value, -place):.0f}"
    return text if float(text) not in (0, 1) else _apart(value)


def _apart(value: Number) -> str:
    """A number near 0 or 1 with the first digits that tell it from them."""
    for places in range(1, -_FINEST + 1):
        text = f"{value:.{places}f}"
        if float(text) not in (0, 1):
            return text
    return f"{value:.1e}" if abs(value) < 0.5 else repr(float(value))
