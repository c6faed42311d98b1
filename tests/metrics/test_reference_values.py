"""Metrics against `golden/metrics.json`: the same data given to packages that also compute them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import HERE
from reference_cases import arranged, expectations

from harbor_metrics.testing import outcome

GOLDEN = json.loads((HERE / "golden" / "metrics.json").read_text())["cases"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_a_metric_agrees_with_packages(case: dict[str, Any]) -> None:
    trials = arranged(case["name"], case["inputs"])
    for metric, kwargs, expected in expectations(case):
        given = {**trials.get("kwargs", {}), **case["kwargs"], **kwargs}
        found = outcome(metric, {**trials, "kwargs": given})
        assert found.status != "failed", found.error
        for name, value in expected.items():
            if name not in ("slope", "intercept"):  # of the curve, which the horizons are on
                near = pytest.approx(value, rel=case["tolerance"], abs=case["tolerance"])
                assert found.values[name] == near
