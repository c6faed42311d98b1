"""The numbers of a job of Harbor."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import JOBS, Run, as_somebody_else, trial, write_job
from conftest import registry_of_job as registry

from harbor_metrics.audits import Audit, audit
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial


def test_a_changed_job_is_seen(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    document["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.5
    result.write_text(json.dumps(document))
    done = cli("audit", "job", "--registry", registry("single"), "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["counts"] == {"equal": 17, "explained": 0, "unverified": 0, "differs": 1}
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


def test_trials_are_gone_through_as_often_whatever_rewards_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reward that a job reports took all of its trials."""
    walks: Counter[str] = Counter()
    walk = Table.__iter__

    def counted(table: Table) -> Iterator[Trial]:
        walks[job] += 1
        return walk(table)

    monkeypatch.setattr(Table, "__iter__", counted)
    for job, n in (("few", 0), ("many", 50)):
        shutil.copytree(JOBS / "single", tmp_path / job)
        result = tmp_path / job / "result.json"
        document = json.loads(result.read_text())
        numbers = document["stats"]["evals"]["oracle__local-single"]
        numbers["reward_stats"]["reward"] |= {f"0.{i}1": [] for i in range(n)}
        numbers["exception_stats"] |= {f"Error{i}": [] for i in range(n)}
        result.write_text(json.dumps(document))
        audit(str(tmp_path / job))
    assert walks["many"] == walks["few"] > 0


def test_missing_trials_leave_a_difference_unverified(cli: Run, tmp_path: Path) -> None:
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


def written(tmp_path: Path, trials: list[dict[str, Any]], evals: dict[str, Any]) -> Path:
    """A job with these trials, which reports these numbers of its only group."""
    folder = write_job(tmp_path / "job", trials)
    key = "oracle__sail-1__demo"
    scored = [t for t in trials if t["verifier_result"]]
    evals = {"n_trials": len(scored), "n_errors": 0, "metrics": [{"mean": 0}], **evals}
    document = {
        "n_total_trials": len(trials),
        "finished_at": "2026-01-01T00:00:00",
        "stats": {"n_trials": len(trials), "n_errors": 0, "evals": {key: evals}},
    }
    (folder / "result.json").write_text(json.dumps(document))
    return folder


def of_name(done: Audit, name: str) -> Row:
    (row,) = (row for row in done.rows if row.name == name)
    return row


@pytest.mark.parametrize(("value", "verdict"), [(0, Verdict.EXPLAINED), (0.5, Verdict.DIFFERS)])
def test_harbor_writes_0_of_a_group_without_rewards(
    value: float, verdict: Verdict, tmp_path: Path
) -> None:
    trials = [trial(f"t{i}", None) for i in range(3)]
    done = audit(str(written(tmp_path, trials, {"metrics": [{"mean": value}]})))
    assert of_name(done, "metrics[0].mean").verdict == verdict


def test_rewards_above_2_to_the_53_are_found(tmp_path: Path) -> None:
    big = 2**53 + 1
    trials = [trial("a", {"reward": big}), trial("b", {"reward": big + 1})]
    names = [each["trial_name"] for each in trials]
    evals = {
        "reward_stats": {"reward": {str(big): names[:1], f"{big + 1}": names[1:]}},
        "metrics": [{"max": big + 1}],
    }
    done = audit(str(written(tmp_path, trials, evals)))
    assert {row.verdict for row in done.rows} == {Verdict.EQUAL}


