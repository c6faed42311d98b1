"""One number that a log reports, beside the same number computed anew, and whether they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ..exact import Number
from ..readers.source import Reported

# Harnesses round as they go along; a number that is another differs by more.
CLOSE = 1e-12
_NAN = "NaN"
# What every reason says of an overflow.
_BEYOND = "beyond"


class Verdict(StrEnum):
    """`equal`: within 1e-12; `explained`: not, or not computed, and why; `differs`: unexplained."""

    EQUAL = "equal"
    EXPLAINED = "explained"
    DIFFERS = "differs"


class Unknown(NamedTuple):
    """Why a number is not computed here, or not to the digit; `near` is what it should be near."""

    reason: str
    near: Number | None = None


class Known(NamedTuple):
    """A number, None where it is undefined, and what there is to say about it.

    `reach` is between what it can be with the trials that are missing, None where that is unknown.
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


def judge(path: str, group: str, each: Reported, found: Known | Unknown, *, incomplete: str) -> Row:
    """Whether a number holds.

    Args:
        path: the source that reports it.
        group: what it is over, in words.
        each: what is reported.
        found: what was computed.
        incomplete: why the trials on disk are not those that were reported on; else empty.
    """
    value = found.value if isinstance(found, Known) else found.near
    verdict, reason = _verdict(each, found, incomplete)
    return Row(
        path=path,
        group=group,
        name=each.place,
        reported=each.not_finite or each.value,
        recomputed=value,
        verdict=verdict,
        reason=reason,
    )


def _verdict(each: Reported, found: Known | Unknown, incomplete: str) -> tuple[Verdict, str]:
    if isinstance(found, Unknown):
        return Verdict.EXPLAINED, found.reason
    told = each.not_finite not in ("", _NAN)
    if told and each.value is None and found.value is None and _BEYOND in found.reason:
        return Verdict.EXPLAINED, found.reason
    if not told and agree(each.value, found.value):
        both = each.value is None and found.value is None
        return Verdict.EQUAL, f"undefined here: {found.reason}" if both else found.reason
    if incomplete and (each.value is None or found.reach is None):
        return Verdict.EXPLAINED, incomplete
    if incomplete and each.value is not None and found.reach is not None:
        low, high = found.reach
        if low - CLOSE <= each.value <= high + CLOSE:
            return Verdict.EXPLAINED, incomplete
        return (
            Verdict.DIFFERS,
            f"{incomplete}, with which it can be between {low:.6g} and {high:.6g}",
        )
    return Verdict.DIFFERS, found.reason


def agree(one: Number | None, other: Number | None) -> bool:
    """Whether two numbers are the same but for the harness's rounding."""
    if one is None or other is None:
        return one is other
    try:
        return one == other or math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    except OverflowError:
        return False
