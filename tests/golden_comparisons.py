"""The cases of golden/compare.json: two runs, and what statsmodels, scipy, R and others say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import HERE

CASES: list[dict[str, Any]] = json.loads((HERE / "golden" / "compare.json").read_text())["cases"]


def of_method(*methods: str) -> Any:
    """Every case of these methods, as the parameter `case` of a test."""
    chosen = [case for case in CASES if case["method"] in methods]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: f"{case['id']} {case['what']}")


def near(case: dict[str, Any], value: float | None) -> Any:
    """The expected value within the tolerance of the case; None is None."""
    if value is None:
        return None
    return pytest.approx(value, rel=case["tolerance"], abs=case["tolerance"])
