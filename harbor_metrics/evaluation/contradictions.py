"""What the types of a document do not say: numbers of it that cannot all be true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# An outcome and counts are those of `result`, which asks this and so cannot be named here.


def contradictions(outcome: Any) -> Iterator[str]:
    """What no outcome can be."""
    failed = outcome.status == "failed"
    if failed != bool(outcome.error) or (failed and outcome.values):
        yield "a metric that is `failed`, and no other, has an `error` and no values"
    if outcome.status == "undefined" and any(v is not None for v in outcome.values.values()):
        yield "a metric that is `undefined` has a value"
    for what in ("n", "basis", "reasons", "uncertainty"):
        for name in getattr(outcome, what) or ():
            if name not in outcome.values:
                yield f"`{what}` is of `{name}`, which is no value"
    for name in outcome.reasons:
        if outcome.values.get(name) is not None:
            yield f"the value `{name}` is a number, and a reason says why it is none"
    yield from _of_numbers(outcome)


def _of_numbers(outcome: Any) -> Iterator[str]:
    for name, sure in outcome.uncertainty.items():
        low, high = sure.low, sure.high
        if (sure.stderr or 0) < 0 or (low is not None and high is not None and low > high):
            yield f"the error or the interval of `{name}` is less than nothing"
    for name, basis in outcome.known_basis.items():
        if max(basis.passed or 0, basis.tasks) > basis.trials:
            yield f"the value `{name}` is over more than its trials"


def check_counts(counts: Any, place: str) -> None:
    """Look whether counts add up.

    Raises:
        ValueError: they do not.
    """
    if counts.scored + counts.missing != counts.found:
        raise ValueError(f"`scored` and `missing` are not all that were `found` - at `{place}`")
    if (counts.left_out or 0) > counts.missing:
        raise ValueError(f"more are `left_out` than `missing` - at `{place}`")
    if max(counts.tasks, counts.errored) > counts.found:
        raise ValueError(f"`tasks` or `errored` are more than were `found` - at `{place}`")
