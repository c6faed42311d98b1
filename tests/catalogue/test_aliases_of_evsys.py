"""What evsys itself computed, against its aliases here.

Every case is equal within 1e-12, or of a class of difference that `explain` states.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.testing import outcome

EVSYS = json.loads((HERE / "golden" / "evsys.json").read_text())["cases"]


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{case['id']}: {case['function']} {case.get('note', '')}")
        for case in EVSYS
        if case["kind"] == kind and "raises" not in case
    ]


def test_only_none_raises_there() -> None:
    """Class: None raises there, and is an attempt without a reward here."""
    (case,) = (case for case in EVSYS if case["kind"] == "metric" and "raises" in case)
    assert any(None in rewards for rewards in case["inputs"]["task_rewards"])


@pytest.mark.parametrize("case", cases("metric"))
def test_metric_equals_that_of_evsys(case: dict[str, Any]) -> None:
    tasks = case["inputs"]["task_rewards"]
    values = [value for task in tasks for value in task]
    one = outcome(
        f"evsys/{case['function']}",
        {
            "rewards": [{"reward": float(value)} for value in values],
            "tasks": [f"t{i}" for i, task in enumerate(tasks) for _ in task],
        },
    )
    (value,) = one.values.values()
    if not values:
        # Class: no rewards are no number, where evsys says 0.
        assert value is None
        assert case["expected"] == 0.0
    else:
        assert value == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("case", cases("eval_metrics"))
def test_economics_equal_those_of_evsys(case: dict[str, Any]) -> None:
    rows: dict[str, list[Any]] = {"rewards": [], "tasks": [], "usage": []}
    for i, group in enumerate(case["inputs"]["groups"]):
        for reward, said in zip(
            group["rewards"], group.get("usage", [{}] * len(group["rewards"])), strict=True
        ):
            rows["rewards"].append({"reward": reward})
            rows["tasks"].append(f"t{i}")
            theirs = ("latency_s", "prompt_tokens", "completion_tokens", "cost_usd")
            ours = ("seconds", "n_input_tokens", "n_output_tokens", "cost_usd")
            rows["usage"].append({o: said.get(t) for o, t in zip(ours, theirs, strict=True)})
    for name in ("time_per_task", "tokens_per_task", "cost_per_task"):
        (value,) = outcome(f"evsys/{name}", rows).values.values()
        # Class: what nobody reports is undefined, where evsys leaves the key out.
        assert value == pytest.approx(case["expected"].get(name))


def test_breakdown_equals_that_of_evsys() -> None:
    (case,) = (case for case in EVSYS if case["kind"] == "breakdowns")
    tasks = [(meta, rewards) for meta, rewards in case["inputs"]["tasks"] if rewards and meta]
    rows = {
        "rewards": [{"reward": r} for _, rewards in tasks for r in rewards],
        "tasks": [f"t{i}" for i, (_, rewards) in enumerate(tasks) for _ in rewards],
        "labels": [{"tk": meta["tk"]} for meta, rewards in tasks for _ in rewards],
    }
    expected = {k: v for k, v in case["expected"]["tk"].items() if k != "__missing__"}
    for metric, name in (("accuracy", "mean_reward"), ("pass-rate", "pass_rate")):
        kwargs = {"metric": metric, "by": "tk", "reducer": "mean", "all": False}
        one = outcome("grouped", {**rows, "kwargs": kwargs})
        assert one.values == {group: numbers[name] for group, numbers in expected.items()}
        assert one.n == {group: numbers["n"] for group, numbers in expected.items()}
