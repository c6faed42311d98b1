"""What most of a task's attempts say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..contract.estimate import Undefined
from ..numbers.exact import Number


def mode(attempts: Sequence[Number]) -> Number:
    """Most frequent reward; of several, the one that came first."""
    return Counter(attempts).most_common(1)[0][0]


def majority(attempts: Sequence[Number]) -> Number | Undefined:
    """Reward of more than half of the attempts; without one there is no value."""
    value, times = Counter(attempts).most_common(1)[0]
    if 2 * times > len(attempts):
        return value
    return Undefined(f"no reward has a majority of the {len(attempts)} attempts")