def test_a_copied_trial_folder_counts_once(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    folder = next((tmp_path / "job").glob("task-000__*"))
    shutil.copytree(folder, f"{folder}-copy")
    done = cli("audit", "job")
    assert done.returncode == 0
    assert "18 equal" in done.stdout
    computed = json.loads(cli("compute", "job", "--format", "json").stdout)
    assert computed["groups"][0]["complete"] is True
    assert computed["groups"][0]["counts"]["found"] == 40
    result = Path(f"{folder}-copy") / "result.json"
    whole = result.read_text()
    result.write_text(whole.replace('"task_checksum": "', '"task_checksum": "0'))
    assert "1 of them with other contents" in cli("compute", "job").stderr
    # What says that it is another agent's stands in a group of its own.
    result.write_text(whole.replace('"oracle"', '"other"'))
    computed = json.loads(cli("compute", "job", "--format", "json").stdout)
    assert {group["agent"]: group["counts"]["found"] for group in computed["groups"]} == {
        "oracle": 40, "other": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("config", "total", "verdict"),
    [
        ({"n_attempts": 4}, 40, Verdict.EQUAL),
        ({"n_attempts": 4}, 41, Verdict.DIFFERS),
        ({"n_attempts": 4, "datasets": [], "tasks": [{}] * 10}, 40, Verdict.EQUAL),
        ({"n_attempts": 4, "datasets": [], "tasks": [{}] * 11}, 40, Verdict.DIFFERS),
        ({"n_attempts": 2, "agents": [{}, {}], "datasets": []}, 42, Verdict.DIFFERS),
        ({"n_attempts": 3}, 40, Verdict.DIFFERS),
        ({"n_attempts": 5}, 40, Verdict.DIFFERS),
        ({"n_attempts": 4}, 80, Verdict.UNVERIFIED),
        ({"n_attempts": 4}, 36, Verdict.DIFFERS),
    ],
)
def test_planned_number_of_trials_is_that_of_the_configuration(
    config: dict[str, Any], total: int, verdict: Verdict, tmp_path: Path
) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    given = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**given, **config}))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "n_total_trials": total}))
    assert of_name(audit(str(folder)), "n_total_trials").verdict == verdict


def test_planned_number_of_trials_is_that_of_the_lock(tmp_path: Path) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    (folder / "lock.json").write_text(json.dumps({"trials": [{}] * 44}))
    row = of_name(audit(str(folder)), "n_total_trials")
    assert (row.verdict, row.recomputed) == (Verdict.DIFFERS, 44)


@pytest.mark.usefixtures("open_to_all")
def test_a_lock_that_is_shut_is_said() -> None:
    shutil.copytree(JOBS / "single", "job")
    Path("job/lock.json").write_text(json.dumps({"trials": [{}] * 44}))
    audit("job")
    Path("job/lock.json").chmod(0)
    with as_somebody_else():
        result = audit("job")
    said = "lock.json of the job cannot be read: Permission denied"
    assert said in [diagnostic.message for diagnostic in result.diagnostics]


@pytest.mark.parametrize(
    ("total", "chosen", "verdict"),
    [
        (40, {}, Verdict.EQUAL),
        (44, {}, Verdict.DIFFERS),
        (44, {"n_tasks": 11}, Verdict.UNVERIFIED),
        (44, {"task_names": ["task-*"]}, Verdict.UNVERIFIED),
    ],
)
def test_planned_number_of_trials_is_that_of_the_registrys_tasks(
    total: int, chosen: dict[str, Any], verdict: Verdict, tmp_path: Path
) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    config = json.loads((folder / "config.json").read_text())
    (dataset,) = config["datasets"]
    tasks = [{"name": f"task-{i:03}", "path": f"{i}"} for i in range(10)]
    entry = {**dataset, "description": "", "tasks": tasks}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    (folder / "config.json").write_text(json.dumps({**config, "datasets": [dataset | chosen]}))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "n_total_trials": total}))
    row = of_name(audit(str(folder), registry=[str(tmp_path / "registry.json")]), "n_total_trials")
    assert row.verdict == verdict


def test_trials_left_out_of_job_and_plan_are_missed(tmp_path: Path) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    shutil.rmtree(next(folder.glob("task-004__*")))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "n_total_trials": 39}))
    row = of_name(audit(str(folder)), "n_total_trials")
    assert row.verdict == Verdict.DIFFERS
    assert "each task has 4 trials by config.json" in row.reason


