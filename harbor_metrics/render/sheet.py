"""What every table of a result is made of, whatever it is written in."""

from __future__ import annotations

import msgspec


class Line(msgspec.Struct, frozen=True):
    """A row of cells, and why it has no value; `indent` is how deep its first cell stands."""

    cells: tuple[str, ...]
    why: str = ""
    indent: int = 0
    failed: bool = False


class Sheet(msgspec.Struct, frozen=True):
    """A table with what stands above and below it.

    The first `names` columns say what a row is; the others are numbers. `below` are headings with
    texts.
    """

    title: str
    counts: str
    headings: tuple[str, ...]
    lines: list[Line]
    below: list[tuple[str, str]]
    names: int = 1
