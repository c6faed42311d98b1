"""The numbers that a job reports in its result.json."""

from __future__ import annotations

from typing import Any

import pytest

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
    sections = ["n_trials", "n_errors", "metrics", "pass_at_k", "reward_stats", "exception_stats"]
    values = {"b": None, "a": 1}
    assert second.params == {
        "evals_key": "oracle__demo", "sections": sections, "index": 1, "values": values,
    }  # fmt: skip
    ones = numbers["reward_stats.reward.1.0"]
    assert (ones.metric, ones.key, ones.part) == ("reward", "reward", "1.0")
    assert ones.params["trials"] == ["t1", "t2"]


def test_value_of_another_shape_is_not_a_number() -> None:
    odd = {"n_total_trials": True, "stats": {"n_errors": "1", "evals": {"x": [1], "y": {
        "n_trials": None, "metrics": "m", "pass_at_k": [1], "reward_stats": {"r": 1},
        "exception_stats": {"E": [1, "t"]}}}}}  # fmt: skip
    assert [(each.place, each.value, each.not_finite) for each in reported(odd)] == [
        ("n_total_trials", None, "True"), ("n_errors", None, "1"), ("evals.x[0]", 1, ""),
        ("n_trials", None, ""), ("pass_at_k[0]", 1, ""), ("exception_stats.E.0", 1, ""),
        ("reward_stats.r", 1, ""), ("exception_stats.E", 1, ""),
    ]  # fmt: skip


def test_number_that_harbor_does_not_write_is_reported_too() -> None:
    result = {
        "n_total_trials": 1, "score": 0.9, "cost_usd": 1,
        "stats": {"cost_usd": 2, "sum": {"accuracy": 1}, "evals": {"k": {"f": {"g": 2}}}},
    }  # fmt: skip
    assert [(each.place, each.metric, each.value) for each in reported(result)][1:] == [
        ("cost_usd", "cost_usd", 1), ("cost_usd", "cost_usd", 2),
        ("score", "other", 0.9), ("sum.accuracy", "other", 1), ("f.g", "other", 2),
    ]  # fmt: skip


def test_a_job_without_a_result_reports_nothing() -> None:
    assert list(reported({})) == []


@pytest.mark.parametrize("text", ["1" * 1_000_000 + "x", "1" + " " * 1_000_000 + "x"])
def test_a_very_long_text_that_is_no_number_is_looked_through_once(text: str) -> None:
    def places(value: str) -> list[str]:
        document = {"stats": {"evals": {"a": {"metrics": [{"m": value}]}}}}
        return [each.place for each in reported(document)]

    assert places(text) == places("x")
