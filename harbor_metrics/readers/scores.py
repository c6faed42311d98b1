"""What a harness calls a score, as numbers by reward key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..exact import Number

# Inspect's own: correct, partial, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value by reward key: `name`, for what is inside it `name/member` or `name/place` from 0."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(f"{name}/{key}", item)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(f"{name}/{place}", item)
    else:
        yield name, value


def inspect_number(value: str | float | bool, unknown: Callable[[str], None]) -> Number:
    """What Inspect's `value_to_float` makes of a scalar score; a text it does not know is 0.0.

    Raises:
        OverflowError: it is beyond binary64.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise OverflowError
        return value
    if value in _LETTERS:
        return _LETTERS[value]
    if (word := value.lower()) in _WORDS:
        return _WORDS[word]
    try:
        number = float(value)
        if math.isfinite(number):
            return number
    except ValueError:
        pass
    unknown(value)
    return 0.0
