"""A unified diff whose cost is in proportion to the texts, as long as they differ at few places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from itertools import takewhile

# Lines that stand around a change, and those around it among which it is looked for: where lines
# stand twice it can be said to begin before the first that differs.
_AROUND, _LOOKED_AT = 3, 100
# `difflib` compares lines that stand several times each with each: of more lines between the first
# and the last change all count as changed.
_MOST_COMPARED = 1_000
_HEAD = re.compile(r"@@ -(\d+)(.*?) \+(\d+)")


def unified(before: Sequence[str], after: Sequence[str], name: str, new_name: str) -> str:
    """The lines that differ, three others around them, as `diff -u` writes them.

    The lines end in line breaks.
    """
    start = max(0, _n_alike(before, after) - _LOOKED_AT)
    before, after = before[start:], after[start:]
    n_last = max(0, _n_alike(before[::-1], after[::-1]) - _LOOKED_AT)
    before, after = (lines[: len(lines) - n_last] for lines in (before, after))
    if max(len(before), len(after)) > _MOST_COMPARED:
        lines = _replaced(before, after, name, new_name)
    else:
        lines = list(unified_diff(before, after, name, new_name, n=_AROUND))
    heads = (i for i, line in enumerate(lines) if line.startswith("@@ "))
    for i in heads:
        lines[i] = _HEAD.sub(
            lambda head: f"@@ -{int(head[1]) + start}{head[2]} +{int(head[3]) + start}", lines[i]
        )
    return "".join(lines)


def _replaced(before: Sequence[str], after: Sequence[str], name: str, new_name: str) -> list[str]:
    """The first different line to the last as one change."""
    first = _n_alike(before, after)
    last = _n_alike(before[first:][::-1], after[first:][::-1])
    start, end = max(0, first - _AROUND), max(0, last - _AROUND)
    removed, added = (lines[first : len(lines) - last] for lines in (before, after))
    old, new = (len(lines) - start - end for lines in (before, after))
    return [
        f"--- {name}\n",
        f"+++ {new_name}\n",
        f"@@ -{start + bool(old)},{old} +{start + bool(new)},{new} @@\n",
        *(f" {line}" for line in before[start:first]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in before[len(before) - last : len(before) - end]),
    ]


def _n_alike(lines: Sequence[str], others: Sequence[str]) -> int:
    """How many lines are the same from the first on."""
    pairs = zip(lines, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
