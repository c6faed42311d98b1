"""What lm-eval makes of the numbers of a group's tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..numbers.exact import Number
from ..trials.source import Reported
from .row import Answer, Instead, Known

_STDERR = "_stderr"


def added(counts: Sequence[Answer]) -> Answer:
    """How many documents the tasks of a group have, as lm-eval writes them."""
    written = [count.written for count in counts if isinstance(count, Instead)]
    total = sum(c.value or 0 for c in counts if isinstance(c, Known | Instead))
    if not written:
        return Known(total)
    other = sum(c.value or 0 for c in counts if isinstance(c, Known))
    return Instead(other, next(c.reason for c in counts if isinstance(c, Instead)), total)


def combined(
    reported: Reported, values: Sequence[Number], sizes: Sequence[int]
) -> tuple[float, float]:
    """The number of a group when its tasks are weighted by size, and when they are not."""
    if reported.metric.endswith(_STDERR):
        return _pooled(values, sizes), _unweighted(values)
    total = sum(sizes)
    by_size = math.fsum(v * n for v, n in zip(values, sizes, strict=True)) / total
    return by_size, math.fsum(values) / len(values)


def _pooled(errors: Sequence[Number], sizes: Sequence[int]) -> float:
    """lm-eval's error of a mean that is weighted by size."""
    spread = math.fsum((n - 1) * n * e * e for e, n in zip(errors, sizes, strict=True))
    total = sum(sizes)
    return math.sqrt(spread / (total - len(sizes)) / total) if total > len(sizes) else 0.0


def _unweighted(errors: Sequence[Number]) -> float:
    """The error of a mean of means."""
    return math.sqrt(math.fsum(e * e for e in errors)) / len(errors)
