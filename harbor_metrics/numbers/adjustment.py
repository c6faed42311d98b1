"""What p values are worth when several questions are asked at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

Adjust = Literal["holm", "bh", "none"]


def adjusted(ps: Sequence[float], how: Adjust) -> list[float]:
    """The p values, each as if its question were the only one.

    `holm` (1979): of all that are shown, none is false at the level; `bh` (Benjamini and Hochberg
    1995): of those that are shown, few are false.
    """
    if how == "none":
        return list(ps)
    n = len(ps)
    order = sorted(range(n), key=ps.__getitem__)
    if how == "holm":
        steps = accumulate((ps[i] * (n - rank) for rank, i in enumerate(order)), max)
        found = dict(zip(order, steps, strict=True))
    else:
        back = order[::-1]
        steps = accumulate((ps[i] * n / (n - rank) for rank, i in enumerate(back)), min)
        found = dict(zip(back, steps, strict=True))
    return [min(1.0, found[i]) for i in range(n)]
