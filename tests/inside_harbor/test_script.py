"""The metric script: `trials` until the end, then the values; it never fails in Harbor."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import JOBS, Run, trial, write_job
from printed import values

from harbor_metrics.registries import harbor_script


def script(folder: Path, *metrics: Any, table: str = "") -> Path:
    """The script with these metrics in its table."""
    text = harbor_script.text("mean", {}, "harbor-metrics==0.1.0")
    written = ", ".join(harbor_script._toml(metric) for metric in metrics)
    path = folder / "metric.py"
    path.write_text(text.replace('metrics = ["mean"]', f"metrics = [{written}]{table}"))
    return path


def call(path: Path, rewards: list[Any], **env: object) -> tuple[dict[str, Any], str]:
    """What the script answers when it is called as Harbor calls it, and what it says."""
    given, answer = path.parent / "rewards.jsonl", path.parent / "answer.json"
    given.write_text("".join(f"{json.dumps(reward)}\n" for reward in rewards))
    done = subprocess.run(
        [sys.executable, str(path), "-i", str(given), "-o", str(answer)],
        env={**os.environ, **{name: str(value) for name, value in env.items()}},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(answer.read_text()), done.stderr


def rewards_of(job: Path) -> list[Any]:
    results = [json.loads(path.read_text()) for path in sorted(job.glob("*/result.json"))]
    return [(result["verifier_result"] or {}).get("rewards") for result in results][::-1]


@pytest.fixture
def done(job: Path) -> Path:
    """The job of ten trials, as Harbor leaves it when all have ended."""
    result = json.loads((job / "result.json").read_text())
    result["stats"] = {"n_completed_trials": 10}
    (job / "result.json").write_text(json.dumps(result))
    return job


PASS = {"type": "pass-at-k", "kwargs": {"k": [1, 2]}}


def test_values_are_those_of_compute_when_the_job_has_ended(
    cli: Run, done: Path, tmp_path: Path
) -> None:
    path = script(tmp_path, PASS, "median", table="\n# stderr = true")
    answer, _ = call(path, rewards_of(done), HARBOR_METRICS_JOB=done)
    computed = cli(
        "compute", done, "--metric", json.dumps(PASS), "--metric=median", "--format=json"
    )
    (_, passing, median) = json.loads(computed.stdout)["groups"][0]["metrics"]
    assert answer == {
        "trials": 10,
        "pass-at-k 1": passing["values"]["1"],
        "pass-at-k 1 stderr": passing["uncertainty"]["1"]["stderr"],
        "pass-at-k 2": passing["values"]["2"],
        "pass-at-k 2 stderr": passing["uncertainty"]["2"]["stderr"],
        "median": median["values"]["median"],
    }


def test_same_values_from_the_trials_that_compute_hands_to_scripts(
    cli: Run, done: Path, tmp_path: Path
) -> None:
    path = script(tmp_path, PASS, {"type": "mean", "kwargs": {"missing": "skip"}})
    assert cli("convert", done, "-o", "trials.jsonl").returncode == 0
    rewards = rewards_of(done)
    there, _ = call(path, rewards, HARBOR_METRICS_TRIALS=tmp_path / "trials.jsonl")
    here, _ = call(path, rewards, HARBOR_METRICS_JOB=done)
    assert there == here
    assert set(here) == {"trials", "pass-at-k 1", "pass-at-k 2", "mean"}


def test_what_compute_hands_over_is_one_group_whatever_its_trials_are_called(
    cli: Run, tmp_path: Path
) -> None:
    """As pools of a dataset's name and of none, or of two names of one model."""
    path = script(tmp_path, "mean")
    rows = [
        {"task": "a", "trial": "1", "rewards": {"reward": 1}, "dataset": "d", "model": "m"},
        {"task": "b", "trial": "2", "rewards": {"reward": 0}, "model": "x/m"},
        {"task": "c", "trial": "3", "rewards": {"reward": 0}},
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "trials.jsonl").write_text(lines)
    rewards = [row["rewards"] for row in rows]
    there, _ = call(path, rewards, HARBOR_METRICS_TRIALS=tmp_path / "trials.jsonl")
    assert (there["trials"], there["mean"]) == (3, 1 / 3)


