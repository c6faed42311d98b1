"""Votes over scores as Inspect was given them."""

from __future__ import annotations

import pytest

from harbor_metrics.audits.inspect_votes import by_vote
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

NUMBERS = {"C": 1.0, "I": 0.0, "N": 0.0}


def attempts(*scores: str | None, **labels: str) -> Table:
    """Attempts at one task with these letters; None: NaN, which has no reward."""
    return Table(
        [
            Trial(
                task="t",
                attempt=i,
                rewards=None if score is None else {"k": NUMBERS[score]},
                labels={"inspect/value": score, **labels},
            )
            for i, score in enumerate(scores, 1)
        ]
    )


@pytest.mark.parametrize(
    ("scores", "mode", "majority"),
    [
        ("CCI", {"k": 1.0}, {"k": 1.0}),
        # Two texts of one number are two votes.
        ("CINC", {"k": 1.0}, None),
        ("ICIN", {"k": 0.0}, None),
        # NaN has a vote in a majority, and none in a mode.
        ((None, "C"), {"k": 1.0}, None),
        ((None, None), None, None),
    ],
)
def test_vote_is_over_scores_as_given(
    scores: tuple[str, ...], mode: object, majority: object
) -> None:
    table = attempts(*scores)
    assert [t.rewards for t in by_vote(table, "k", "mode")] == [mode]
    assert [t.rewards for t in by_vote(table, "k", "majority")] == [majority]


def test_attempt_that_failed_has_no_vote() -> None:
    failed = attempts("I", "I", **{"inspect/status": "error"})
    assert list(by_vote(failed, "k", "mode")) == []
    (voted,) = by_vote(failed + attempts("C"), "k", "majority")
    assert voted.rewards == {"k": 1.0}


def test_number_votes_as_a_number() -> None:
    trials = [Trial(task="t", attempt=i, rewards={"k": r}) for i, r in enumerate((1, 1.0, 0))]
    (voted,) = by_vote(Table(trials), "k", "majority")
    assert voted.rewards == {"k": 1}
