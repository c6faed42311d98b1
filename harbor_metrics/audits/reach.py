"""How far a mean can be from what is on disk when some of its values are missing there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from ..numbers.exact import Number
from ..trials.source import Source
from ..trials.trial import GroupKey
from .row import Known


class Missing:
    """How many trials of a source may be missing, those that could not be read counted once."""

    def __init__(self, source: Source) -> None:
        self._unread = Counter(source.unread)
        self._absent = 0
        job = source.job
        if job is not None and job.n_total_trials is not None:
            absent = max(job.n_total_trials - len(source.trials) - len(source.unread), 0)
            self._absent = -(-absent // max(job.n_groups, 1))

    def of(self, group: GroupKey | None) -> int:
        """Those that may be of a group; where it is not known whose they are, all."""
        of_group = self._unread[group] if group is not None else self._unread.total()
        nobodys = self._unread[None] if group is not None else 0
        return of_group + nobodys + self._absent


def bounded(mean: Known, values: Collection[Number], n: int, missing: int) -> Known:
    """The mean with the range in which it is when the missing values are like those that are there.

    Args:
        mean: over the n values that are there, or means of them.
        values: those that are there; between 0 and 1, others may be, else between their extremes.
        n: over how many it is.
        missing: how many values are not there; reported changes one of the n, or is one more.
    """
    if mean.value is None or not n or not missing or not values:
        return mean
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        low, high = 0, 1
    step = missing * (float(high) - float(low)) / n
    return mean._replace(reach=(max(low, mean.value - step), min(high, mean.value + step)))
