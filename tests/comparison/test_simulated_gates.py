"""Gates err as seldom as they promise: a small simulation; `benchmarks/gates.py` has it all."""

from __future__ import annotations

from pathlib import Path

import pytest
from comparison.simulated_gates import (
    false_alarms,
    family,
    power_beyond_analytic,
    wrongly_passed,
)

pytestmark = pytest.mark.one_python

# Of so many runs the share lies this much beside what is true once in a thousand times or less.
RUNS = 200


def test_equal_agents_are_seldom_called_worse(tmp_path: Path) -> None:
    assert false_alarms(tmp_path, "uniform", 20, 3, RUNS) <= 0.07


def test_who_loses_the_margin_seldom_passes(tmp_path: Path) -> None:
    assert wrongly_passed(tmp_path, "uniform", 50, 3, RUNS) <= 0.09


def test_of_three_equal_agents_seldom_one_stands_out(tmp_path: Path) -> None:
    assert family(tmp_path, "uniform", 20, 3, 3, RUNS) <= 0.11


def test_the_planned_power_is_about_what_is_found(tmp_path: Path) -> None:
    assert abs(power_beyond_analytic(tmp_path, "uniform", "even", 50, 3, RUNS)) <= 0.12
