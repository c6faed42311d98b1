"""Law: whatever the numbers, a metric gives finite ones or says why not, in any order of trials."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.catalogue.families import metric_names
from harbor_metrics.contract.spec import UV_SCRIPT
from harbor_metrics.testing import outcome

EXTREMES = st.sampled_from(
    [0, 1, -1, -0.0, 0.0, 5e-324, 1 / 15, 0.5, 1.7e308, -1e300, 2**53 + 1, 10**400, -(10**400)]
)

COLUMNS = ("rewards", "tasks", "labels", "texts", "usage")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.parametrize("name", sorted(set(metric_names()) - {UV_SCRIPT}))
def test_extreme_numbers_have_a_finite_value_or_a_reason(name: str, data: st.DataObject) -> None:
    cases = [case for case in CASES[name] if case["rewards"]]
    case = data.draw(st.sampled_from(cases))
    names = [f"t{i}" for i in range(len(case["rewards"]))]
    changed = {**case, "tasks": case.get("tasks") or names}
    for column in ("rewards", "labels"):
        if column in case:
            changed[column] = [
                row and {key: replaced(value, data) for key, value in row.items()}
                for row in case[column]
            ]
    found = outcome(name, changed)
    for key, value in found.values.items():
        assert found.reasons.get(key) if value is None else math.isfinite(value)
    order = data.draw(st.permutations(range(len(case["rewards"]))))
    changed["attempts"] = case.get("attempts") or list(range(len(order)))
    columns = [key for key in (*COLUMNS, "attempts") if key in changed]
    shuffled = {key: [changed[key][i] for i in order] for key in columns}
    again = outcome(name, {**changed, **shuffled})
    assert repr((again.values, again.reasons)) == repr((found.values, found.reasons))


def replaced(value: Any, data: st.DataObject) -> Any:
    """Now and then another number in place of a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or data.draw(st.booleans()):
        return value
    return data.draw(EXTREMES)
