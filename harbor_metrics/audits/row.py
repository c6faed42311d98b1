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
# A word of every reason that speaks of an overflow.
_BEYOND = "beyond"


class Verdict(StrEnum):
    """`equal`: within 1e-12; `explained`: not, or not computed, and why; `differs`: unexplained."""

    EQUAL = "equal"
    EXPLAINED = "explained"
    DIFFERS = "differs"


class Unknown(NamedTuple):
    """Why a number is not computed here, or not to the digit; then it should be near `near`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of an audit; `group` is what the number is over, in words."""

    path: str
    group: str
    name: str
    reported: Number | str | None
    recomputed: Number | None
    verdict: Verdict
    reason: str = ""

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
        }


Answer = Known | Unknown


def judge(path: str, group: str, reported: Reported, answer: Answer, *, incomplete: str) -> Row:
    """Whether a number that a log reports holds.

    Args:
        path: the source that reports it.
        group: what it is over, in words.
        reported: the number in the log.
        answer: what was computed.
        incomplete: why the trials on disk are not those that were reported on; else empty.
    """
    value = answer.value if isinstance(answer, Known) else answer.near
    verdict, reason = _verdict(reported, answer, incomplete)
    return Row(
        path=path,
        group=group,
        name=reported.place,
        reported=reported.not_finite or reported.value,
        recomputed=value,
        verdict=verdict,
        reason=reason,
    )


def _verdict(reported: Reported, answer: Answer, incomplete: str) -> tuple[Verdict, str]:
    if isinstance(answer, Unknown):
        return Verdict.EXPLAINED, answer.reason
    infinite = reported.not_finite not in ("", _NAN)
    if infinite and reported.value is None and answer.value is None and _BEYOND in answer.reason:
        return Verdict.EXPLAINED, answer.reason
    if not infinite and agree(reported.value, answer.value):
        both = reported.value is None and answer.value is None
        return Verdict.EQUAL, f"undefined here: {answer.reason}" if both else answer.reason
    if incomplete and (reported.value is None or answer.reach is None):
        return Verdict.EXPLAINED, incomplete
    if incomplete and reported.value is not None and answer.reach is not None:
        low, high = answer.reach
        if low - CLOSE <= reported.value <= high + CLOSE:
            return Verdict.EXPLAINED, incomplete
        return (
            Verdict.DIFFERS,
            f"{incomplete}, with which it can be between {low:.6g} and {high:.6g}",
        )
    return Verdict.DIFFERS, answer.reason


def agree(number: Number | None, other: Number | None) -> bool:
    """Whether two numbers are the same but for the rounding of a harness."""
    if number is None or other is None:
        return number is other
    try:
        return number == other or math.isclose(number, other, rel_tol=CLOSE, abs_tol=CLOSE)
    except OverflowError:
        return False
