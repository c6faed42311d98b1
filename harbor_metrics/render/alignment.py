"""Cells side by side, in columns as wide as a terminal shows them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ..documents.wording import columns


def measure(rows: Iterable[Sequence[str]]) -> list[int]:
    """The width of each column of the rows."""
    return [max(map(columns, cells)) for cells in zip(*rows, strict=True)]


def align(
    cells: Iterable[str], widths: Iterable[int], *, right: Container[int] = (), gap: str = "  "
) -> str:
    """The cells on one line, each on the left of its column, or where `right` has its index there.

    A cell that is wider than its column moves the next ones.
    """
    padded = []
    for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - columns(cell))
        padded.append(f"{space}{cell}" if index in right else f"{cell}{space}")
    return gap.join(padded).rstrip()