def test_trials_alone_while_the_job_runs_and_where_there_is_no_job(
    job: Path, tmp_path: Path
) -> None:
    path = script(tmp_path, "median")
    assert call(path, [{"r": 1}, None], HARBOR_METRICS_JOB=job) == ({"trials": 2}, "")
    assert call(path, []) == ({"trials": 0}, "")
    assert call(path, [None], HARBOR_METRICS_JOB=tmp_path / "gone") == ({"trials": 1}, "")


def test_group_is_the_one_with_these_rewards(done: Path, tmp_path: Path) -> None:
    trials = [
        trial(f"t{i}", {"r": i % 2, "q": group}, i, agent_info={"name": f"agent-{group}"})
        for group in (0, 1)
        for i in range(3 * group, 3 * group + 3)
    ]
    job = write_job(tmp_path / "two", trials)
    result = {"n_total_trials": 6, "stats": {"n_completed_trials": 6}}
    (job / "result.json").write_text(json.dumps(result))
    path = script(tmp_path, {"type": "max", "kwargs": {"key": "q"}})
    for group in (0, 1):
        rewards = [
            t["verifier_result"]["rewards"]
            for t in trials
            if t["agent_info"]["name"][-1] == str(group)
        ]
        answer, _ = call(path, rewards, HARBOR_METRICS_JOB=job)
        assert answer == {"trials": 3, "max": group}
    assert call(path, [{"r": 9}], HARBOR_METRICS_JOB=job) == ({"trials": 1}, "")


@pytest.mark.parametrize(
    ("metric", "table", "words"),
    [
        ("medain", "", "did you mean `median`"),
        ("median", "\n# missing = 1", "missing"),
        ({"type": "grouped", "kwargs": {"metric": "mean", "by": "none"}}, "", "no label `none`"),
        ({"type": "mean", "kwargs": {"missing": "error"}}, "", "have no `reward`"),
    ],
)
def test_what_goes_wrong_is_said_and_ends_no_job(
    metric: Any, table: str, words: str, done: Path, tmp_path: Path
) -> None:
    path = script(tmp_path, metric, table=table)
    answer, said = call(path, rewards_of(done), HARBOR_METRICS_JOB=done)
    assert answer == {"trials": 10}
    assert words in said
    assert "Traceback" not in said


def test_in_compute_a_failing_metric_is_an_error(done: Path, cli: Run, tmp_path: Path) -> None:
    path = script(tmp_path, {"type": "mean", "kwargs": {"missing": "error"}})
    assert cli("convert", done, "-o", "trials.jsonl").returncode == 0
    with pytest.raises(AssertionError, match="have no `reward`"):
        call(path, [], HARBOR_METRICS_TRIALS=tmp_path / "trials.jsonl")


@pytest.mark.parametrize("n", [40, 6_000])
def test_trials_of_a_group_are_answered_for_together_however_many(n: int, tmp_path: Path) -> None:
    """One of them has the model's name of an older Harbor; of many only counts are kept."""
    trials = tmp_path / "trials.jsonl"
    lines = [
        {"task": f"t{i // 4}", "trial": f"t{i}" + "_" * 90, "agent": "a", "dataset": "d",
         "model": "m" if i == 0 else "p/m", "rewards": {"reward": 1},
         "usage": {"cost_usd": 8.0 if i == 0 else 1.0}}
        for i in range(n)
    ]  # fmt: skip
    trials.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    path = script(tmp_path, "cost-per-task", "mean")
    answer, _ = call(path, [{"reward": 1}] * n, HARBOR_METRICS_TRIALS=trials)
    # The mean of tasks of four attempts, of which one has the dear one.
    mean = {name: value for name, value in answer.items() if name.startswith("cost-per-task")}
    assert [*mean.values()] == [pytest.approx((n + 7) / n)]
    assert answer["mean"] == 1


