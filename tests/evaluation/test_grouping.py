"""`--group-by`: `grouped` around each metric that is computed from a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from registries_by_hand import entry

import harbor_metrics
from harbor_metrics import Column


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    path = tmp_path / "trials.jsonl"
    rows = [("a", "x", 1.0), ("a", "x", 0.0), ("b", "y", 1.0), ("c", "y", None)]
    lines = [
        {"task": t, "labels": {"side": s, "top": t == "a"}, "rewards": r and {"r": r, "q": 1}}
        for t, s, r in rows
    ]
    lines[1]["rewards"] = {"r": 0.0, "q": 1}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def outcome(trials: Path, metric: object, **options: object):
    return harbor_metrics.compute(trials, metrics=[metric], **options).groups[0].metrics[-1]


@pytest.mark.parametrize(
    "metric",
    [
        "median",
        entry("mean", key="r"),
        entry("mean", key="r", missing="skip", reducer="max"),
        entry("pass-at-k", k=[1, 2], key="r"),
        entry("quantile", q=0.5, key="r"),
    ],
)
def test_it_equals_grouped_written_out(metric: str, trials: Path) -> None:
    spec = json.loads(metric) if metric.startswith("{") else {"type": metric, "kwargs": {}}
    type_, kwargs = spec["type"], spec["kwargs"]
    common = {k: v for k, v in kwargs.items() if k in ("key", "missing", "reducer")}
    own = {k: v for k, v in kwargs.items() if k not in common}
    inner = {"type": type_, "kwargs": own}
    written = entry("grouped", metric=inner, by="side", **common)
    short = outcome(trials, metric, group_by="side")
    long = outcome(trials, written)
    assert short.values == long.values
    assert short.n == long.n
    assert short.uncertainty == long.uncertainty


def test_several_labels_are_one_combination(trials: Path) -> None:
    found = outcome(trials, entry("mean", key="r"), group_by=["side", "top"])
    assert list(found.values) == ["x/true", "y/false", "all"]


def test_function_of_the_caller_is_grouped(trials: Path) -> None:
    def best(rewards: Column) -> float:
        """Best reward."""
        return max(rewards.values)

    found = outcome(trials, best, group_by="side")
    assert found.values["r/x"] == 1.0
    assert found.kwargs == {"metric": "best", "by": "side"}


def test_what_groups_already_stays_as_it_is(trials: Path) -> None:
    written = entry("grouped", metric="mean", by="task", key="r")
    assert outcome(trials, written, group_by="side").kwargs["by"] == "task"


def test_script_is_not_grouped_and_that_is_said(tmp_path: Path, trials: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import sys, json\njson.dump({'one': 1}, open(sys.argv[sys.argv.index('-o') + 1], 'w'))\n"
    )
    metric = entry("uv-script", script_path=str(tmp_path / "m.py"))
    result = harbor_metrics.compute(trials, metrics=[metric], group_by="side")
    assert result.groups[0].metrics[-1].values == {"one": 1}
    assert [d["rule"] for d in result.diagnostics] == ["not-grouped"]
