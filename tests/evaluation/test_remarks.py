"""What is said of many jobs, said once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run, trial, write_job


def reporting(folder: Path, dataset: str, *metrics: dict[str, float]) -> None:
    entry = {"name": dataset, "registry_path": f"{dataset}.json"}
    trials = [trial("t", {"reward": 1}, id=folder.name, source=dataset, trial_name=folder.name)]
    job = write_job(folder, trials, datasets=[entry])
    result = json.loads((job / "result.json").read_text())
    result["stats"] = {"evals": {f"oracle__sail-1__{dataset}": {"metrics": list(metrics)}}}
    (job / "result.json").write_text(json.dumps(result))


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ([{"mean": 1}], "mean runs, as the job itself reports"),
        ([{"mean": 1}, {"max": 1}], "mean runs, Harbor's default"),
        ([{"max": 1}], "mean runs, Harbor's default"),
        ([], "mean runs, Harbor's default"),
    ],
)
def test_mean_is_what_the_job_reports_where_it_does(
    metrics: list[dict[str, float]], words: str, cli: Run, tmp_path: Path
) -> None:
    reporting(tmp_path / "job", "a", *metrics)
    done = cli("compute", "job")
    said = " ".join(done.stderr.split())
    assert said == (
        f"warning[registry-not-found]: the registry of a (a.json) is not on this machine: {words}; "
        "--registry FILE names it"
    )


def test_registries_of_many_jobs_are_missed_once(cli: Run, tmp_path: Path) -> None:
    for i, dataset in enumerate("abcdab"):
        reporting(tmp_path / "jobs" / f"j{i}", dataset, {"mean": 1})
    done = cli("compute", "jobs", "--format", "json")
    assert " ".join(done.stderr.split()) == (
        "warning[registry-not-found]: the registries of a, b, c and 1 more are not on this "
        "machine: mean runs, as the jobs themselves report; --registry FILE names it"
    )
    assert max(map(len, done.stderr.splitlines())) <= 80
    assert [d["rule"] for d in json.loads(done.stdout)["diagnostics"]] == ["registry-not-found"]