def test_undefined_values_are_left_out(done: Path, tmp_path: Path) -> None:
    path = script(tmp_path, {"type": "pass-at-k", "kwargs": {"k": 50}}, "max")
    answer, _ = call(path, rewards_of(done), HARBOR_METRICS_JOB=done)
    assert answer == {"trials": 10, "max": 1.0}


def test_metrics_of_one_name_keep_their_kwargs(done: Path, tmp_path: Path) -> None:
    quantiles = [{"type": "quantile", "kwargs": {"q": q}} for q in (0.25, 0.75)]
    answer, _ = call(script(tmp_path, *quantiles), rewards_of(done), HARBOR_METRICS_JOB=done)
    assert list(answer) == ["trials", "quantile(q=0.25)", "quantile(q=0.75)"]


def test_no_value_has_the_name_of_anothers_error(tmp_path: Path) -> None:
    rewards = [{"mean": i % 2, "mean stderr": int(i == 0)} for i in range(4)]
    trials = tmp_path / "trials.jsonl"
    lines = [{"task": f"t{i}", "rewards": each} for i, each in enumerate(rewards)]
    trials.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    path = script(tmp_path, "mean", table="\n# stderr = true")
    answer, _ = call(path, rewards, HARBOR_METRICS_TRIALS=trials)
    # A reward that is called as the metric is not all that the metric gives.
    mark = "#[0-9a-f]{20}"
    (mean,) = (name for name in answer if re.fullmatch(f"mean mean{mark}", name))
    (other,) = (name for name in answer if re.fullmatch(f"mean mean stderr{mark}", name))
    assert (answer[mean], answer[other]) == (0.5, 0.25)
    assert answer[f"{mean} stderr"] not in (0.25, None)
    assert answer.keys().isdisjoint({"mean mean", "mean mean stderr"})
    assert len(answer) == 5


def test_while_trials_run_hardly_anything_is_imported(job: Path, tmp_path: Path) -> None:
    path = script(tmp_path, "median")
    path.write_text(path.read_text() + "print(*sorted(sys.modules), file=sys.stderr)\n")
    _, said = call(path, [None], HARBOR_METRICS_JOB=job)
    assert not {"json", "msgspec", "typing", "re", "subprocess", "argparse"} & set(said.split())


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="Linux alone tells open files")
def test_job_is_found_by_the_log_that_the_caller_has_open(done: Path, tmp_path: Path) -> None:
    (done / "lock.json").write_text("{}")
    path = script(tmp_path, "max")
    with open(done / "job.log", "w"):
        answer, _ = call(path, rewards_of(done))
    assert answer == {"trials": 10, "max": 1.0}


def test_jobs_that_harbor_ran_give_what_compute_gives(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "two-models", tmp_path / "job")
    path = script(tmp_path, "median", "sum")
    computed = cli("compute", tmp_path / "job", "--metric=median", "--only-asked", "--format=json")
    models = json.loads((tmp_path / "job" / "result.json").read_text())
    assert models["stats"]["n_completed_trials"] == models["n_total_trials"]
    by_model: dict[str, list[Any]] = {}
    for result in sorted((tmp_path / "job").glob("*/result.json")):
        found = json.loads(result.read_text())
        rewards = (found["verifier_result"] or {}).get("rewards")
        by_model.setdefault(found["agent_info"]["model_info"]["name"], []).append(rewards)
    groups = {g["model"]: g["metrics"][0]["values"] for g in json.loads(computed.stdout)["groups"]}
    for model, rewards in by_model.items():
        answer, _ = call(path, rewards, HARBOR_METRICS_JOB=tmp_path / "job")
        assert answer["median"] == groups[model]["median"]
    assert values(computed)
