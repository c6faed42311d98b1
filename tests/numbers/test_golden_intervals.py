"""Intervals against statsmodels, scipy, mpmath, Inspect and scorio: what those answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.catalogue.names import bind
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.measurement import measure
from harbor_metrics.numbers import proportions
from harbor_metrics.numbers.uncertainty import Over
from harbor_metrics.numbers.units import Range, Units
from harbor_metrics.testing import outcome, trials
from harbor_metrics.trials.table import Table

CASES = {
    case["id"]: case
    for case in json.loads((HERE / "golden" / "statistics.json").read_text())["cases"]
    if case["kind"] == "interval"
}
OF_COUNTS = {
    "wilson": proportions.wilson,
    "clopper-pearson": proportions.clopper_pearson,
    "jeffreys": proportions.jeffreys,
}
BY_METHOD = {"hall": "hall", "clustered-t": "t", "korn-graubard-wilson": "korn-graubard"}


def rows(tasks: list[list[float]]) -> dict[str, Any]:
    return {
        "rewards": [{"r": reward} for task in tasks for reward in task],
        "tasks": [f"t{i:03}" for i, task in enumerate(tasks) for _ in task],
    }


def beside(metric: str, case: dict[str, Any], level: float, over: Over) -> dict[str, Any]:
    """The value of a metric and what stands beside it."""
    spec = MetricSpec(type=metric, kwargs=case.get("kwargs", {}))
    found = measure(bind(spec), spec, Table(trials(case)), missing=None, level=level, over=over)
    sure = found.uncertainty[metric]
    return {
        "value": found.values[metric],
        "low": sure.low,
        "high": sure.high,
        "n_effective": sure.n_effective,
    }


def answer(case: dict[str, Any]) -> dict[str, Any]:
    name, inputs, kwargs = case["name"], case["inputs"], dict(case["kwargs"])
    level = kwargs["level"]
    if name in OF_COUNTS:
        passed, n = inputs["passed"], inputs["n"]
        units = Units([1, 0], None, 1, [passed, n - passed], Range.BINARY)
        return dict(zip(("low", "high"), OF_COUNTS[name](units, level), strict=True))
    data = rows(inputs["tasks"] if "tasks" in inputs else [[value] for value in inputs["values"]])
    if name in BY_METHOD:
        return outcome("ci", {**data, "kwargs": {"level": level, "method": BY_METHOD[name]}}).values
    if name == "effective-wilson-of-pass-at-k":
        return beside("pass-at-k", {**data, "kwargs": {"k": kwargs["k"]}}, level, "tasks")
    if name == "wilson-over-attempts":
        return beside("mean-reward", data, level, "attempts")
    assert name == "effective-wilson"
    return beside("accuracy", data, level, "tasks")


@pytest.mark.parametrize("name", CASES)
def test_interval_is_that_of_other_packages(name: str) -> None:
    case = CASES[name]
    found = answer(case)
    for part, expected in case["expected"].items():
        within = case["tolerance"]
        assert found[part] == pytest.approx(expected, rel=within, abs=0 if expected else within)
