"""Which places several runs can have by one metric, all pairs of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..comparison.document import Row
from ..numbers.adjustment import adjusted


class Rank(NamedTuple):
    """The best and the worst place that a run can have, 1 being the best of all."""

    run: str
    low: int
    high: int


def ranks(runs: Sequence[str], pairs: Mapping[tuple[str, str], Row], level: float) -> list[Rank]:
    """The places of the runs; `pairs` are (base, candidate), each two runs once.

    1 and how many are surely better, to all but how many are surely worse (Mogstad and others
    2024), by Holm over all pairs. Empty where nobody says which value is better.
    """
    if any(row.higher_is_better is None for row in pairs.values()):
        return []
    ps = adjusted([1.0 if row.p is None else float(row.p) for row in pairs.values()], "holm")
    better = dict.fromkeys(runs, 0)
    worse = dict.fromkeys(runs, 0)
    for ((base, candidate), row), p in zip(pairs.items(), ps, strict=True):
        if p < 1 - level and row.difference:
            up = (row.difference > 0) == row.higher_is_better
            first, second = (candidate, base) if up else (base, candidate)
            better[second] += 1
            worse[first] += 1
    return [Rank(run, 1 + better[run], len(runs) - worse[run]) for run in runs]
