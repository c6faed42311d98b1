"""A trial's result.json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import trial

from harbor_metrics.readers.harbor.trial import explain, result_of, trial_of, unreadable
from harbor_metrics.trials.source import REFUSED

SPENT = {"n_input_tokens": 10, "n_cache_tokens": 2, "n_output_tokens": 3, "cost_usd": 0.5}


def data(**changed: Any) -> bytes:
    return json.dumps({**trial("t", {"r": 1}), **changed}).encode()


def test_result_becomes_a_trial() -> None:
    made = trial_of(result_of(data(agent_result=SPENT, exception_info={"exception_type": "Late"})))
    assert (made.task, made.rewards, made.trial, made.id) == ("t", {"r": 1}, "t__0000001", "t-1")
    assert (made.agent, made.model, made.dataset, made.error) == (
        "oracle", "sail-1", "demo", "Late",
    )  # fmt: skip
    usage = made.usage
    assert (usage.n_input_tokens, usage.n_cache_tokens, usage.n_output_tokens) == (10, 2, 3)
    assert (usage.cost_usd, usage.seconds) == (0.5, 60.0)


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({"started_at": None}, None),
        ({"finished_at": "soon"}, None),
        # The clock was set meanwhile.
        ({"started_at": "2026-10-25T02:59:00", "finished_at": "2026-10-25T02:01:00"}, None),
        ({"finished_at": "2026-01-01T00:00:01+00:00"}, None),
        ({"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T01:00:00+01:00"}, 0.0),
    ],
)
def test_seconds_are_known_where_both_times_are(
    changed: dict[str, Any], seconds: float | None
) -> None:
    assert trial_of(result_of(data(**changed))).usage.seconds == seconds


def test_trial_without_model_verifier_or_usage_has_none() -> None:
    spare = data(agent_info={"name": "a"}, verifier_result=None, agent_result=None, started_at=None)
    made = trial_of(result_of(spare))
    assert (made.model, made.rewards, made.usage.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "trial x could not be read: line 1: the text ends inside an object"),
        (b"[]", "trial x: not a trial result of Harbor: "),
        (data(task_name=1), "trial x: not a trial result of Harbor: "),
        (data(verifier_result={"rewards": {"r": True}}), "trial x: reward `r` must be a number"),
    ],
)
def test_trial_that_cannot_be_read_is_explained(text: bytes, words: str) -> None:
    with pytest.raises(REFUSED):
        trial_of(result_of(text))
    (diagnostic, *_) = explain("p/result.json", "x", text)
    assert diagnostic.message.startswith(words)
    assert (diagnostic.path, diagnostic.subject) == ("p/result.json", "trial x")


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        (b'"rewards": {"r": 1}', b'"rewards": {"r": 1, "r": 0}'),
        (b'"rewards": {"r": 1}', b'"rewards": {"r": 1, "\\u0072": 0}'),
        (b'"rewards": {"r": 1}', b'"rewards": {"a/b": 1, "a\\/b": 0}'),
        (b'"rewards": {"r": 1}', b'"rewards": {"r": 1}, "rewards": {"r": 0}'),
        (b'"rewards": {"r": 1}', b'"rewards": {"r": 1}}, "verifier_result": {"rewards": {"r": 0}'),
        (b'"rewards": {"r": 1}', b'"rewards": {"r": 1}}, "verifier_result": null, "x": {"y": 1'),
    ],
)
def test_rewards_that_are_told_twice_are_none(once: bytes, twice: bytes) -> None:
    whole = data()
    assert whole.count(once) == 1
    text = whole.replace(once, twice)
    json.loads(text)
    with pytest.raises(ValueError, match="twice"):
        trial_of(result_of(text))
    (said,) = explain("result.json", "t", text)
    assert said.rule == "unread-trial"
    assert "duplicate key" in said.message


def test_words_that_a_reward_is_called_by_may_stand_elsewhere() -> None:
    text = data(exception_info={"exception_type": "r", "x": 'a "rewards" "r"'}, more={"r": ["r"]})
    assert trial_of(result_of(text)).rewards == {"r": 1}


def test_result_that_is_whole_by_now_was_being_rewritten() -> None:
    (diagnostic,) = explain("p", "x", data())
    assert diagnostic.message == "trial x was being rewritten each time it was read"


def test_error_of_the_system_is_named() -> None:
    error = PermissionError(13, "Permission denied")
    assert unreadable("p", "x", error).message == "trial x could not be read: Permission denied"
