"""The numbers that texts are: as JSON, spreadsheets and data frames write them."""

from __future__ import annotations

import math
from typing import Any

from .exact import Number

_MOST_DIGITS = 300
# Beyond it a float may stand for several integers.
_EXACT = 2**53


def number(written: str) -> Number | None:
    """The finite number that a text is, with white space around it perhaps; else None."""
    text = written.strip()
    # What `float` takes besides: 1_000 and the digits of other scripts; NaN and inf.
    if "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    is_whole = value.is_integer() and text.lstrip("+-").isdigit()
    return int(text) if is_whole and len(text) < _MOST_DIGITS else value


def integer(value: Any) -> Any:
    """The integer that a float is: 1.0, as data frames write a column with gaps; else the value."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value
