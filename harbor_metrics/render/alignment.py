"""Cells side by side in columns as wide as a terminal shows them, and texts that fit its width."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from ..documents.wording import columns

# A command, perhaps with names of others in it: in two lines it would be two, and who pastes both
# would run the second one. In backquotes it ends with these, if nothing in it is quoted.
_COMMAND = re.compile(
    r"(?<![^ ])(?:[(\[]?`(?:harbor-metrics|uv|git) [^`']*`[^ ]*|"
    r"[(\[]?`?(?:harbor-metrics [a-z]|uv lock |git -C ).*)",
    re.DOTALL,
)
# Where a word may be parted if it must: behind what joins its parts.
_JOINT = r"(?<=[/_.,:;=@·-])(?=.)"


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


def longest_word(text: str) -> int:
    """How wide the widest word of a text is."""
    return max(map(columns, text.split(" ")))


def fold(text: str, width: int) -> list[str]:
    """The text in lines that fit; those after the first are two columns narrower, for an indent.

    Parted between words; a word that is wider than a line behind what joins its parts, and
    elsewhere only where it has none. A command is not parted.
    """
    words: list[tuple[str, bool]] = []
    at = 0
    for command in _COMMAND.finditer(text):
        before = text[at : command.start()]
        words += [(word, False) for word in before.removesuffix(" ").split(" ") if before]
        words.append((command[0], True))
        at = command.end() + 1
    words += [(word, False) for word in text[at:].split(" ") if at <= len(text)]
    lines: list[str] = []
    line = ""
    for word, whole in words:
        fits = whole or columns(word) <= width - 2
        parts = [word] if fits else _parts(word, max(1, width - 2))
        for index, part in enumerate(parts):
            longer = f"{line} {part}" if line and not index else f"{line}{part}"
            if columns(longer) <= width - (2 if lines else 0):
                line = longer
            else:
                lines += [line] if line else []
                line = part
    return [*lines, line]


def _parts(word: str, width: int) -> list[str]:
    """The word behind each of its joints, and what is wider than that cut."""
    parts: list[str] = []
    for part in re.split(_JOINT, word):
        while columns(part) > width:
            end = used = 0
            while end < len(part) and (not end or used + columns(part[end]) <= width):
                used += columns(part[end])
                end += 1
            parts.append(part[:end])
            part = part[end:]
        parts.append(part)
    return parts
