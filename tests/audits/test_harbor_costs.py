"""What an audit of a job computes grows as the job does, whatever its result.json has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import trial, write_job

from harbor_metrics.audits import audit, harbor_groups, harbor_plan
from harbor_metrics.readers.harbor import documents, reported

N = 30
KEY = "oracle__sail-1__demo"


def job(tmp_path: Path, stats: dict[str, Any], **of_trials: Any) -> str:
    """A job whose result.json has these numbers of its only group."""
    folder = tmp_path / "job"
    write_job(folder, [trial("t", {"reward": 1.0}, i, **of_trials) for i in range(3)])
    result = {"n_total_trials": 3, "stats": {"evals": {KEY: stats}}, "schema_version": 1}
    (folder / "result.json").write_text(json.dumps(result))
    return str(folder)


def test_a_metric_is_computed_once_however_often_it_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    real = harbor_groups.measured
    monkeypatch.setattr(
        harbor_groups, "measured", lambda spec, table: calls.append(spec) or real(spec, table)
    )
    audit(job(tmp_path, {"metrics": [{"mean": 1.0}] * N}))
    assert len(calls) <= 1


def test_the_trials_are_gone_through_once_for_all_numbers_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = job(tmp_path, {f"more{i}": i for i in range(N)})
    result = json.loads(Path(path, "result.json").read_text())
    result |= {f"other{i}": i for i in range(N)}
    Path(path, "result.json").write_text(json.dumps(result))
    calls = []
    real = harbor_plan.Plan._cancelled
    monkeypatch.setattr(
        harbor_plan.Plan, "_cancelled", lambda plan: calls.append(plan) or real(plan)
    )
    assert len(audit(path).rows) > 2 * N
    assert len(calls) == 1


def test_what_a_group_has_is_listed_once_for_all_its_numbers() -> None:
    numbers = {f"more{i}": i for i in range(N)}
    found = [*reported.reported({"stats": {"evals": {KEY: numbers}}})]
    assert len({id(n.params["sections"]) for n in found if "sections" in n.params}) == 1


def test_an_audit_looks_over_each_trial_once_behind_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = job(tmp_path, {"n_trials": 3}, reward_valid=True)
    reads: Counter[str] = Counter()
    real = documents.contents

    def contents(file: str) -> bytes:
        reads[file] += 1
        return real(file)

    monkeypatch.setattr(documents, "contents", contents)
    audit(path)
    trials = [n for file, n in reads.items() if file.count("/") > path.count("/") + 1]
    assert max(trials) <= 2