def test_a_plan_that_the_registry_denies_excuses_nothing(tmp_path: Path) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    config = json.loads((folder / "config.json").read_text())
    tasks = [{"name": f"task-{i:03}", "path": f"{i}"} for i in range(10)]
    entry = {**config["datasets"][0], "description": "", "tasks": tasks}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    result = json.loads((folder / "result.json").read_text())
    result |= {"n_total_trials": 80}
    result["stats"] |= {"n_completed_trials": 80}
    result["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.5
    (folder / "result.json").write_text(json.dumps(result))
    done = audit(str(folder), registry=[str(tmp_path / "registry.json")])
    differ = [row.name for row in done.rows if row.verdict == Verdict.DIFFERS]
    assert {"n_total_trials", "n_completed_trials", "metrics[0].mean"} <= set(differ)


def test_job_that_is_not_finished_is_held_to_the_trials_that_it_counts(tmp_path: Path) -> None:
    folder = shutil.copytree(JOBS / "interrupted", tmp_path / "job")
    result = json.loads((folder / "result.json").read_text())
    # One trial ended after the job wrote its own numbers.
    (group,) = result["stats"]["evals"].values()
    result["stats"] |= {"n_completed_trials": 60, "n_pending_trials": 139}
    group["metrics"][0]["mean"] = 0.5
    (folder / "result.json").write_text(json.dumps(result))
    row = of_name(audit(str(folder)), "metrics[0].mean")
    assert row.verdict == Verdict.UNVERIFIED
    assert "its numbers are over 60 of the 61 trials on disk" in row.reason
    group["metrics"][0]["mean"] = 0.6
    (folder / "result.json").write_text(json.dumps(result))
    assert of_name(audit(str(folder)), "metrics[0].mean").verdict == Verdict.DIFFERS
    result["stats"] |= {"n_completed_trials": 50, "n_pending_trials": 149}
    (folder / "result.json").write_text(json.dumps(result))
    assert of_name(audit(str(folder)), "metrics[0].mean").verdict == Verdict.DIFFERS


def test_usage_that_a_job_leaves_out_is_missed(tmp_path: Path) -> None:
    spent = {"n_input_tokens": 10, "n_output_tokens": 2}
    trials = [{**trial("a", {"reward": 1}), "agent_result": spent}]
    folder = written(tmp_path, trials, {"metrics": [{"mean": 1}]})
    result = json.loads((folder / "result.json").read_text())
    result["stats"]["n_input_tokens"] = None
    (folder / "result.json").write_text(json.dumps(result))
    done = audit(str(folder))
    assert of_name(done, "n_input_tokens").verdict == Verdict.DIFFERS
    assert of_name(done, "n_output_tokens").verdict == Verdict.UNVERIFIED
    assert "cost_usd" not in {row.name for row in done.rows}


@pytest.mark.parametrize(
    ("key", "fits"),
    [
        ("oracle__sail-1__demo", True),
        ("oracle__acme/sail-1__demo", True),
        ("oracle__acme-sail-1__demo", True),
        ("oracle__demo", True),
        ("oracle__sail-2__demo", False),
        ("oracle__sail-1__other", False),
        ("wizard__sail-1__demo", False),
    ],
)
def test_key_of_a_group_may_name_the_model_otherwise_and_nothing_else(
    key: str, fits: bool, tmp_path: Path
) -> None:
    folder = written(tmp_path, [trial("a", {"reward": 1})], {"metrics": [{"mean": 1}]})
    text = (folder / "result.json").read_text()
    (folder / "result.json").write_text(text.replace("oracle__sail-1__demo", key))
    done = audit(str(folder))
    expected = Verdict.EQUAL if fits else Verdict.UNVERIFIED
    assert of_name(done, "metrics[0].mean").verdict == expected
    assert ("evals" in {r.name for r in done.rows if r.verdict == Verdict.DIFFERS}) is not fits


def test_group_that_no_trial_is_of_differs(tmp_path: Path) -> None:
    folder = shutil.copytree(JOBS / "single", tmp_path / "job")
    result = json.loads((folder / "result.json").read_text())
    result["stats"]["evals"]["oracle__other"] = {"n_trials": 9, "metrics": [{"mean": 0.99}]}
    (folder / "result.json").write_text(json.dumps(result))
    differ = [r for r in audit(str(folder)).rows if r.verdict == Verdict.DIFFERS]
    assert {(row.group, row.name) for row in differ} == {
        ("oracle__other", "n_trials"), ("oracle__other", "metrics[0].mean"),
    }  # fmt: skip


def test_usage_of_multi_step_trials_is_that_of_their_steps(cli: Run, tmp_path: Path) -> None:
    steps = [
        {"agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.25}},
        {"agent_result": None},
        {"agent_result": {"n_input_tokens": 5, "cost_usd": 0.5}},
    ]
    folder = write_job(tmp_path / "job", [{**trial("a", {"reward": 1}), "step_results": steps}])
    usage = json.loads(cli("compute", folder, "--format", "json").stdout)["groups"][0]["usage"]
    assert usage == {
        "n_input_tokens": 15, "n_cache_tokens": None, "n_output_tokens": 2, "cost_usd": 0.75,
    }  # fmt: skip


def test_rewards_in_the_wrong_place_or_without_keys_are_said(cli: Run, tmp_path: Path) -> None:
    misplaced = {**trial("a", None), "verifier_result": {"reward": 1.0}}
    trials = [misplaced, trial("b", {}), trial("c", {"x": 1, "y": 1}), trial("d", {"x": 0})]
    write_job(tmp_path / "job", trials)
    said = " ".join(cli("compute", "job").stderr.split())
    assert "warning[misplaced-reward]: 1 trial of job with a `reward` beside `rewards`" in said
    assert "note[empty-rewards]: job, dataset demo: the rewards of 1 trial have no key" in said
    assert (
        "note[key-missing]: job, dataset demo: of 2 trials with rewards only some have `y` (1)"
        in said
    )


def test_registry_of_each_job_that_is_not_here_is_named(tmp_path: Path) -> None:
    jobs = [str(shutil.copytree(JOBS / name, tmp_path / name)) for name in ("single", "multi")]
    done = audit(*jobs, *(str(shutil.copytree(job, f"{job}-again")) for job in jobs))
    said = [d.message for d in done.diagnostics if d.rule == "registry-not-found"]
    assert len(said) == len(set(said)) == 2
    for message, name in zip(said, ("local-single", "local-multi"), strict=True):
        assert message.startswith(f"the registry of {name} (")


def test_groups_that_are_called_alike_are_not_verified_by_one_of_them(tmp_path: Path) -> None:
    """One of them was, and the numbers were equal."""
    trials = []
    for i in range(4):
        agent, model = (("a__b", "c"), ("a", "b__c"))[i % 2]
        info = {"name": agent, "version": "1", "model_info": {"name": model}}
        trials.append(trial(f"t{i}", {"reward": float(i % 2)}, agent_info=info, source="d"))
    job = write_job(tmp_path / "job", trials, datasets=[{"name": "d"}])
    of_key = {"n_trials": 2, "n_errors": 0, "metrics": [{"mean": 0.0}]}
    result = json.loads((job / "result.json").read_text())
    result["stats"] = {"n_trials": 4, "n_errors": 0, "evals": {"a__b__c__d": of_key}}
    (job / "result.json").write_text(json.dumps(result))
    rows = [row for row in audit(str(job)).rows if row.group == "a__b__c__d"]
    assert rows
    assert {row.verdict for row in rows} == {Verdict.UNVERIFIED}
    assert "2 agents, models and datasets are called so" in str(rows[0].reason)


def two_rewards(tmp_path: Path, says: list[float], **config: Any) -> Path:
    """A job of four trials with two rewards, which reports these numbers of both, in this order."""
    values = (0.2, 0.4, 0.9, 0.5)
    trials = [trial(f"t{i}", {"reward": v, "other": v}) for i, v in enumerate(values)]
    stats = {key: {str(v): [f"t{i}"] for i, v in enumerate(values)} for key in ("reward", "other")}
    own = {"n_errors": 0, "reward_stats": stats, "exception_stats": {}, "pass_at_k": {}}
    metrics = [{"reward": v, "other": v} for v in says]
    folder = written(tmp_path, trials, {**own, "metrics": metrics})
    if config:
        document = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**document, **config}))
    return folder


