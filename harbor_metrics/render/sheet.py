"""What every table of a result is made of, whatever it is written in."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A row of cells, and why it has no value; `indent` is how deep its first cell stands."""

    cells: tuple[str, ...]
    why: str = ""
    indent: int = 0
    failed: bool = False


class Sheet(NamedTuple):
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
