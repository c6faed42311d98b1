"""What the order of the rewards tells: the smallest and the largest."""

from __future__ import annotations

import builtins

from ..exact import Number
from ..metric import Undefined
from ..table import Column
from .moments import NO_VALUES


def min(rewards: Column) -> Number | Undefined:
    """Smallest reward.

    A trial without the reward counts as 0 unless `missing` says otherwise.
    """
    return builtins.min(rewards.values) if rewards.values else Undefined(NO_VALUES)


def max(rewards: Column) -> Number | Undefined:
    """Largest reward.

    A trial without the reward counts as 0 unless `missing` says otherwise, so that it is never
    below 0 where a reward is missing.
    """
    return builtins.max(rewards.values) if rewards.values else Undefined(NO_VALUES)
