"""The numbers of a job of Harbor."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from conftest import JOBS, Run
from conftest import registry_of_job as registry

from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Verdict


def test_a_changed_job_is_seen(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    document["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.5
    result.write_text(json.dumps(document))
    done = cli("audit", "job", "--registry", registry("single"), "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["counts"] == {"equal": 13, "explained": 0, "unverified": 0, "differs": 1}
    (row,) = (row for row in found["rows"] if row["verdict"] == "differs")
    assert (row["name"], row["reported"], row["recomputed"]) == ("metrics[0].mean", 0.5, 0.45)


def test_as_many_but_other_trials_differ(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    stats = document["stats"]["evals"]["oracle__local-single"]["reward_stats"]["reward"]
    stats["0.0"][0], stats["1.0"][0] = stats["1.0"][0], stats["0.0"][0]
    result.write_text(json.dumps(document))
    done = cli("audit", "job")
    assert done.returncode == 1
    assert "it is as many, but other trials" in done.stdout


def test_missing_trials_explain_a_difference(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    shutil.rmtree(next((tmp_path / "job").glob("task-004__*")))
    done = cli("audit", "job")
    assert done.returncode == 0
    assert "1 of 40 trials are missing on disk" in done.stdout


def test_number_of_a_script_that_fails_is_unverified(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "script", tmp_path / "job")
    shutil.copy(registry("script"), tmp_path / "registry.json")
    done = cli("audit", "job", "--registry", "registry.json")
    assert done.returncode == 0
    assert "failed here" in done.stdout
    assert "2 unverified" in done.stdout


def test_missing_trials_excuse_only_what_they_can_have_changed(tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    document["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.99
    result.write_text(json.dumps(document))
    shutil.rmtree(next((tmp_path / "job").glob("task-000__*")))
    done = audit(str(tmp_path / "job"))
    assert [row.name for row in done.rows if row.verdict == Verdict.DIFFERS] == ["metrics[0].mean"]
