"""Which registry and which of its datasets the trials are of."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Run, trial, write_job
from printed import group, values
from registries_by_hand import dataset

import harbor_metrics
from harbor_metrics.documents.document import parse
from harbor_metrics.registries import registry
from harbor_metrics.registries.registry import datasets_of, nearest
from harbor_metrics.validation.rules import datasets


def test_last_of_equal_datasets_counts_and_the_others_are_reported(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    first = {"name": "demo", "version": "1.0", "description": "", "tasks": []}
    second = {**first, "metrics": [{"type": "max"}]}
    (tmp_path / "r.json").write_text(json.dumps([first, second]))
    done = cli("compute", job, "--registry", "r.json", "--format", "json")
    assert values(done) == [{"max": 1.0}]
    assert "demo@1.0 stands twice, at index 0 and 1, and they differ in metrics" in done.stderr


def test_dataset_names_may_hold_anything(cli: Run, tmp_path: Path) -> None:
    name = "org/my__bench é"
    (tmp_path / "r.json").write_text(
        json.dumps(
            [
                {
                    "name": name,
                    "version": "1",
                    "description": "",
                    "tasks": [],
                    "metrics": [{"type": "sum"}],
                }
            ]
        )
    )
    job = write_job(tmp_path / "job", [trial("t", {"r": 2}, source=name)])
    done = cli("compute", job, "--registry", "r.json", "--format", "json")
    assert values(done) == [{"sum": 2}]
    group = json.loads(done.stdout)["groups"][0]
    assert group["dataset"]["name"] == name
    assert group["evals_key"] == f"oracle__sail-1__{name}"
    done = cli("compute", job, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert name in done.stdout


def test_registry_that_has_the_version_is_used(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"r": 1}\n')
    (tmp_path / "1.json").write_text(json.dumps([dataset("X", "1")]))
    later = dataset("X", "2", metrics=[{"type": "sum"}])
    (tmp_path / "2.json").write_text(json.dumps([later]))
    registries = ("--registry", "1.json", "--registry", "2.json")
    done = cli("compute", "r.jsonl", "--dataset", "X@2", *registries, "--format", "json")
    assert group(done)["metrics"][0]["type"] == "sum"


def test_versions_of_a_dataset_are_weighed_once_however_often_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They were for each group of trials, and `validate` did so for each version."""
    asked: list[int] = []
    weigh = registry.best_version

    def weighed(versions: Sequence[str]) -> str:
        asked.append(len(versions))
        return weigh(versions)

    monkeypatch.setattr(registry, "best_version", weighed)
    monkeypatch.setattr(datasets, "best_version", weighed)
    path = tmp_path / "r.json"
    path.write_text(json.dumps([dataset(name="d", version=f"x{n}") for n in range(50)]))
    trials = tmp_path / "trials.jsonl"
    rows = [{"task": "t", "agent": f"a{n}", "dataset": "d", "rewards": {"r": 1}} for n in range(9)]
    trials.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(harbor_metrics.compute(str(trials), registry=str(path)).groups) == 9
    assert asked.count(50) == 1
    harbor_metrics.validate(str(path))
    assert asked.count(50) == 2


def test_names_are_compared_by_their_beginnings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of 80,000 signs beside another took a minute, and so do many."""
    compared: list[int] = []

    class Matcher(difflib.SequenceMatcher[str]):
        def ratio(self) -> float:
            compared.append(len(self.a) * len(self.b))
            return super().ratio()

    monkeypatch.setattr(difflib, "SequenceMatcher", Matcher)
    names = ["n" * 5_000, *(f"other-{i:03}" for i in range(300)), "swe-bench", "swe-bench-pro"]
    text = json.dumps([{"name": name, "version": "1"} for name in names])
    document, _ = parse(text.encode(), "r.json")
    assert document is not None
    near = nearest("swe-bench", datasets_of(document))
    assert sorted(near) == sorted(f"{name}@1" for name in names)
    assert near[:2] == ["swe-bench@1", "swe-bench-pro@1"]
    nearest("x" * 5_000, datasets_of(document))
    assert len(compared) == 200
    assert max(compared) <= 100 * 100
