"""Totals and averages of rewards."""

from __future__ import annotations

from .. import exact
from ..exact import Number
from ..metric import Undefined
from ..table import Column

BEYOND = "the sum is beyond the largest binary64 number"
NO_VALUES = "no rewards are left to aggregate"


def sum(rewards: Column) -> Number | Undefined:
    """Sum of the rewards.

    Rounded once, so it does not depend on the order of the trials. An integer where all rewards
    are integers. Harbor's own answer depends on the order of the trials where integers other
    than 0 and floats mix in one key; here it never does.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    value = exact.total(rewards.values)
    return Undefined(BEYOND) if value is None else value


def mean(rewards: Column) -> Number | Undefined:
    """Average of the rewards: their sum divided by how many there are.

    The sum is rounded once, so the mean does not depend on the order of the trials. A trial
    without the reward counts as 0 unless `missing` says otherwise. Harbor's own answer depends on
    the order of the trials where integers other than 0 and floats mix in one key; here it never
    does. Where no trial at all has a reward Harbor says 0.0, and here it is undefined.
    """
    if not rewards.values:
        return Undefined(NO_VALUES)
    value = exact.mean(rewards.values)
    return Undefined(BEYOND) if value is None else value