def metrics_that_differ(job: Path, registry: Path) -> list[str]:
    done = audit(str(job), registry=[str(registry)])
    rows = [row for row in done.rows if row.name.startswith("metrics[")]
    assert rows
    return [row.name for row in rows if row.verdict == Verdict.DIFFERS]


MEAN, LEAST, MOST = 0.5, 0.2, 0.9
TWICE = {"metrics": [{"type": "min"}, {"type": "max"}, {"type": "min"}]}
VERSIONS = {
    "metrics": [{"type": "mean"}],
    "datasets": [{"name": "demo", "version": version} for version in ("2.1", "2.0")],
}


@pytest.mark.parametrize(
    ("config", "honest", "forged"),
    [
        (TWICE, [MEAN, LEAST, MOST, LEAST], [MEAN, MOST, LEAST, MOST]),
        (VERSIONS, [MOST, MEAN, LEAST, MEAN], [MOST, LEAST, MEAN, 99.5]),
    ],
)
def test_each_number_is_held_against_the_metric_of_harbors_list(
    config: dict[str, Any], honest: list[float], forged: list[float], tmp_path: Path
) -> None:
    """Harbor lists those of each version, then the job's own, with their repetitions."""
    of_version = {"2.1": "max", "2.0": "min"} if config is VERSIONS else {"1": "mean"}
    registry = tmp_path / "registry.json"
    entries = [
        {"name": "demo", "version": version, "metrics": [{"type": metric}]}
        for version, metric in of_version.items()
    ]
    registry.write_text(json.dumps(entries))
    assert metrics_that_differ(two_rewards(tmp_path / "a", honest, **config), registry) == []
    wrong = [
        f"metrics[{i}].{key}"
        for i, (one, other) in enumerate(zip(honest, forged, strict=True))
        for key in ("reward", "other")
        if one != other
    ]
    job = two_rewards(tmp_path / "b", forged, **config)
    assert sorted(metrics_that_differ(job, registry)) == sorted(wrong)


@pytest.mark.parametrize(
    ("metric", "said", "differs"),
    [("mean", 0.5, False), ("mean", 0.99, True), ("sum", 3.0, False), ("max", 1.0, False)],
)
def test_only_means_have_a_range_of_what_is_missing(
    metric: str, said: float, differs: bool, tmp_path: Path
) -> None:
    """Also where rewards are called as metrics are, and numbers by the rewards."""
    registry = tmp_path / "registry.json"
    entry = {"name": "demo", "version": "1", "metrics": [{"type": metric}]}
    registry.write_text(json.dumps([entry]))
    job = two_rewards(tmp_path, [said])
    text = (job / "result.json").read_text().replace('"other"', '"mean"')
    (job / "result.json").write_text(text)
    for path in job.glob("t*/result.json"):
        path.write_text(path.read_text().replace('"other"', '"mean"'))
    shutil.rmtree(next(job.glob("t3*")))
    both = ["metrics[0].mean", "metrics[0].reward"]
    assert sorted(metrics_that_differ(job, registry)) == (both if differs else [])
