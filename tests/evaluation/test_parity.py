"""Jobs that the real Harbor ran: its own numbers, to the last bit."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from conftest import JOBS, ROOT

import harbor_metrics
from harbor_metrics.evaluation.parity import pass_at_k

if TYPE_CHECKING:
    from harbor_metrics.trials.table import Table

REGISTRY = {
    "single": "ds",
    "two-models": "ds",
    "interrupted": "ds",
    "multi": "ds-multi",
    "graded": "ds-graded",
    "script": "ds-script",
    "left-out": "sails",
}


def reported(job: Path) -> dict[str, dict[str, object]]:
    return json.loads((job / "result.json").read_text())["stats"]["evals"]


@pytest.mark.parametrize("name", REGISTRY)
def test_every_number_is_harbors(name: str) -> None:
    registry = JOBS / "datasets" / f"{REGISTRY[name]}.registry.json"
    result = harbor_metrics.compute(JOBS / name, registry=registry)
    expected = reported(JOBS / name)
    assert {group.evals_key for group in result.groups} == expected.keys()
    for group in result.groups:
        theirs = expected[str(group.evals_key)]
        assert [metric.values for metric in group.metrics] == theirs["metrics"]
        assert group.pass_at_k == theirs["pass_at_k"]
        assert group.counts.scored == theirs["n_trials"]
        assert group.counts.errored == theirs["n_errors"]


@pytest.mark.parametrize("name", ["buoys", "charts"])
def test_the_example_gives_what_harbor_reported(name: str) -> None:
    job = ROOT / "registry" / "jobs" / name
    (group,) = harbor_metrics.compute(job).groups
    theirs = reported(job)[str(group.evals_key)]
    assert [metric.values for metric in group.metrics] == theirs["metrics"]
    assert group.pass_at_k == theirs["pass_at_k"]


def test_interrupted_job_says_what_it_lacks() -> None:
    registry = JOBS / "datasets" / "ds.registry.json"
    (group,) = harbor_metrics.compute(JOBS / "interrupted", registry=registry).groups
    assert not group.complete
    assert (group.counts.expected, group.counts.found) == (200, 61)


def test_of_very_many_attempts_no_table_of_all_k_is_made() -> None:
    """A Parquet of 2 kB can have fifty million."""

    class Attempts:
        @staticmethod
        def task_passes() -> Counter[tuple[int, int]]:
            return Counter({(50_000_000, 49_999_990): 1})

    chances = pass_at_k(cast("Table", Attempts()))
    assert len(chances) < 3000
    assert max(map(int, chances)) == 10_000
