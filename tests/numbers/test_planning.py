"""Which differences show, and with how many tasks."""

from __future__ import annotations

from typing import Any

import pytest
from golden_comparisons import near, of_method
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers.planning import smallest, tasks_needed


@of_method("smallest-difference")
def test_the_smallest_difference(case: dict[str, Any]) -> None:
    given, n = case["inputs"], case["inputs"]["n"]
    found = smallest(given["sd"] / n**0.5, n - 1, 1 - given["alpha"], given["power"])
    assert found == near(case, case["expected"]["smallest"])
    assert found == pytest.approx(case["expected"]["smallest_exact"], rel=0.013)


@of_method("tasks-needed")
def test_tasks_needed(case: dict[str, Any]) -> None:
    given = case["inputs"]
    attempts = given["rerun_base"] + given["rerun_candidate"]
    variance = given["task_variance"] + attempts / given["attempts"]
    found = tasks_needed(variance, given["difference"], 1 - given["alpha"], given["power"])
    assert found == case["expected"]["tasks"]


@given(st.floats(1e-4, 1), st.floats(0.01, 1))
def test_so_many_tasks_show_it_and_one_fewer_do_not(variance: float, difference: float) -> None:
    n = tasks_needed(variance, difference, 0.95, 0.8)
    assert n is not None
    assert smallest((variance / n) ** 0.5, n - 1, 0.95, 0.8) <= difference
    if n > 2:
        n -= 1
        assert smallest((variance / n) ** 0.5, n - 1, 0.95, 0.8) > difference


def test_more_than_anybody_plans() -> None:
    assert tasks_needed(1.0, 1e-9, 0.95, 0.8) is None
    assert tasks_needed(0.0, 0.1, 0.95, 0.8) == 2
