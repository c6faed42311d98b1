"""What Inspect itself computed, against its aliases here.

Every case is equal within 1e-12, or of a class of difference that `explain` states.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.catalogue.names import bind_reducer
from harbor_metrics.contract.estimate import Undefined
from harbor_metrics.contract.reducer import Voted
from harbor_metrics.contract.spec import ReducerSpec
from harbor_metrics.errors import MetricFailure
from harbor_metrics.numbers.distributions import t_quantile
from harbor_metrics.readers.inspect.sample import Score
from harbor_metrics.readers.inspect.scores import rewards_of
from harbor_metrics.testing import outcome

INSPECT = json.loads((HERE / "golden" / "inspect.json").read_text())["cases"]
NAN = {"$float": "nan"}


def scalars(value: Any) -> list[Any]:
    """What stands in a score, at any depth."""
    if isinstance(value, dict) and value != NAN:
        return [leaf for item in value.values() for leaf in scalars(item)]
    return [leaf for item in value for leaf in scalars(item)] if type(value) is list else [value]


def shape(value: Any) -> Any:
    if isinstance(value, dict) and value != NAN:
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if type(value) is list else None


def holds(case: dict[str, Any], value: Any) -> bool:
    return value in scalars(case["inputs"]["values"])


def of_one_shape(case: dict[str, Any]) -> bool:
    shapes = [shape(value) for value in case["inputs"]["values"] if value != NAN]
    return all(each == shapes[0] for each in shapes)


# Classes of difference: what is not compared, why, and of how many cases.
METRICS_APART: dict[str, tuple[Callable[[dict[str, Any]], bool], int]] = {
    "one key of a dict score is the kwarg `key`": (lambda c: c["function"] == "aggregate", 4),
    "over lists of ratings": (lambda c: c["function"] == "krippendorff_alpha", 4),
    "over log-probabilities in a score's metadata": (
        lambda c: c["function"].startswith("perplexity_per_"),
        4,
    ),
    "texts are counted as texts there": (
        lambda c: c["function"] == "frequency" and not numeric(c),
        2,
    ),
    "None counts as 0 there, and is a missing score here": (lambda c: holds(c, None), 5),
    "NaN and infinity are not rewards": (
        lambda c: holds(c, NAN) or holds(c, {"$float": "inf"}),
        4,
    ),
    "a dict or list counts as 0 there, and as its members here": (
        lambda c: any(shape(value) for value in c["inputs"]["values"]),
        5,
    ),
    "with letters of its own": (lambda c: "custom value_to_float" in c.get("note", ""), 1),
}
REDUCERS_APART: dict[str, tuple[Callable[[dict[str, Any]], bool], int]] = {
    "a list of ratings is not a reward": (lambda c: c["function"] == "collect", 14),
    "None counts as 0 there, and is a missing score here": (lambda c: holds(c, None), 2),
    "scores of several shapes, which mostly raise there": (lambda c: not of_one_shape(c), 14),
    "a missing score is not a vote against": (
        lambda c: c["function"] == "majority" and holds(c, NAN),
        4,
    ),
    "k counts attempts, and so is at least 1": (lambda c: c["kwargs"].get("k") == 0, 2),
    "a task without attempts stands in no table": (
        lambda c: all(value == NAN for value in c["inputs"]["values"]),
        9,
    ),
}


def numeric(case: dict[str, Any]) -> bool:
    return all(isinstance(value, int | float) for value in scalars(case["inputs"]["values"]))


def class_of(case: dict[str, Any]) -> str | None:
    """Why a case is not compared, if it is not."""
    apart = METRICS_APART if case["kind"] == "metric" else REDUCERS_APART
    return next((why for why, (is_so, _) in apart.items() if is_so(case)), None)


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{case['id']}: {case['function']} {case.get('note', '')}")
        for case in INSPECT
        if case["kind"] == kind and class_of(case) is None
    ]


def as_read(values: list[Any]) -> list[dict[str, Any]]:
    """What the reader makes of scores, by reward key."""
    return [rewards for rewards, _ in with_labels(values)]


def with_labels(values: list[Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The same, each with the texts and booleans that were given."""
    read = []
    for value in json.loads(json.dumps(values).replace(json.dumps(NAN), "null")):
        labels: dict[str, Any] = {}
        read.append((rewards_of("reward", Score(value=value), labels, lambda text: None), labels))
    return read


@pytest.mark.parametrize(
    ("kind", "apart"), [("metric", METRICS_APART), ("reducer", REDUCERS_APART)]
)
def test_every_case_is_compared_or_of_a_class(kind: str, apart: dict[str, Any]) -> None:
    classes = Counter(class_of(case) for case in INSPECT if case["kind"] == kind)
    del classes[None]
    assert classes == {why: n for why, (_, n) in apart.items()}


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


@pytest.mark.parametrize("case", cases("metric"))
def test_metric_equals_that_of_inspect(case: dict[str, Any]) -> None:
    name = case["function"]
    values = [rewards["reward"] for rewards in as_read(case["inputs"]["values"])]
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


@pytest.mark.parametrize("case", cases("reducer"))
def test_reducer_equals_that_of_inspect(case: dict[str, Any]) -> None:
    name, k = case["function"], case["kwargs"].get("k")
    kwargs = {"threshold": case["kwargs"]["value"]} if "value" in case["kwargs"] else {}
    spec = ReducerSpec(
        type=f"inspect/{name}" if k is None else f"inspect/{name}_{k}", kwargs=kwargs
    )
    bound = bind_reducer(spec)
    attempts = with_labels(case["inputs"]["values"])
    (expected,) = as_read([case["expected"]])
    keys = {key for rewards, _ in attempts for key in rewards}
    assert keys >= expected.keys()
    for key in keys:
        given = [(rewards[key], labels) for rewards, labels in attempts if key in rewards]
        label = "inspect/value" if key == "reward" else f"inspect/value/{key}"
        votes = [labels.get(label, reward) for reward, labels in given]
        voted = Voted([reward for reward, _ in given], votes)
        found = bound.reducer.function(voted, **bound.arguments)
        if isinstance(found, Undefined):
            assert key not in expected
        else:
            assert found == pytest.approx(expected[key], rel=1e-12)


def test_k_of_0_is_refused() -> None:
    for name in ("at_least", "pass_at"):
        with pytest.raises(MetricFailure, match="unknown reducer"):
            bind_reducer(ReducerSpec(type=f"inspect/{name}_0"))


QUANTILES = [case for case in INSPECT if case["function"] == "t_inv_cdf"]


@pytest.mark.parametrize("case", QUANTILES, ids=lambda case: case["id"])
def test_quantile_of_t_equals_that_of_inspect(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    # At 100,000 Inspect's own is 4e-12 off: scipy's, to the last bit, is the number here.
    within = 1e-12 if inputs["df"] < 100_000 else 1e-11
    assert t_quantile(inputs["p"], inputs["df"]) == pytest.approx(case["expected"], rel=within)
