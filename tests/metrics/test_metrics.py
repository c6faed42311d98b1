"""The cases beside this file, one file a metric, and what every metric must do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CASES, HERE, Run
from printed import computed
from registries_by_hand import entry

from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.contract.spec import UV_SCRIPT
from harbor_metrics.testing import mistakes, outcome

FILES = sorted((HERE / "metrics").glob("*.json"))
REDUCERS = sorted((HERE / "reducers").glob("*.json"))
NAMES = sorted(set(metric_names()) - {UV_SCRIPT})


def cases(files: list[Any]) -> list[Any]:
    return [
        pytest.param(path.stem, case, id=f"{path.stem}: {case['what']}")
        for path in files
        for case in json.loads(path.read_text())
    ]


@pytest.mark.parametrize(("type_", "case"), cases(FILES))
def test_metric_gives_the_values_of_its_case(type_: str, case: dict[str, Any]) -> None:
    assert not mistakes(outcome(type_, case), case)


def test_every_metric_and_reducer_has_cases() -> None:
    assert {path.stem for path in FILES} == set(NAMES)
    assert {path.stem for path in REDUCERS} == set(reducer_names())


@pytest.mark.parametrize("name", NAMES)
def test_no_trials_give_no_number(name: str) -> None:
    nothing = outcome(name, {"rewards": [], "kwargs": CASES[name][0].get("kwargs") or {}})
    assert nothing.status == "undefined"
    assert set(nothing.values.values()) == {None}
    assert all(nothing.reasons.values())


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"bleu", "chrf", "ter", "exact-match"}))
def test_nothing_scored_gives_no_number(name: str) -> None:
    case = CASES[name][0]
    # Only rewards in a label's place can be named when nothing has rewards.
    labels = [{"label": 1} for _ in case["rewards"]]
    beside = {k: "label" for k in ("weight", "reference", "probabilities") if k in _kwargs(case)}
    scored = case | {
        "rewards": [None] * len(case["rewards"]),
        "labels": [{**a, **b} for a, b in zip(case.get("labels", labels), labels, strict=True)],
        "kwargs": {**_kwargs(case), **beside},
    }
    nothing = outcome(name, {**scored, "usage": [{} for _ in labels]})
    assert nothing.status == "undefined", nothing
    assert set(nothing.values.values()) == {None}


def _kwargs(case: dict[str, Any]) -> dict[str, Any]:
    return case.get("kwargs") or {}


FAULTS = {
    fault["id"]: fault
    for fault in map(json.loads, (HERE / "metrics" / "faults.jsonl").read_text().splitlines())
}


def test_one_trial_has_no_spread(cli: Run, tmp_path: Path) -> None:
    found = computed(cli, FAULTS["W23"]["text"], "std", "stderr", "ci", "var", cwd=tmp_path)
    for type_ in ("std", "stderr", "var"):
        assert found[type_]["values"] == {type_: None}
        assert "undefined" in found[type_]["reasons"][type_]
    assert found["mean"]["uncertainty"]["mean"]["stderr"] is None
    # Wilson's interval of one reward is wide, not nothing.
    assert found["ci"]["values"]["low"] == pytest.approx(0.2065, abs=1e-4)


@pytest.mark.parametrize(("n", "high"), [(25, 0.1332), (5000, 0.000768)])
def test_rewards_that_are_all_zero_have_an_upper_bound(
    cli: Run, tmp_path: Path, n: int, high: float
) -> None:
    asked = [entry("ci", method=m) for m in ("wilson", "clopper-pearson", "jeffreys")]
    found = computed(cli, '{"reward": 0}\n' * n, asked[0], cwd=tmp_path)
    sure = found["mean"]["uncertainty"]["mean"]
    assert (sure["stderr"], sure["low"]) == (None, 0.0)
    assert sure["high"] == pytest.approx(high, rel=1e-3)
    assert found["ci"]["values"]["high"] == sure["high"]


def test_k_above_the_attempts_is_undefined(cli: Run, tmp_path: Path) -> None:
    found = computed(cli, FAULTS["W25"]["text"], entry("pass-at-k", k=5), cwd=tmp_path)
    assert found["pass-at-k"]["status"] == "undefined"
    (reason,) = found["pass-at-k"]["reasons"].values()
    for word in FAULTS["W25"]["message_has"]:
        assert word in reason


def test_one_cluster_has_no_standard_error(cli: Run, tmp_path: Path) -> None:
    lines = "".join(f'{{"task": "t", "rewards": {{"reward": {i % 2}}}}}\n' for i in range(10))
    found = computed(cli, lines, "stderr", cwd=tmp_path)
    assert found["stderr"]["values"] == {"stderr": None}
    assert "cluster" in found["stderr"]["reasons"]["stderr"]


def test_missing_reward_counts_as_zero_in_max_unless_skipped(cli: Run, tmp_path: Path) -> None:
    text = FAULTS["W28"]["text"]
    assert computed(cli, text, "max", cwd=tmp_path)["max"]["values"] == {"max": 0}
    skipped = computed(cli, text, entry("max", missing="skip"), cwd=tmp_path)
    assert skipped["max"]["values"] == {"max": -0.5}
    assert skipped["max"]["n"] == {"max": 1}
