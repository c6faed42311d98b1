"""The numbers that texts are: as JSON, spreadsheets and data frames write them."""

from __future__ import annotations

import math
import re
from typing import Any

from .exact import Number

_WHOLE = re.compile(r"[+-]?[0-9]+")
# Without what `float` takes besides: NaN, inf, 1_000 and the digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOST_DIGITS = 300
# Beyond it a float may stand for several integers.
_EXACT = 2**53


def number(written: str) -> Number | None:
    """The finite number that a text is, with white space around it perhaps; else None."""
    text = written.strip()
    if _WHOLE.fullmatch(text) and len(text) < _MOST_DIGITS:
        return int(text)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def integer(value: Any) -> Any:
    """The integer that a float is: 1.0, as data frames write a column with gaps; else the value."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value
