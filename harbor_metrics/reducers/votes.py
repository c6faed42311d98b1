"""What most of a task's attempts say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.reducer import Voted
from ..numbers.exact import Number

_Label = Annotated[
    str | None,
    Meta(
        description="A label whose values are the votes, each apart even where their rewards are "
        "the same number; 1, 1.0 and true are one vote. An attempt without it votes by its reward."
    ),
]


def mode(attempts: Sequence[Number], *, label: _Label = None) -> Number:  # noqa: ARG001
    """Reward of the most frequent vote; of several, of the one that came first."""
    return _most(attempts)[0]


def majority(
    attempts: Sequence[Number],
    *,
    label: _Label = None,  # noqa: ARG001
) -> Number | Undefined:
    """Reward that more than half of the attempts vote for; without one there is no value."""
    value, times = _most(attempts)
    if 2 * times > len(attempts):
        return value
    return Undefined(f"no reward has a majority of the {len(attempts)} attempts")


def _most(attempts: Sequence[Number]) -> tuple[Number, int]:
    """The reward of the first attempt with the most frequent vote, and how many have that vote."""
    votes = attempts.votes if isinstance(attempts, Voted) else attempts
    vote, times = Counter(votes).most_common(1)[0]
    return attempts[votes.index(vote)], times
