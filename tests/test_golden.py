"""What Inspect and evsys themselves computed, against their aliases here.

Every case is equal within 1e-12, or of a class of difference that `explain` states.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics import reducer
from harbor_metrics.distributions import t_quantile
from harbor_metrics.estimate import Undefined
from harbor_metrics.testing import outcome

INSPECT = json.loads((HERE / "golden" / "inspect.json").read_text())["cases"]
EVSYS = json.loads((HERE / "golden" / "evsys.json").read_text())["cases"]
# Metrics of Inspect over scores that are no numbers, which a reward never is.
NOT_OF_REWARDS = {
    "aggregate": "one key of a dict score is the kwarg `key`",
    "krippendorff_alpha": "over lists of ratings",
    "perplexity_per_token": "over log-probabilities in a score's metadata",
    "perplexity_per_seq": "over log-probabilities in a score's metadata",
}


def plain(values: list[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def cases(of: list[Any], kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{case['id']}: {case['function']} {case.get('note', '')}")
        for case in of
        if case["kind"] == kind
    ]


def labels_of(case: dict[str, Any], n: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = case["inputs"].get("sample_metadata", [{}] * n)
    return found


def by_alias(case: dict[str, Any], values: list[Any]) -> Any:
    kwargs = dict(case["kwargs"])
    for theirs, ours in (("num_samples", "samples"), ("group_key", "by"), ("all_label", None)):
        if theirs in kwargs:
            value = kwargs.pop(theirs)
            if ours:
                kwargs[ours] = value
    if case["function"] == "grouped":
        kwargs["metric"] = f"inspect/{inner(case)}"
        kwargs["name_template"] = kwargs.pop("name_template", "{group_name}")
    rows = {
        "rewards": [{"reward": float(value)} for value in values],
        "labels": labels_of(case, len(values)),
        "kwargs": kwargs,
    }
    return outcome(f"inspect/{case['function']}", rows)


def inner(case: dict[str, Any]) -> str:
    note = case.get("note", "")
    for name in ("accuracy", "stderr", "std", "ci"):
        if f"{name}(" in note:
            return name
    return "ci" if "ci" in note else "mean"


@pytest.mark.parametrize("case", cases(INSPECT, "metric"))
def test_inspect_metric(case: dict[str, Any]) -> None:
    name, values = case["function"], case["inputs"]["values"]
    if name in NOT_OF_REWARDS:
        return
    if not plain(values):
        # Class: strings, None, lists and NaN become numbers, or no reward, in the reader.
        assert any(not isinstance(value, int | float) for value in values)
        return
    if case["inputs"].get("numpy_seed") is not None:
        near_for_any_seed(case, values)
        return
    if case["kwargs"].get("method") == "normal" or case["kwargs"].get("name_template") == "all":
        assert by_alias(case, values).status == "failed"
        return
    one = by_alias(case, values)
    if "raises" in case:
        assert one.status == "failed" or None in one.values.values() or not values
    elif name == "frequency":
        assert one.values == case["expected"] or not values
    elif name in ("ci", "ci_wilson"):
        bounds = [one.values["low"], one.values["high"]]
        same(bounds, [case["expected"]["lower"], case["expected"]["upper"]], one, values)
    elif name == "grouped":
        same_groups(case, one, values)
    else:
        (value,) = one.values.values()
        if name == "accuracy" and values and sequential(values) != pytest.approx(value, rel=1e-12):
            # Class: Inspect adds one after the other, and large terms swallow small ones.
            assert case["expected"] == sequential(values)
            return
        same([value], [case["expected"]], one, values)


def sequential(values: list[float]) -> float | None:
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else None


def same(found: list[Any], expected: list[Any], one: Any, values: list[Any]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        if ours is None:
            # Class: undefined here, with the reason, where Inspect says 0 or the reward.
            assert one.reasons
            assert theirs in (0, 0.0, *values[:1]) or len(set(values)) == 1
        else:
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def same_groups(case: dict[str, Any], one: Any, values: list[Any]) -> None:
    for group, theirs in case["expected"].items():
        if theirs == {"$float": "nan"}:
            assert one.values == {"all": None}
            continue
        # Class: labels are named as JSON writes them; the value over all is called `all`.
        name = {"None": "null", "overall": "all"}.get(group, group)
        if name == "all" and f"{name}/low" in one.values and not isinstance(theirs, dict):
            # Class: an interval of the macro mean, where Inspect makes 0 of an interval.
            assert theirs == 0.0
            continue
        if isinstance(theirs, dict):
            parts = [(f"{name}/low", theirs["lower"]), (f"{name}/high", theirs["upper"])]
        else:
            parts = [(name, theirs)]
        for full, value in parts:
            if (
                name == "all"
                and case["kwargs"].get("all") == "groups"
                and inner(case) != "accuracy"
            ):
                # Class: the standard error and interval of the macro mean, not the mean of them.
                assert one.values[full] != value or value == 0
            elif one.values[full] is None:
                assert "single" in one.reasons[full]
            else:
                assert one.values[full] == pytest.approx(value, rel=1e-12)


def near_for_any_seed(case: dict[str, Any], values: list[Any]) -> None:
    """Class: Inspect draws without a seed of its own; ours and theirs surround one value."""
    one = by_alias(case, values)
    if len(values) < 2:
        assert one.status == "undefined"
    elif case["function"] == "bootstrap_stderr":
        limit = outcome(
            "bootstrap-stderr",
            {"rewards": [{"r": v} for v in values], "kwargs": {"method": "closed-form"}},
        ).values["bootstrap-stderr"]
        # The deviation of a deviation over n samples is about 1 / sqrt(2 n) of it.
        within = 4 / math.sqrt(2 * case["kwargs"]["num_samples"])
        assert one.values["bootstrap-stderr"] == pytest.approx(limit, rel=within)
        assert case["expected"] == pytest.approx(limit, rel=within)
    else:
        for ours, theirs in (("low", "lower"), ("high", "upper")):
            assert one.values[ours] == pytest.approx(case["expected"][theirs], abs=0.15)


@pytest.mark.parametrize("case", cases(INSPECT, "reducer"))
def test_inspect_reducer(case: dict[str, Any]) -> None:
    name, values = case["function"], case["inputs"]["values"]
    if name == "collect":
        return  # a list of ratings is no reward
    attempts = [value for value in values if value != {"$float": "nan"}]
    if not plain(attempts):
        return  # Class: strings, None, lists and dicts become numbers in the reader.
    if name == "majority" and len(attempts) < len(values):
        return  # Class: a missing score is no vote against.
    k = case["kwargs"].get("k")
    spec = reducer.ReducerSpec(type=f"inspect/{name}" if k is None else f"inspect/{name}_{k}")
    if "value" in case["kwargs"]:
        spec = reducer.ReducerSpec(type=spec.type, kwargs={"threshold": case["kwargs"]["value"]})
    if k == 0:
        # Class: k counts attempts, and so is at least 1.
        return
    bound = reducer.bind(spec)
    if not attempts:
        assert case["expected"] == {"$float": "nan"} or case["function"] == "at_least"
        return  # A task without attempts stands in no table.
    found = bound.function(attempts, **bound.arguments)
    if isinstance(found, Undefined):
        assert case["expected"] == {"$float": "nan"}
    else:
        assert found == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("case", cases(INSPECT, "helper"))
def test_inspect_quantile_of_t(case: dict[str, Any]) -> None:
    if case["function"] == "t_inv_cdf":
        inputs = case["inputs"]
        # At 100,000 Inspect's own is 4e-12 off: scipy's, to the last bit, is the number here.
        within = 1e-12 if inputs["df"] < 100_000 else 1e-11
        assert t_quantile(inputs["p"], inputs["df"]) == pytest.approx(case["expected"], rel=within)


@pytest.mark.parametrize("case", cases(EVSYS, "metric"))
def test_evsys_metric(case: dict[str, Any]) -> None:
    tasks = case["inputs"]["task_rewards"]
    values = [value for task in tasks for value in task]
    if not plain(values):
        return  # None raises there, and is refused by the reader here.
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


@pytest.mark.parametrize("case", cases(EVSYS, "eval_metrics"))
def test_evsys_economics(case: dict[str, Any]) -> None:
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


def test_evsys_breakdown() -> None:
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
