"""The library's verbs."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import HERE
from registries_by_hand import entry

import harbor_metrics
from harbor_metrics import Column, Undefined, UsageError


def test_function_of_the_caller_is_a_metric(rewards: Path) -> None:
    def best(rewards: Column) -> float | Undefined:
        """Best reward."""
        return max(rewards.values, default=Undefined("no rewards"))

    result = harbor_metrics.compute(rewards, metrics=[best, "max"])
    assert [m.values for m in result.groups[0].metrics[1:]] == [{"best": 1.0}, {"max": 1.0}]
    assert harbor_metrics.compute(rewards, metrics=best).groups[0].metrics[1].name == "best"


def test_library_refuses_what_the_command_line_refuses(job: Path) -> None:
    with pytest.raises(UsageError, match="missing"):
        harbor_metrics.compute(job, missing="bogus")
    assert harbor_metrics.compute(job, metrics="max").groups[0].metrics[1].name == "max"


def test_the_library_takes_level_and_labels(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"task": "a", "rewards": {"r": 1}}\n' * 2)
    (tmp_path / "l.csv").write_text("task,side\na,x\n")
    by = entry("grouped", metric="mean", by="side")
    result = harbor_metrics.compute(
        tmp_path / "t.jsonl", metrics=by, labels=tmp_path / "l.csv", level=None
    )
    assert result.groups[0].metrics[1].values == {"all": 1.0, "x": 1.0}
    with pytest.raises(harbor_metrics.UsageError, match="level"):
        harbor_metrics.compute(tmp_path / "t.jsonl", level=95)


def test_validate_returns_the_report() -> None:
    report = harbor_metrics.validate(
        HERE / "validation" / "registries" / "empty-dataset" / "registry.json"
    )
    assert report.ok
    assert [d.rule for d in report.found] == ["empty-dataset"]
