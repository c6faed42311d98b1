"""The cases of tests/metrics: one file a metric, and what every metric must do."""

from __future__ import annotations

import json
import random

import pytest
from conftest import HERE

from harbor_metrics.evaluate import Planned, evaluate
from harbor_metrics.metric import UV_SCRIPT, MetricSpec, lookup, names
from harbor_metrics.result import Outcome
from harbor_metrics.table import Table, Trial

FILES = sorted((HERE / "metrics").glob("*.json"))
CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {case['what']}")
    for path in FILES
    for case in json.loads(path.read_text())
]


def outcome(type_: str, rewards: list[object], kwargs: dict[str, object]) -> Outcome:
    trials = [Trial(task=f"t{i}", rewards=r) for i, r in enumerate(rewards)]
    spec = MetricSpec(type=type_, kwargs=kwargs)
    planned = Planned(name=type_, spec=spec, origin="registry")
    (one,) = evaluate([planned], Table(trials), missing=None, scripts=lambda planned, table: [])
    return one


@pytest.mark.parametrize(("type_", "case"), CASES)
def test_case(type_: str, case: dict[str, object]) -> None:
    one = outcome(type_, case["rewards"], case.get("kwargs", {}))
    if "error" in case:
        assert one.status == "failed"
        assert case["error"] in one.error.message
        return
    assert one.values == case["values"]
    assert list(map(type, one.values.values())) == list(map(type, case["values"].values()))
    for word in case.get("reasons", []):
        assert word in " ".join(one.reasons.values())


def test_every_metric_has_cases() -> None:
    assert {path.stem for path in FILES} == set(names()) - {UV_SCRIPT}


@pytest.mark.parametrize("name", sorted(set(names()) - {UV_SCRIPT}))
def test_every_metric_says_what_it_is(name: str) -> None:
    assert lookup(name).summary.endswith(".")


@pytest.mark.parametrize("name", sorted(set(names()) - {UV_SCRIPT}))
def test_no_trials_give_no_number(name: str) -> None:
    one = outcome(name, [], {})
    assert one.status == "undefined"
    assert list(one.values.values()) == [None]
    assert all(one.reasons.values())


@pytest.mark.parametrize("name", sorted(set(names()) - {UV_SCRIPT}))
def test_order_of_the_trials_changes_no_number(name: str) -> None:
    rewards = [{"reward": x} for x in (0.1, 1e16, 0.7, -1e16, 1 / 3, 0.0)] + [None]
    first = outcome(name, rewards, {})
    for seed in range(20):
        random.Random(seed).shuffle(rewards)
        assert outcome(name, rewards, {}).values == first.values
