"""Names in which others lie: each of these repeats them, so that a long one takes the square."""

from __future__ import annotations

from typing import TypeVar

from ...documents.wording import without_passwords

_V = TypeVar("_V")
LONGEST = 1_000
_SHOWN = 200


class TwoValuesError(ValueError):
    """Two values have one name, since what is nested is named by its place; `key` is the name."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def put(values: dict[str, _V], name: str, value: _V) -> None:
    """Note a value by its name.

    Raises:
        TwoValuesError: another value has that name.
    """
    if values.setdefault(name, value) != value:
        raise TwoValuesError(name)


def of_parts(name: str) -> str:
    """A name that is put before those of its parts.

    Raises:
        ValueError: it is longer than any that a harness writes.
    """
    if len(name) > LONGEST:
        raise ValueError(
            f"the name of a value with others in it, {name[:20]}…, has more than {LONGEST:,} "
            "characters"
        )
    return name


def shown(name: str) -> str:
    """As much of a name as tells where its parts stand."""
    name = without_passwords(name)
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
