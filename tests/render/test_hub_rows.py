"""Rows of a Harbor Hub leaderboard; `inside_harbor/test_real_harbor.py` shows them to Harbor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import JOBS, Run, trial, write_job

from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.result import Result
from harbor_metrics.render.hub_rows import hub_rows

ID = "00000000-0000-4000-8000-0000000000{:02d}"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A job of two agents, four trials each, one of them without rewards."""
    trials = [
        trial(
            f"t{i % 2}",
            None if i == 3 else {"reward": float(i % 2)},
            i,
            id=ID.format(i),
            agent_info={"name": f"agent-{i // 4}", "model_info": {"name": "m"}},
        )
        for i in range(8)
    ]
    return write_job(tmp_path / "two", trials)


def rows(done: object) -> list[dict[str, object]]:
    return json.loads(done.stdout)["rows"]


def test_a_row_has_values_errors_counts_and_trials(cli: Run, two: Path) -> None:
    passing = '{"type": "pass-at-k", "kwargs": {"k": [1, 2, 9]}}'
    done = cli("compute", two, "--metric", passing, "--format", "hub-rows")
    assert done.returncode == 0, done.stderr
    first, second = rows(done)
    assert first["metadata"] == {"agent": "agent-0", "model": "m", "dataset": "demo"}
    metrics = first["metrics"]
    assert metrics["trials"] == 4
    assert metrics["scored"] == 3
    # 9 attempts there are not: what is undefined is left out.
    assert {name for name in metrics if name[:4] == "pass"} == {
        f"pass-at-k_{k}{part}" for k in (1, 2) for part in ("", "_stderr", "_low", "_high")
    }
    written = cli("compute", two, "--metric", passing, "--format", "json")
    (mean, _) = json.loads(written.stdout)["groups"][0]["metrics"]
    assert metrics["mean"] == mean["values"]["mean"]
    assert metrics["mean_stderr"] == mean["uncertainty"]["mean"]["stderr"]
    assert sorted(first["trial_ids"]) == [ID.format(i) for i in range(4)]
    assert sorted(second["trial_ids"]) == [ID.format(i) for i in range(4, 8)]


def test_metrics_of_one_name_are_numbered(cli: Run, two: Path) -> None:
    metrics = [
        part
        for q in (0, 1)
        for part in ("--metric", json.dumps({"type": "quantile", "kwargs": {"q": q}}))
    ]
    first, _ = rows(cli("compute", two, *metrics, "--level=off", "--format", "hub-rows"))
    assert (first["metrics"]["quantile"], first["metrics"]["quantile#2"]) == (0, 1)


def test_trials_of_other_harnesses_have_no_id_that_the_hub_knows(cli: Run, rewards: Path) -> None:
    (row,) = rows(cli("compute", rewards, "--format", "hub-rows"))
    assert row["trial_ids"] == []


def test_failed_metric_makes_no_row(cli: Run, two: Path) -> None:
    done = cli("compute", two, "--group-by", "none", "--format", "hub-rows")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "a row needs every metric, and grouped failed" in done.stderr


def test_no_group_makes_no_rows() -> None:
    with pytest.raises(UsageError, match="1 to 500 rows"):
        hub_rows(Result(sources=[], groups=[]), [])


def test_jobs_of_harbor_make_rows_of_their_trials(cli: Run) -> None:
    done = cli("compute", JOBS / "two-models", "--format", "hub-rows")
    for row in rows(done):
        assert len(row["trial_ids"]) == row["metrics"]["trials"]


def test_no_value_has_the_name_of_anothers_error_or_bound(cli: Run, tmp_path: Path) -> None:
    keys = [
        *("low", "high", "mean", "mean_low", "stderr", "a.b", "a/b", "a_b", "a_b#2", ""),
        *("Mean", "é", "e\u0301"),
    ]
    # Each key has a mean of its own.
    given = [{key: (i < j + 1) / 3 for j, key in enumerate(keys)} for i in range(len(keys) + 1)]
    path = tmp_path / "rewards.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in given))
    args = ("compute", path, "--metric", "mean")
    (outcome,) = json.loads(cli(*args, "--format", "json").stdout)["groups"][0]["metrics"]
    (row,) = rows(cli(*args, "--format", "hub-rows"))
    sure = outcome["uncertainty"]
    bounds = [sure[key][part] for key in keys for part in ("stderr", "low", "high")]
    written = list(row["metrics"].values())[2:]
    assert sorted(written) == sorted([*outcome["values"].values(), *bounds])
    assert row["metrics"]["mean_low"] == sure["mean"]["low"]
    assert row["metrics"]["mean_low#2"] == outcome["values"]["low"]


def test_a_name_is_the_same_values_in_all_rows(cli: Run, tmp_path: Path) -> None:
    lines = [
        {"task": f"t{i}", "agent": agent, "dataset": "d", "rewards": dict.fromkeys(keys, i % 2)}
        for agent, keys in (("a", ("low", "high")), ("b", ("low", "mean")))
        for i in range(4)
    ]
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    first, second = rows(cli("compute", path, "--metric", "mean", "--format", "hub-rows"))
    assert first["metrics"]["mean_low#2"] == second["metrics"]["mean_low#2"] == 0.5
    assert "mean_low" not in first["metrics"]
    assert second["metrics"]["mean_low"] < 0.5


def test_metrics_of_one_name_and_other_kwargs_are_two_columns(cli: Run, tmp_path: Path) -> None:
    """Each job has a registry of its own, and both metrics are called `mean`."""
    kwargs = ({}, {"missing": "skip"})
    for name, own in zip(("one", "two"), kwargs, strict=True):
        dataset = {"name": name, "version": "1", "description": "", "tasks": []}
        metrics = [{"type": "mean", "kwargs": own}]
        entry = {**dataset, "metrics": [], "extra_metrics": metrics} if own else dataset
        (tmp_path / name).mkdir()
        (tmp_path / name / "registry.json").write_text(
            json.dumps([entry if own else {**entry, "metrics": metrics}])
        )
        lines = [
            {"task": f"t{i}", "agent": name, "dataset": name, "rewards": reward}
            for i, reward in enumerate((None, {"r": 0}, {"r": 1}))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    named = ("--registry", "one/registry.json", "--registry", "two/registry.json")
    done = cli("compute", "one.jsonl", "two.jsonl", *named, "--format", "hub-rows")
    first, second = rows(done)
    assert first["metrics"]["mean"] == pytest.approx(1 / 3)
    assert {k: v for k, v in second["metrics"].items() if k.startswith("mean")}["mean#2"] == 0.5
