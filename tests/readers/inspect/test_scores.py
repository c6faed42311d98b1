"""What becomes of each kind of score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from inspect_logs import scored, trials


@pytest.mark.parametrize(
    ("value", "rewards"),
    [
        ("1", {"words": 1}),
        ("0.25", {"words": 0.25}),
        ("true", {"words": 1.0}),
        ('"C"', {"words": 1.0}),
        ('"P"', {"words": 0.5}),
        ('"I"', {"words": 0.0}),
        ('"N"', {"words": 0.0}),
        ('"YES"', {"words": 1.0}),
        ('"False"', {"words": 0.0}),
        ('" 7 "', {"words": 7.0}),
        ('"1_000"', {"words": 1000.0}),
        ('"1e3"', {"words": 1000.0}),
        ('"nan"', {"words": 0.0}),
        ('"c"', {"words": 0.0}),
        ('"-inf"', {"words": 0.0}),
        ("NaN", None),
        ("null", None),
        ('{"a": null}', None),
        ('{"a": NaN, "b": "C"}', {"b": 1.0}),
        ('{"a": {"x": 1, "y": [2, 3]}}', {"a/x": 1, "a/y/0": 2, "a/y/1": 3}),
        ("[1, null, true]", {"words/0": 1, "words/2": 1.0}),
    ],
)
def test_score_becomes_rewards(
    value: str, rewards: dict[str, float] | None, tmp_path: Path
) -> None:
    (trial,) = trials(scored(value, tmp_path))
    assert trial.rewards == rewards
    if rewards is None:
        assert trial.labels["inspect/status"] == "unscored"


def test_a_null_that_was_nan_is_unscored_not_zero(cli: Run, tmp_path: Path) -> None:
    """Fault J26."""
    done = cli("compute", scored('{"a": null, "b": 1}', tmp_path), "--format", "json")
    assert done.returncode == 0
    group = json.loads(done.stdout)["groups"][0]
    assert group["metrics"][0]["values"] == {"mean": 1}


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", '{"a": Infinity}', "1e999"])
def test_an_infinite_score_is_an_error_with_its_place(value: str, cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored(value, tmp_path), "--format", "json")
    assert done.returncode == 1
    assert "sample s_epoch_1: score `" in done.stderr
    assert "` is infinite" in done.stderr


def test_text_that_is_not_a_number_is_reported(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored('"excellent"', tmp_path))
    assert "1 scores are texts that are no numbers" in done.stderr
    assert '"excellent"' in done.stderr
