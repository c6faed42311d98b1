"""The trials of sources by group, and what is known to be missing among them."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_metrics.audits.tables import incomplete, measured, tables_of
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import MetricFailure
from harbor_metrics.trials.source import Job, Source
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import LineTrials, Trial


def source(*agents: str, **more: Any) -> Source:
    trials = [Trial(task=f"t{i}", rewards={"r": i}, agent=a) for i, a in enumerate(agents)]
    return Source(path="p", trials=trials, sha256="", **more)


def test_group_is_one_table_over_all_sources() -> None:
    lines = Source(path="r", trials=LineTrials(1, {"r": [1]}), sha256="")
    tables = tables_of([source("x", "y"), source("x"), lines])
    assert {key.agent: len(table) for key, table in tables.items()} == {"x": 2, "y": 1}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ""),
        ({"job": Job(n_total_trials=2)}, ""),
        ({"job": Job(n_total_trials=5)}, "3 of 5 trials are missing on disk"),
        (
            {"job": Job(n_total_trials=8, trials_per_sample=3, running=True)},
            "the run is not finished: 2 of 2 samples are missing on disk",
        ),
        ({"unread": [None] * 3, "job": Job(trials_per_sample=2)}, "2 samples could not be read"),
    ],
)
def test_incomplete_source_says_how_many_are_missing(fields: dict[str, Any], words: str) -> None:
    assert incomplete(source("x", "x", **fields)) == words


def test_metric_is_measured_without_its_uncertainty() -> None:
    table = Table([Trial(task="a", rewards={"r": 0.25}), Trial(task="b", rewards=None)])
    found = measured(MetricSpec(type="mean"), table)
    assert (found.values, found.uncertainty) == ({"mean": 0.125}, {})
    with pytest.raises(MetricFailure, match="unknown metric"):
        measured(MetricSpec(type="nonesuch"), table)
