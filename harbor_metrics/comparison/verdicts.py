"""What an interval around a difference says, in a word."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["better", "worse", "higher", "lower", "same", "~"]
# From the worst to the best.
VERDICTS: tuple[Verdict, ...] = ("worse", "lower", "~", "same", "higher", "better")


def verdict(low: float | None, high: float | None, margin: float | None) -> Verdict:
    """`same` inside the margin, else on which side of 0 it lies; `~` where neither is shown."""
    if low is None or high is None:
        return "~"
    if margin is not None and -margin <= low and high <= margin:
        return "same"
    if low <= 0 <= high:
        return "~"
    return "higher" if low > 0 else "lower"


def worded(shown: Verdict, higher_is_better: bool | None) -> Verdict:
    """What `higher` or `lower` means where it is known which is better; other words as they are."""
    if higher_is_better is None or shown not in ("higher", "lower"):
        return shown
    return "better" if (shown == "higher") == higher_is_better else "worse"
