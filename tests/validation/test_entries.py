"""What a computation says of the entries that it uses is what validate says, as a warning."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import trial, write_job

import harbor_metrics
from harbor_metrics.documents.diagnostics import Severity

SHARED = {"unknown-metric-field", "misplaced-kwargs", "not-in-harbor", "unknown-metric-type"}
SHARED |= {"script-twice", "duplicate-dataset", "unknown-field"}
BLOCK = "# /// script\n# dependencies = []\n# ///\nimport sys\nprint(sys.argv)\n"


def dataset(metrics: list[Any], **more: Any) -> dict[str, Any]:
    base = {"name": "demo", "version": "1", "description": "", "tasks": []}
    return {**base, "metrics": metrics, **more}


def computed(folder: Path, datasets: list[dict[str, Any]], **job: Any) -> list[dict[str, Any]]:
    """The diagnostics of a job that ran the dataset of the registry."""
    (folder / "registry.json").write_text(json.dumps(datasets, indent=1))
    named = [{"name": "demo", "version": "1", "registry_path": "registry.json"}]
    write_job(folder / "job", [trial("a", {"reward": 1.0})], datasets=named, **job)
    return harbor_metrics.compute("job").diagnostics


@pytest.mark.parametrize(
    "datasets",
    [
        [dataset([{"typ": "min"}])],
        [dataset([{"type": "mean", "kwarg": {}, "note": 1}])],
        [dataset([{"type": "quantile", "q": 0.5}])],
        [dataset([{"type": "median"}, {"type": "mean", "kwargs": {"missing": "skip"}}])],
        [dataset([{"type": "medain"}])],
        [dataset([], extra_metrics=[{"type": "median", "note": "x"}])],
        [dataset([{"type": "uv-script", "kwargs": {"script_path": "m.py"}}])],
        [dataset([]), dataset([{"type": "max"}])],
        [dataset([]), dataset([])],
        [{k: v for k, v in dataset([], metric=[{"type": "max"}]).items() if k != "metrics"}],
    ],
    ids=json.dumps,
)
def test_compute_says_what_validate_says(
    datasets: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    diagnostics = computed(tmp_path, datasets)
    validated = [d.as_json() for d in harbor_metrics.validate("registry.json").found]
    shared = [d for d in validated if d["rule"] in SHARED]
    assert diagnostics == [{**d, "severity": "warning"} for d in shared]
    assert shared or "uv-script" in json.dumps(datasets)
    assert all(d["line"] for d in diagnostics)


def test_a_script_of_which_there_are_two_is_reported_at_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}
    for folder in ("home", "here"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.py").write_text(f"{BLOCK}# {folder}\n")
    path = tmp_path / "home" / "registry.json"
    path.write_text(json.dumps([dataset([script])], indent=1))
    write_job(tmp_path / "here" / "job", [trial("a", None)], datasets=[{"name": "demo"}])
    monkeypatch.chdir(tmp_path / "here")
    result = harbor_metrics.compute("job", registry="../home/registry.json")
    validated = harbor_metrics.validate("../home/registry.json").found
    twice = [d for d in result.found if d.rule == "script-twice"]
    assert [d.as_json() for d in twice] == [
        d.as_json() for d in validated if d.rule == "script-twice"
    ]
    assert [d.severity for d in twice] == [Severity.WARNING]


def test_a_jobs_own_metrics_are_looked_at_without_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    metrics = [{"typ": "min", "zz": 1, "aa": 2}, {"type": "median"}]
    diagnostics = computed(tmp_path, [dataset([{"type": "max"}])], metrics=metrics)
    assert [(d["rule"], d["severity"], d["subject"]) for d in diagnostics] == [
        ("unknown-metric-field", "warning", "job job, metrics[0]")
    ] * 3
    assert [d["message"].split("`")[1] for d in diagnostics] == ["typ", "zz", "aa"]


def test_a_plain_registry_loads_no_rules(tmp_path: Path) -> None:
    entries = [{"type": "mean"}, {"type": "max", "kwargs": {}}, {}]
    extra = [{"type": "median", "kwargs": {}}]
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([dataset(entries, extra_metrics=extra)]))
    named = [{"name": "demo", "version": "1"}]
    write_job(tmp_path / "job", [trial("a", {"reward": 1.0})], datasets=named)
    code = (
        "import sys, harbor_metrics\n"
        "result = harbor_metrics.compute('job', registry='registry.json')\n"
        "assert len(result.groups[0].metrics) == 4 and not result.diagnostics\n"
        "print([m for m in sys.modules if 'validation.rules' in m])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
