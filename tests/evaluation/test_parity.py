"""Jobs that the real Harbor ran: its own numbers, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import JOBS, ROOT

import harbor_metrics

REGISTRY = {
    "single": "ds",
    "two-models": "ds",
    "interrupted": "ds",
    "multi": "ds-multi",
    "graded": "ds-graded",
    "script": "ds-script",
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
