"""Two values and their difference as people read them: two digits of the standard error."""

from __future__ import annotations

import msgspec

from ..numbers.exact import Number
from .document import Row

_NONE = "—"
# Beyond these places a number is written with an exponent.
_WIDEST, _FINEST = 12, 9


class Numerals(msgspec.Struct, frozen=True):
    """The cells of a row: both values, their difference, its interval."""

    base: str
    candidate: str
    difference: str
    interval: str

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends of the interval."""
        low, _, high = self.interval.strip("[]").partition(", ")
        return low, high


def numerals(base: Number | None, candidate: Number | None, row: Row) -> Numerals:
    """The numbers of a row, all to the place of the second digit of the standard error.

    Without an error, of a quarter of the interval; without either three significant digits. The
    error is of the difference: what one side has however uncertain leaves the other two digits.
    """
    place = _place(row)

    def write(value: Number | None, sign: str = "", to: int | None = place) -> str:
        return _NONE if value is None else _written(value, to, sign)

    interval = _NONE
    if row.low is not None and row.high is not None:
        interval = f"[{write(row.low, '+')}, {write(row.high, '+')}]"
    mine, theirs = (write(value, to=_of_side(value, place)) for value in (base, candidate))
    return Numerals(mine, theirs, write(row.difference, "+"), interval)


def ratio(value: Number) -> str:
    """A share as percent, with its sign."""
    return f"{100 * value:+.1f}%"


def _place(row: Row) -> int | None:
    """How many decimals are written; None where nothing says it."""
    error = row.stderr
    if not error and row.low is not None and row.high is not None:
        error = row.high / 4 - row.low / 4
    if not error or error < 0:
        return None
    return _second_digit(error)


def _of_side(value: Number | None, place: int | None) -> int | None:
    if place is None or not value:
        return place
    needed = _second_digit(value)
    return max(place, min(needed, 0) if value == int(value) else needed)


def _second_digit(value: Number) -> int:
    return 1 - int(f"{value:.1e}".partition("e")[2])


def _written(value: Number, place: int | None, sign: str) -> str:
    if not value:
        # 0 has no sign.
        return f"{0:.{min(max(place or 0, 0), _FINEST)}f}"
    if isinstance(value, int) and place is None:
        return f"{value:{sign}d}"
    if place is None or place > _FINEST or abs(value) >= 10**_WIDEST:
        return f"{value:{sign}.3g}"
    if place < 0:
        return f"{round(value, place):{sign}.0f}"
    return f"{value:{sign}.{place}f}"
