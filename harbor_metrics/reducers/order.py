"""One of a task's attempts."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ..numbers.exact import Number


def min(attempts: Sequence[Number]) -> Number:
    """Worst attempt."""
    return builtins.min(attempts)


def max(attempts: Sequence[Number]) -> Number:
    """Best attempt."""
    return builtins.max(attempts)


def first(attempts: Sequence[Number]) -> Number:
    """First attempt: by `attempt` where trials say it, else by start, name, line."""
    return attempts[0]


def last(attempts: Sequence[Number]) -> Number:
    """Last attempt: by `attempt` where trials say it, else by start, name, line."""
    return attempts[-1]
