"""Which metrics are computed of which trials, and in which order."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Run, trial, write_job
from printed import group
from registries_by_hand import dataset


def test_metrics_stand_in_the_order_registry_job_extra_command_line(
    cli: Run, tmp_path: Path
) -> None:
    dataset = {
        "name": "demo",
        "version": "1.0",
        "description": "",
        "tasks": [],
        "metrics": [{"type": "max"}, {"type": "nonesuch"}, {"type": "median"}, {"typ": "min"}],
        "extra_metrics": [{"type": "min"}],
    }
    (tmp_path / "registry.json").write_text(json.dumps([dataset]))
    trials = [trial("a", {"reward": 1.0}), trial("b", {"reward": 0.0})]
    write_job(
        tmp_path / "jobs" / "one",
        trials,
        datasets=[{"name": "demo", "version": "1.0", "registry_path": "registry.json"}],
        metrics=[{"type": "sum"}],
    )
    done = cli("compute", "jobs/one", "--format", "json", "--metric", "mean", cwd=tmp_path)
    metrics = json.loads(done.stdout)["groups"][0]["metrics"]
    assert [(m["name"], m["origin"], m["status"]) for m in metrics] == [
        ("max", "registry", "ok"),
        ("nonesuch", "registry", "failed"),
        ("median", "registry", "ok"),
        ("mean", "registry", "ok"),
        ("sum", "job", "ok"),
        ("min", "extra", "ok"),
        ("mean", "command-line", "ok"),
    ]
    assert done.returncode == 1
    assert "unknown field `typ`" in done.stderr
    assert "Harbor does not know the metric `median`" in done.stderr


def test_naming_the_only_dataset_loses_no_trial(cli: Run, tmp_path: Path) -> None:
    rows = ['{"task": "a", "dataset": "X", "rewards": {"r": 1}}'] * 2
    rows.append('{"task": "b", "rewards": {"r": 0}}')
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    (tmp_path / "X.json").write_text(json.dumps([dataset("X")]))
    done = cli("compute", "t.jsonl", "--registry", "X.json", "--format", "json")
    assert group(done)["counts"]["found"] == 3
