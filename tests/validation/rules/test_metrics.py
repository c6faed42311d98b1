"""Where the rules about metric entries speak, and where they are silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.validated import ONE

from harbor_metrics.validation.validation import validate

GIT = {"git_url": "https://x.org/m", "git_commit_id": "0" * 40, "script_path": "m.py"}


def said(folder: Path, field: str, *metrics: dict[str, Any]) -> list[tuple[str, str]]:
    """Rule and severity of everything that is said of a dataset with these metrics."""
    (folder / "registry.json").write_text(json.dumps([{**ONE, field: metrics}]))
    found = validate(str(folder / "registry.json")).found
    return [(diagnostic.rule, str(diagnostic.severity)) for diagnostic in found]


@pytest.mark.parametrize(
    ("metric", "in_metrics", "in_extra"),
    [
        ({"type": "max"}, [], []),
        (
            {"kwargs": {}},
            [("default-metric-type", "warning")],
            [("default-metric-type", "warning")],
        ),
        ({"type": "median"}, [("not-in-harbor", "error")], []),
        ({"type": "inspect/accuracy"}, [("not-in-harbor", "error")], []),
        ({"type": "mean", "kwargs": {"missing": "skip"}}, [("not-in-harbor", "error")], []),
        ({"type": "uv-script", "kwargs": GIT}, [("not-in-harbor", "warning")], []),
        ({"type": "zebra"}, [("unknown-metric-type", "error")], [("unknown-metric-type", "error")]),
        (
            {"type": "max", "kwargs": {"q": 1}},
            [("invalid-metric-kwargs", "error")],
            [("invalid-metric-kwargs", "error")],
        ),
        (
            {"type": "quantile"},
            [("not-in-harbor", "error"), ("invalid-metric-kwargs", "error")],
            [("invalid-metric-kwargs", "error")],
        ),
    ],
)
def test_metrics_are_for_harbor_and_extra_metrics_are_not(
    metric: dict[str, Any],
    in_metrics: list[tuple[str, str]],
    in_extra: list[tuple[str, str]],
    tmp_path: Path,
) -> None:
    assert sorted(said(tmp_path, "metrics", metric)) == sorted(in_metrics)
    assert said(tmp_path, "extra_metrics", metric) == in_extra


@pytest.mark.parametrize(("field", "severity"), [("metrics", "warning"), ("extra_metrics", "note")])
def test_second_of_two_equal_metrics_is_reported(field: str, severity: str, tmp_path: Path) -> None:
    twice = ({"type": "max"}, {"type": "max", "kwargs": {}})
    assert said(tmp_path, field, *twice) == [("duplicate-metric", severity)]
    keyed = ({"type": "max"}, {"type": "max", "kwargs": {"key": "r"}})
    assert "duplicate-metric" not in dict(said(tmp_path, field, *keyed))


def test_regular_expression_that_is_none_is_found_without_computing(tmp_path: Path) -> None:
    patterns = ["[a-z]", "("]
    entry = {"type": "exact-match", "kwargs": {"regexes_to_ignore": patterns}}
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([{**ONE, "extra_metrics": [entry]}]))
    (only,) = validate(path).found
    assert only.rule == "invalid-metric-kwargs"
    assert only.pointer == "/0/extra_metrics/0/kwargs/regexes_to_ignore"
    assert "`regexes_to_ignore[1]` of `exact-match` is not a regular expression" in only.message
