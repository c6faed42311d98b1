"""What becomes of each kind of score."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from conftest import Run
from inspect_logs import log, sample, scored, trials


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


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ('{"a": [1, 1], "a/0": 0}', "a/0"),
        ('{"c/d": 0, "c": {"d": 1}}', "c/d"),
        ('{"a": ["yes"], "a/0": "C"}', "inspect/value/a/0"),
    ],
)
def test_two_scores_of_one_key_are_an_error(value: str, key: str, cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored(value, tmp_path), "--format", "json")
    assert done.returncode == 1
    assert f"sample s_epoch_1: two scores are called `{key}`" in done.stderr


def test_what_is_said_twice_alike_is_one_score(tmp_path: Path) -> None:
    (trial,) = trials(scored('{"a": [1, 0], "a/0": 1.0}', tmp_path))
    assert trial.rewards == {"a/0": 1, "a/1": 0}


def test_text_that_is_not_a_number_is_reported(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored('"excellent"', tmp_path))
    assert "1 scores are texts that are no numbers" in done.stderr
    assert '"excellent"' in done.stderr


def test_categories_of_a_scorer_are_counted_by_their_names(cli: Run, tmp_path: Path) -> None:
    values = ["red", "green", "red", True, 3]
    document = log([sample(f"s{i}", value) for i, value in enumerate(values)])
    (tmp_path / "x.json").write_text(json.dumps(document))
    done = cli(
        "compute", "x.json", "--only-asked", "--metric", "inspect/frequency", "--format", "json"
    )
    (metric,) = json.loads(done.stdout)["groups"][0]["metrics"]
    assert metric["values"] == {"green": 0.2, "red": 0.4, "true": 0.2, "3": 0.2}


def test_perplexity_of_a_sequence_is_of_its_own_tokens(cli: Run, tmp_path: Path) -> None:
    notes = [{"sum_log_probs": -6.0, "num_tokens": 3}, {"sum_log_probs": -4.0, "num_tokens": 1}]
    samples = [
        sample(f"s{i}", 1.0, scores={"num": {"value": 1.0, "metadata": note}})
        for i, note in enumerate(notes)
    ]
    (tmp_path / "x.json").write_text(json.dumps(log(samples)))
    asked = ("--only-asked", "--metric", "inspect/perplexity_per_seq", "--format", "json")
    done = cli("compute", "x.json", *asked)
    (metric,) = json.loads(done.stdout)["groups"][0]["metrics"]
    assert metric["values"] == {"perplexity": pytest.approx(math.exp(3))}
