"""What somebody who looks into a document could take for a number, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .files.names import shown

_NUMBER = re.compile(r"\s*[+-]?(\d++\.?\d*|\.\d+)([eE][+-]?\d+)?\s*+%?\s*")


def numbers_in(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Place and value of all at any depth: texts of numbers, too."""
    if isinstance(value, dict):
        place = shown(place)
        for name, inner in value.items():
            yield from numbers_in(f"{place}.{name}", inner)
    elif isinstance(value, list):
        place = shown(place)
        for index, inner in enumerate(value):
            yield from numbers_in(f"{place}[{index}]", inner)
    elif is_number(value) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        yield place, value


def is_number(value: Any) -> bool:
    """Whether it is one, which a boolean is not."""
    return type(value) in (int, float)
