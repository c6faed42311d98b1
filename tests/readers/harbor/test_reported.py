"""The numbers that a job reports in its result.json."""

from __future__ import annotations

from typing import Any

from harbor_metrics.readers.harbor.reported import reported

RESULT: dict[str, Any] = {
    "n_total_trials": 4,
    "cost_usd": 0.5,
    "stats": {
        "n_completed_trials": 3,
        "n_input_tokens": 10,
        "evals": {
            "oracle__demo": {
                "n_trials": 3,
                "n_errors": 1,
                "metrics": [{"mean": 0.5}, {"b": None, "a": 1}],
                "pass_at_k": {"2": 0.75},
                "reward_stats": {"reward": {"1.0": ["t1", "t2"], "0.0": ["t3"]}},
                "exception_stats": {"Late": ["t3"]},
            }
        },
    },
}


def test_every_number_has_its_place_and_meaning() -> None:
    numbers = {each.place: each for each in reported(RESULT)}
    assert {place: each.value for place, each in numbers.items()} == {
        "n_total_trials": 4, "n_completed_trials": 3, "n_input_tokens": 10, "cost_usd": 0.5,
        "n_trials": 3, "n_errors": 1, "metrics[0].mean": 0.5, "metrics[1].b": None,
        "metrics[1].a": 1, "pass_at_k.2": 0.75, "reward_stats.reward.1.0": 2,
        "reward_stats.reward.0.0": 1, "exception_stats.Late": 1,
    }  # fmt: skip
    second = numbers["metrics[1].a"]
    assert (second.metric, second.part) == ("metric", "a")
    assert second.params == {"evals_key": "oracle__demo", "index": 1, "names": ["a", "b"]}
    ones = numbers["reward_stats.reward.1.0"]
    assert (ones.metric, ones.key, ones.part) == ("reward", "reward", "1.0")
    assert ones.params["trials"] == ["t1", "t2"]


def test_value_of_another_shape_is_not_a_number() -> None:
    odd = {"n_total_trials": True, "stats": {"n_errors": "1", "evals": {"x": [1], "y": {
        "n_trials": 0.5, "metrics": "m", "pass_at_k": [1], "reward_stats": {"r": 1},
        "exception_stats": {"E": [1, "t"]}}}}}  # fmt: skip
    assert [(each.place, each.value) for each in reported(odd)] == [("exception_stats.E", 1)]
    assert list(reported({"stats": [1]})) == []
