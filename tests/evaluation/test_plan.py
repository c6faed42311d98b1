"""Which metrics are computed of which trials, and in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run, trial, write_job
from printed import group
from registries_by_hand import dataset

from harbor_metrics.computation.preparation import prepare
from harbor_metrics.computation.request import Request


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
    done = cli("compute", "jobs/one", "--format", "json", "--metric", "std", cwd=tmp_path)
    metrics = json.loads(done.stdout)["groups"][0]["metrics"]
    assert [(m["name"], m["origin"], m["status"]) for m in metrics] == [
        ("max", "registry", "ok"),
        ("nonesuch", "registry", "failed"),
        ("median", "registry", "ok"),
        ("mean", "registry", "ok"),
        ("sum", "job", "ok"),
        ("min", "extra", "ok"),
        ("std", "command-line", "ok"),
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


def test_metric_that_runs_already_runs_once(cli: Run, job: Path) -> None:
    asked = ["mean", "mean key=reward", '{"type": "mean", "kwargs": {"key": "reward"}}', "pass@2"]
    asked += ["pass-at-k k=2", "pass_at_2", "mean"]
    options = [part for metric in asked for part in ("--metric", metric)]
    done = cli("compute", job, "--format", "json", *options)
    metrics = group(done)["metrics"]
    assert [(m["name"], m["origin"]) for m in metrics] == [
        ("mean", "command-line"), ("mean", "command-line"), ("pass@2", "command-line"),
    ]  # fmt: skip


@pytest.mark.parametrize("entry", [{"missing": "skip"}, {"missing": "skip", "reducer": None}])
def test_metric_that_a_registry_names_too_is_the_one_that_was_asked_for(
    entry: dict[str, object], cli: Run, job: Path, tmp_path: Path
) -> None:
    """It kept the registry's kwargs, and a gate or a column of the name asked for was another's."""
    extra = [{"type": "mean", "kwargs": entry}, {"type": "mean", "kwargs": {"reducer": "max"}}]
    found = dataset("demo", metrics=[{"type": "max"}], extra_metrics=extra)
    (tmp_path / "r.json").write_text(json.dumps([found]))
    asked = ("--registry", "r.json", "--metric", "mean missing=skip", "--format", "json")
    metrics = group(cli("compute", job, *asked))["metrics"]
    assert [(m["kwargs"], m["origin"]) for m in metrics if m["type"] == "mean"] == [
        ({"missing": "skip"}, "command-line"), ({"reducer": "max"}, "extra"),
    ]  # fmt: skip


def test_script_that_runs_already_runs_once(cli: Run, job: Path, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("raise SystemExit(1)")
    entry = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}
    (tmp_path / "r.json").write_text(json.dumps([dataset("demo", metrics=[entry])]))
    asked = ("--metric", "uv-script script_path=m.py")
    done = cli("compute", job, "--registry", "r.json", "--dry-run", *asked)
    assert done.stdout.count("would run") == 1


def test_only_asked_runs_nothing_of_registry_and_job(cli: Run, tmp_path: Path) -> None:
    metrics = [{"type": "max"}, {"typ": "bogus"}]
    tasks = [{"name": "t", "path": "p", "metadata": {"side": "lee"}}]
    found = dataset("demo", metrics=metrics, extra_metrics=[{"type": "min"}], tasks=tasks)
    (tmp_path / "r.json").write_text(json.dumps([found]))
    entry = {"name": "demo", "registry_path": "r.json"}
    rewards = [trial("t", {"reward": 1.0})]
    write_job(tmp_path / "job", rewards, datasets=[entry], metrics=[{"type": "sum"}])
    asked = ("--only-asked", "--metric", "std", "--metric", "grouped metric=mean by=side")
    done = cli("compute", "job", "--format", "json", *asked)
    assert [m["name"] for m in group(done)["metrics"]] == ["std", "grouped"]
    assert group(done)["metrics"][1]["values"] == {"lee": 1, "all": 1}
    assert done.stderr == ""


def test_only_asked_leaves_out_what_harbor_itself_reports(cli: Run, tmp_path: Path) -> None:
    again = [trial("t", {"reward": 1.0}), trial("t", {"reward": 0.0}, 2)]
    write_job(tmp_path / "job", again)
    asked = ("compute", "job", "--format", "json", "--metric", "std")
    assert group(cli(*asked))["pass_at_k"] == {"2": 1}
    assert group(cli(*asked, "--only-asked"))["pass_at_k"] == {}


def test_only_asked_needs_no_registry_and_a_metric(cli: Run, job: Path) -> None:
    done = cli("compute", job, "--only-asked")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none was asked for" in done.stderr
    gone = [{"name": "demo", "registry_path": "gone.json"}]
    alone = write_job(job.parent / "alone", [trial("t", {"r": 1})], datasets=gone)
    assert "gone.json" in cli("compute", alone).stderr
    assert cli("compute", alone, "--only-asked", "--metric", "mean").stderr == ""


def test_lines_that_name_one_script_share_what_was_read(tmp_path: Path) -> None:
    """A registry of 12 kB took 3 GB."""
    (tmp_path / "m.py").write_text("1")
    paths = ["m.py", "./m.py", "../" + tmp_path.name + "/m.py", "absent.py", "absent.py"]
    entries = [{"type": "uv-script", "kwargs": {"script_path": path}} for path in paths]
    registry = tmp_path / "r.json"
    registry.write_text(json.dumps([dataset("d", metrics=entries)]))
    (tmp_path / "t.jsonl").write_text('{"task": "a", "dataset": "d", "rewards": {"r": 1}}\n')
    request = Request(sources=(str(tmp_path / "t.jsonl"),), registries=(str(registry),))
    planned = prepare(request).planned
    scripts = [metric.script for metric in planned if metric.script is not None]
    assert [metric.failure is None for metric in planned] == [True, True, True, False, False]
    assert len({id(script.text) for script in scripts}) == 1
    assert [Path(script.shown) for script in scripts] == [tmp_path / path for path in paths[:3]]


@pytest.mark.parametrize("array", ["metrics", "extra_metrics", "of a job"])
def test_so_many_metrics_run_and_no_more(array: str, cli: Run, tmp_path: Path) -> None:
    """Each of a job is set beside each of its registry: 16,000 took half a minute."""
    for n in (1_000, 1_001):
        entries = [{"type": "quantile", "kwargs": {"q": i / 2_000}} for i in range(n)]
        of_job = {"metrics": entries} if array == "of a job" else {}
        of_registry = {} if of_job else {array: entries}
        (tmp_path / "r.json").write_text(json.dumps([dataset("demo", **of_registry)]))
        named = {"name": "demo", "version": "1", "registry_path": "r.json"}
        trials = [trial("a", {"reward": 1.0})]
        job = write_job(tmp_path / f"job-{n}", trials, datasets=[named], **of_job)
        done = cli("compute", job, "--dry-run")
        if n == 1_000:
            assert done.returncode == 0
        else:
            assert done.returncode == 3
            assert "metrics has 1,001 entries; at most 1,000 run" in " ".join(done.stderr.split())


def test_what_is_asked_for_has_the_name_that_it_is_asked_by(cli: Run, job: Path) -> None:
    """By that of a registry no gate and no direction of the user's found it."""
    registry = [dataset("demo", metrics=[{"type": "pass-rate"}])]
    (job.parent / "r.json").write_text(json.dumps(registry))
    done = cli("compute", job, "--registry", "r.json", "--metric", "pass_rate", "--format", "json")
    (metric,) = group(done)["metrics"]
    assert (metric["name"], metric["origin"]) == ("pass_rate", "command-line")
