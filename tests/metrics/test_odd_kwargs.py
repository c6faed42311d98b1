"""Whatever kwargs a registry gives a metric, it has a number or fails, and takes little time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import harbor_metrics
from harbor_metrics.catalogue.families import metric_names
from harbor_metrics.catalogue.names import kwargs_of
from harbor_metrics.evaluation.result import Outcome
from harbor_metrics.metrics import agreement

_ODD = [
    None, True, -1, 0, 2**62, 10**40, -(10**308), 1e308, 5e-324, "", "x" * 3000, "{group_name}",
    "reward", "\0\ud7ff", [], {}, [[]], [1, "a", None], list(range(1, 5000)), {"type": "mean"},
    {"type": "mean", "kwargs": {"key": {}}}, {"key": "reward"}, float("nan"), float("inf"),
]  # fmt: skip


def outcomes(folder: Path, metrics: list[dict[str, Any]]) -> list[Outcome]:
    rows = [
        {"task": f"t{n % 3}", "dataset": "d", "rewards": {"reward": n % 2, "other": n / 7},
         "labels": {"kind": n % 2}}
        for n in range(9)
    ]  # fmt: skip
    trials, registry = folder / "t.jsonl", folder / "registry.json"
    trials.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entry = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": metrics}
    registry.write_text(json.dumps([entry]))
    (group,) = harbor_metrics.compute(str(trials), registry=str(registry)).groups
    return list(group.metrics)


def test_odd_kwargs_of_any_metric_end_in_a_number_or_a_failure(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    values = [*(value for value in _ODD if value == value and value != float("inf")), deep]
    rng = random.Random(11)  # the same each time
    metrics = []
    for metric in metric_names():
        for name in [*kwargs_of(metric), "no such"]:
            metrics += [{"type": metric, "kwargs": {name: v}} for v in rng.sample(values, 3)]
    for outcome in outcomes(tmp_path, metrics):
        assert outcome.status in ("ok", "failed", "undefined"), outcome


def test_list_of_thousands_of_k_is_refused(tmp_path: Path) -> None:
    kwargs = {"k": [*range(1, 1002)]}
    (found,) = outcomes(tmp_path, [{"type": "pass-at-k", "kwargs": kwargs}])
    assert "invalid-metric-kwargs" in str(found.error)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_disagreement_by_chance_is_that_of_all_pairs(weights: Any) -> None:
    rng = random.Random(3)  # the same each time
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    for _ in range(200):
        often = [(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(1, 9))]
        pairs = [
            abs(i - j) ** power * a * b
            for i, (a, _) in enumerate(often)
            for j, (_, b) in enumerate(often)
            if i != j
        ]
        assert agreement._apart_by_chance(often, weights) == sum(pairs)


def test_ratios_of_too_many_different_ratings_are_undefined(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "rewards": {"a": n / 7, "b": n / 11}, "trial": str(n)} for n in range(1, 4000)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric = '{"type": "krippendorff-alpha", "kwargs": {"raters": ["a", "b"], "level": "ratio"}}'
    found = harbor_metrics.compute(str(path), metrics=[metric], only_asked=True)
    (outcome,) = found.groups[0].metrics
    assert "more ratings differ than are compared" in str(outcome)
