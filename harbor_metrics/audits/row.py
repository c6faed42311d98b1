"""One number that a log reports, beside the same number computed anew, and whether they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ..numbers.exact import Number
from ..trials.source import Reported

# Harnesses round as they go along; a number that is another differs by more.
CLOSE = 1e-12
_NAN = "NaN"


class Verdict(StrEnum):
    """What is known of a reported number.

    `equal`: the recomputed one is the same within 1e-12; `explained`: it is another, and what the
    harness computes instead is the same within 1e-12; `unverified`: there was nothing to recompute
    it from, or not all of it; `differs`: none of these.
    """

    EQUAL = "equal"
    EXPLAINED = "explained"
    UNVERIFIED = "unverified"
    DIFFERS = "differs"


class Unknown(NamedTuple):
    """Why a number is not computed here; `near` it should be, where that is known."""

    reason: str
    near: Number | None = None


class Known(NamedTuple):
    """A number, None where it is undefined, and what there is to say about it.

    `reach` is the least and the most that it can be with the trials that are missing, None where
    that is unknown.
    """

    value: Number | None
    reason: str = ""
    reach: tuple[Number, Number] | None = None


class Instead(NamedTuple):
    """What the harness writes where the number is another one or undefined, and why."""

    written: Number | str
    reason: str
    value: Number | None = None


class Absent(NamedTuple):
    """That a log lacks what the harness writes, or what a number would be of; how it is known.

    `value` is what should be there.
    """

    reason: str
    value: Number | None = None


class Drawn(NamedTuple):
    """Where a number that was drawn at random should be, and its Monte Carlo error."""

    value: Number
    error: float
    reason: str
    most: float = 5


class Between(NamedTuple):
    """The least and the most that a number can be that was drawn at random, and why no more."""

    low: Number
    high: Number
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of an audit.

    `group` is what the number is over, in words; `monte_carlo_errors` how far a number that was
    drawn at random is from where it should be.
    """

    path: str
    group: str
    name: str
    reported: Number | str | None
    recomputed: Number | None
    verdict: Verdict
    reason: str = ""
    monte_carlo_errors: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As an object of flat fields."""
        return {
            "path": self.path,
            "group": self.group,
            "name": self.name,
            "reported": self.reported,
            "recomputed": self.recomputed,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "monte_carlo_errors": self.monte_carlo_errors,
        }


Answer = Known | Unknown | Instead | Absent | Drawn | Between


def judge(path: str, group: str, reported: Reported, answer: Answer, *, incomplete: str) -> Row:
    """Whether a number that a log reports holds.

    Args:
        path: the source that reports it.
        group: what it is over, in words.
        reported: the number in the log.
        answer: what was computed.
        incomplete: why the trials on disk are not those that were reported on; else empty.
    """
    if isinstance(answer, Between):
        value = None
    else:
        value = answer.near if isinstance(answer, Unknown) else answer.value
    verdict, reason = _verdict(reported, answer, incomplete)
    return Row(
        path=path,
        group=group,
        name=reported.place,
        reported=reported.not_finite or reported.value,
        recomputed=value,
        verdict=verdict,
        reason=reason,
        monte_carlo_errors=_distance(reported, answer),
    )


def _verdict(reported: Reported, answer: Answer, incomplete: str) -> tuple[Verdict, str]:
    if isinstance(answer, Unknown):
        return Verdict.UNVERIFIED, answer.reason
    if isinstance(answer, Absent):
        return (Verdict.UNVERIFIED, incomplete) if incomplete else (Verdict.DIFFERS, answer.reason)
    if isinstance(answer, Instead):
        return _of_instead(reported, answer, incomplete)
    if isinstance(answer, Drawn | Between):
        return _of_draws(reported, answer, incomplete)
    if not _infinite(reported) and agree(reported.value, answer.value):
        both = reported.value is None and answer.value is None
        return Verdict.EQUAL, f"undefined here: {answer.reason}" if both else answer.reason
    if not incomplete:
        return Verdict.DIFFERS, answer.reason
    if reported.value is None or answer.reach is None:
        return Verdict.UNVERIFIED, incomplete
    low, high = answer.reach
    if low - CLOSE <= reported.value <= high + CLOSE:
        return Verdict.UNVERIFIED, incomplete
    return (
        Verdict.DIFFERS,
        f"{incomplete}, with which it can be between {low:.6g} and {high:.6g}",
    )


def _of_instead(reported: Reported, answer: Instead, incomplete: str) -> tuple[Verdict, str]:
    same = (
        reported.not_finite == answer.written
        if isinstance(answer.written, str)
        else not _infinite(reported) and agree(reported.value, answer.written)
    )
    if reported.value is None and answer.value is None and not _infinite(reported):
        return Verdict.EQUAL, answer.reason
    if same:
        return Verdict.EXPLAINED, answer.reason
    return (Verdict.UNVERIFIED, incomplete) if incomplete else (Verdict.DIFFERS, answer.reason)


def _of_draws(reported: Reported, answer: Drawn | Between, incomplete: str) -> tuple[Verdict, str]:
    if reported.value is None:
        return Verdict.DIFFERS, "the log has no number, and the scores give one"
    if incomplete:
        return Verdict.UNVERIFIED, incomplete
    if isinstance(answer, Between):
        low, high = answer.low, answer.high
        if low - CLOSE <= reported.value <= high + CLOSE:
            return Verdict.UNVERIFIED, answer.reason
        return (
            Verdict.DIFFERS,
            f"{answer.reason}, but it can only be between {low:.6g} and {high:.6g}",
        )
    away = _distance(reported, answer)
    if away is None:
        return Verdict.EQUAL, ""
    if away <= answer.most:
        return Verdict.UNVERIFIED, answer.reason
    return Verdict.DIFFERS, f"{answer.reason}, and it is further away than chance can be"


def _distance(reported: Reported, answer: Answer) -> float | None:
    """From where a drawn number should be, in Monte Carlo errors; None where it is that."""
    if not isinstance(answer, Drawn) or reported.value is None:
        return None
    if agree(reported.value, answer.value):
        return None
    return abs(reported.value - answer.value) / answer.error if answer.error else math.inf


def _infinite(reported: Reported) -> bool:
    """Whether the log has an infinity, or a text that is no number."""
    return reported.not_finite not in ("", _NAN)


def agree(number: Number | None, other: Number | None) -> bool:
    """Whether two numbers are the same but for the rounding of a harness."""
    if number is None or other is None:
        return number is other
    if isinstance(number, int) and isinstance(other, int):
        # Nothing rounds integers: above 2**53 the next one is nearer than the rounding of floats.
        return number == other
    try:
        return number == other or math.isclose(number, other, rel_tol=CLOSE, abs_tol=CLOSE)
    except OverflowError:
        return False
