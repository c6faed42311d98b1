"""How far a mean can be from what is on disk."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_metrics.audits.reach import Missing, bounded
from harbor_metrics.audits.row import Known
from harbor_metrics.trials.source import Job, Source
from harbor_metrics.trials.trial import GroupKey, Trial

X, Y = GroupKey("x", None, None), GroupKey("y", None, None)


def source(**more: Any) -> Source:
    trials = [Trial(task=name, rewards=None, agent="x") for name in "ab"]
    return Source(path="p", trials=trials, sha256="", **more)


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, 0),
        ({"unread": [X, Y, None]}, 2),
        ({"job": Job(n_total_trials=6)}, 4),
        ({"job": Job(n_total_trials=7, n_groups=2)}, 3),
        ({"job": Job(n_total_trials=3), "unread": [X]}, 1),
        ({"job": Job(n_total_trials=1)}, 0),
    ],
)
def test_missing_trials_of_a_group_are_unread_or_absent(
    fields: dict[str, Any], missing: int
) -> None:
    assert Missing(source(**fields)).of(X) == missing


def test_all_unread_trials_count_where_the_group_is_unknown() -> None:
    assert Missing(source(unread=[X, Y, None])).of(None) == 3


def test_missing_rewards_between_0_and_1_can_be_either() -> None:
    assert bounded(Known(0.5), [0.4, 0.6], 10, 1).reach == (0.4, 0.6)
    assert bounded(Known(0.95), [0.9, 1], 10, 1).reach == (0.85, 1)


def test_other_missing_rewards_are_between_those_there_are() -> None:
    assert bounded(Known(5), [2, 8], 3, 1).reach == (3, 7)
    assert bounded(Known(5), [2, 8], 3, 9).reach == (2, 8)


@pytest.mark.parametrize(
    "mean", [bounded(Known(0.5), [1], 1, 0), bounded(Known(None), [1], 1, 1),
             bounded(Known(0.5), [], 1, 1), bounded(Known(0.5), [1], 0, 1)],
)  # fmt: skip
def test_reach_is_unknown_without_values_or_missing_ones(mean: Known) -> None:
    assert mean.reach is None
