"""How sure a difference would be over these very tasks, if only the attempts were made again."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from .attempts import Spread
from .differences import Difference, student


class Reruns(msgspec.Struct, frozen=True):
    """What the attempts of both sides add to the variance of the difference, and its interval.

    `within`: the variance of single attempts at a task, of the base and of the candidate.
    """

    found: Difference
    variance: Fraction
    within: tuple[Fraction, Fraction]


def reruns(difference: Fraction, base: Spread, candidate: Spread, level: float) -> Reruns:
    """Welch and Satterthwaite's t of two means over attempts at the same tasks."""
    variance = base.variance + candidate.variance
    parts = sum(
        (side.variance**2 / side.freedom for side in (base, candidate) if side.freedom),
        Fraction(0),
    )
    within = base.variance / base.evenly, candidate.variance / candidate.evenly
    if not variance:
        return Reruns(Difference(p=None if difference else 1.0), variance, within)
    df = float(variance**2 / parts)
    return Reruns(student(float(difference), variance, df, level), variance, within)
