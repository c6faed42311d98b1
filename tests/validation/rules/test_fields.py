"""Where the rules about fields speak, and where they are silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.validated import ONE

from harbor_metrics.validation.validation import validate


def said(folder: Path, entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Rule and severity of everything that is said of a dataset."""
    (folder / "registry.json").write_text(json.dumps([entry]))
    found = validate(str(folder / "registry.json")).found
    return [(diagnostic.rule, str(diagnostic.severity)) for diagnostic in found]


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ({"extra_metrics": [], "scenarios": [], "extra_instruction_paths": []}, None),
        ({"metric": []}, "error"),
        ({"colour": 1}, "warning"),
        # The right one is there, too, so what is written here is lost.
        ({"metrics": [], "Metrics": []}, "error"),
    ],
)
def test_field_that_is_nearly_another_is_an_error(
    changed: dict[str, Any], severity: str | None, tmp_path: Path
) -> None:
    expected = [("unknown-field", severity)] if severity else []
    assert said(tmp_path, {**ONE, **changed}) == expected


@pytest.mark.parametrize(
    ("task", "severity"),
    [({"metadata": {"x": 1}}, None), ({"git_ulr": "x"}, "error"), ({"zebra": 1}, "warning")],
)
def test_field_of_a_task_is_looked_at_alike(
    task: dict[str, Any], severity: str | None, tmp_path: Path
) -> None:
    expected = [("unknown-field", severity)] if severity else []
    assert said(tmp_path, {**ONE, "tasks": [{**ONE["tasks"][0], **task}]}) == expected


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ({"type": "max"}, []),
        ({"type": "max", "sha256": "0" * 64}, []),
        ({"type": "max", "note": "x"}, [("unknown-metric-field", "warning")]),
        ({"type": "max", "kwarg": {}}, [("unknown-metric-field", "error")]),
        ({"typ": "max"}, [("unknown-metric-field", "error")]),
        # Of an unknown type nothing else is known.
        ({"type": "zebra", "note": "x"}, [("unknown-metric-type", "error")]),
        ({"type": "mean", "key": "r"}, [("misplaced-kwargs", "error")]),
    ],
)
def test_metric_has_a_type_and_kwargs(
    metric: dict[str, Any], expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert said(tmp_path, {**ONE, "extra_metrics": [metric]}) == expected


def test_misplaced_kwarg_is_mended_with_the_others(tmp_path: Path) -> None:
    metric = {"type": "quantile", "q": 0.5, "key": "r", "kwargs": {"missing": "skip"}}
    (tmp_path / "registry.json").write_text(json.dumps([{**ONE, "extra_metrics": [metric]}]))
    helps = {d.help for d in validate(str(tmp_path / "registry.json")).found}
    mended = {"type": "quantile", "kwargs": {"missing": "skip", "q": 0.5, "key": "r"}}
    assert f"write `{json.dumps(mended)}`" in helps


@pytest.mark.parametrize(
    ("field", "instead"), [("tasks", "takas"), ("version", "vrieon"), ("description", "dscrpin")]
)
def test_what_is_missing_is_said_unless_an_unknown_field_is_said_to_be_it(
    field: str, instead: str, tmp_path: Path
) -> None:
    entry = {"name": "d", "version": "1", "description": "", "tasks": [{"name": "t", "path": "p"}]}
    entry[instead] = entry.pop(field)
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    report = validate(tmp_path)
    assert not report.ok
    assert f"has no `{field}`" in " ".join(d.message for d in report.found)
