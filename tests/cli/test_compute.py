"""`harbor-metrics compute` as its users meet it: options, mistakes and exit codes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HERE, ROOT, Run, trial, write_job
from metric_scripts import COUNT
from printed import values
from registries_by_hand import dataset

FAULTS = [
    json.loads(line) for line in (HERE / "cli" / "faults_compute.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("fault", [f for f in FAULTS if f["text"]], ids=lambda f: f["id"])
def test_known_fault_of_rewards_gives_the_expected_values(
    fault: dict[str, object], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "rewards.jsonl").write_text(str(fault["text"]))
    done = cli("compute", "rewards.jsonl", "--format", "json", "--metric", "sum")
    assert done.returncode == fault["exit"]
    expected = {
        "W09": [{"mean": 0.5}, {"sum": 1}],
        "W20": [{"mean": 1e308}, {"sum": None}],
        "W21": [{"mean": 0.1}, {"sum": 1.0}],
    }
    assert values(done) == expected[str(fault["id"])]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["compute"], 2, ["SOURCE", "no job in ./jobs"]),
        (["compute", "nowhere"], 3, ["nowhere", "No such file"]),
        (["compute", "void"], 3, ["empty directory"]),
        (["compute", "job/task-0__0000000"], 3, ["is one trial"]),
        (["compute", "job/result.json"], 3, ["job's own result.json"]),
        (["compute", "a.txt"], 3, ["not JSON lines"]),
        (["compute", "empty.jsonl"], 3, ["empty"]),
        (["compute", "array.jsonl"], 3, ["JSON array", "JSONL"]),
        (["compute", "bare.jsonl"], 3, ["bare values"]),
        (["compute", "job", "--metric", "men"], 2, ["men", "did you mean `mean`"]),
        (["compute", "job", "--metric", '{"type": "mean", "kwarg": {}}'], 2, ["kwarg"]),
        (["compute", "job", "--metric", '{"type": "mean", "kwargs": {"q": 1}}'], 2, ["`q`"]),
        (["compute", "job", "--metric", "{"], 2, ["--metric"]),
        (["compute", "job", "--registry", "none.json"], 3, ["none.json", "No such file"]),
        (["compute", "job", "--registry", "broken.json"], 3, ["missing comma", "broken.json:1:"]),
        (["compute", "job", "--registry", "other.json"], 3, ["no dataset demo", "damo@1.0"]),
        (["compute", "job", "--dataset", "else"], 3, ["no source has trials of dataset else"]),
        (["compute", "job", "-o", "no/such/x.json"], 3, ["no/such"]),
        (["compute", "job", "-o", "void"], 3, ["directory"]),
        (["compute", "ok.jsonl", "-o", "ok.jsonl"], 2, ["same file"]),
        (["compute", "job", "--registry", "r.json", "-o", "r.json"], 2, ["same file"]),
        (["compute", "job", "-o", "job/result.json"], 2, ["same file"]),
        (["compute", "job", "-o", "job/task-0__0000000/result.json"], 2, ["same file"]),
        (["compute", "job", "--nonsense"], 2, ["--nonsense"]),
        (["compute", "job", "-o", "r.md"], 2, ["-o r.json, or --also markdown:r.md"]),
        (["compute", "job", "-o", "r.xlsx"], 2, ["JSON", "-o r.json"]),
        (["compute", "job", "--also", "csv"], 2, ["write FORMAT:FILE", "blocks"]),
        (["compute", "job", "--also", "sarif:x"], 2, ["write FORMAT:FILE"]),
        (["compute", "job", "--also", "csv:job/result.json"], 2, ["same file"]),
        (["compute", "ok.jsonl", "--also", "csv:ok.jsonl"], 2, ["same file"]),
        (["compute", "job", "--also", "csv:no/such/x.csv"], 3, ["no/such"]),
        (["compute", "job", "--sort", "men"], 2, ["did you mean `mean`?"]),
        (["compute", "a\udcffb"], 3, ["a\\udcffb"]),
        (["nonsense"], 2, ["nonsense"]),
    ],
    ids=lambda x: " ".join(x)[:40] if isinstance(x, list) else None,
)
def test_wrong_use_is_refused_and_changes_no_file(
    arguments: list[str], code: int, words: list[str], cli: Run, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "void").mkdir()
    dataset = {"name": "damo", "version": "1.0", "description": "", "tasks": []}
    for name, text in {
        "a.txt": "hello\n",
        "empty.jsonl": "\n",
        "array.jsonl": '[{"reward": 1}]\n',
        "bare.jsonl": "0.5\n",
        "ok.jsonl": '{"reward": 1}\n',
        "broken.json": '[{"name": "demo" "version": "1"}]',
        "other.json": json.dumps([dataset]),
        "r.json": json.dumps([{**dataset, "name": "demo"}]),
    }.items():
        (tmp_path / name).write_text(text)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    done = cli(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_dry_run_runs_nothing(cli: Run, tmp_path: Path) -> None:
    registry = json.loads((ROOT / "registry" / "registry.json").read_text())
    (tmp_path / "registry.json").write_text(json.dumps(registry))
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "spread.py").write_text("open('ran', 'w').close()")
    job = ROOT / "registry" / "jobs" / "charts"
    done = cli("compute", job, "--registry", "registry.json", "--dry-run")
    assert done.returncode == 0
    assert "dataset charts@2.1 of registry.json" in done.stdout
    assert "would run min (registry)" in done.stdout
    assert str(tmp_path / "metrics" / "spread.py") in done.stdout
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize(
    "output",
    [("-o", "ds/registry.json"), ("--also", "csv:ds/m.py"), ("-o", "job/result.json")],
)
def test_output_never_replaces_what_was_read(
    output: tuple[str, str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "ds").mkdir()
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    (tmp_path / "ds" / "registry.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    (tmp_path / "ds" / "m.py").write_text(COUNT)
    entry = {"name": "demo", "registry_path": "ds/registry.json"}
    job = write_job(tmp_path / "job", [trial("t", {"r": 1})], datasets=[entry])
    (job / "result.json").unlink()
    done = cli("compute", "job", *output)
    assert done.returncode == 2
    assert "same file" in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1"])
def test_time_limit_that_is_not_positive_is_refused(seconds: str, cli: Run, job: Path) -> None:
    assert cli("compute", job, f"--script-timeout={seconds}").returncode == 2


def test_dry_run_says_what_cannot_run(cli: Run, job: Path, tmp_path: Path) -> None:
    metrics = [{"type": "bogus"}, {"type": "sum", "kwargs": {"a": 1}}]
    metrics.append({"type": "uv-script", "kwargs": {"script_path": "gone.py"}})
    (tmp_path / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    done = cli("compute", job, "--registry", "r.json", "--dry-run")
    assert done.returncode == 1
    assert done.stdout.count("cannot: ") == 3


def test_level_sets_the_uncertainty_or_removes_it(cli: Run, job: Path) -> None:
    wide = json.loads(cli("compute", job, "--format", "json", "--level", "0.99").stdout)
    none = json.loads(cli("compute", job, "--format", "json", "--level", "off").stdout)
    (sure,) = wide["groups"][0]["metrics"][0]["uncertainty"].values()
    assert sure["level"] == 0.99
    assert none["groups"][0]["metrics"][0]["uncertainty"] == {}
    for wrong in ("95", "0", "1", "nan", "much"):
        assert cli("compute", job, "--level", wrong).returncode == 2


@pytest.mark.parametrize("value", ["nan", "inf", "1e30"])
@pytest.mark.parametrize("option", ["--script-memory", "--script-timeout"])
def test_limit_that_is_not_a_finite_number_is_refused(
    cli: Run, tmp_path: Path, option: str, value: str
) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", option, value)
    assert done.returncode == 2
    assert option in done.stderr


def write_jobs(folder: Path) -> None:
    for name, started in (("a job", "2026-01-02T00:00:00"), ("b", "2026-01-01T00:00:00")):
        job = write_job(folder / "jobs" / name, [trial("t", {"r": 1})])
        result = json.loads((job / "result.json").read_text())
        (job / "result.json").write_text(json.dumps({**result, "started_at": started}))


def test_without_a_source_the_command_to_write_is_said(cli: Run, tmp_path: Path) -> None:
    write_jobs(tmp_path)
    done = cli("compute")
    assert (done.returncode, done.stdout) == (2, "")
    assert "harbor-metrics compute 'jobs/a job'" in done.stderr


def test_on_a_terminal_the_job_that_was_started_last_is_taken_and_named(tmp_path: Path) -> None:
    write_jobs(tmp_path)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "harbor_metrics", "compute"]
    done = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "the job that was started last: jobs/a job" in done.stderr.decode()
    assert "1 trial" in shown


def test_one_run_is_written_in_several_formats(cli: Run, job: Path, tmp_path: Path) -> None:
    also = [
        f"{format_}:out.{format_}" for format_ in ("table", "blocks", "markdown", "json", "csv")
    ]
    options = [part for each in also for part in ("--also", each)]
    done = cli("compute", job, "--format", "csv", "-o", "result.JSON", *options)
    assert done.returncode == 0
    written = {path.suffix[1:]: path.read_text() for path in tmp_path.glob("out.*")}
    assert written["csv"] == done.stdout
    assert written["json"] == (tmp_path / "result.JSON").read_text()
    assert written["table"] == written["blocks"] == cli("compute", job).stdout
    assert written["markdown"] == cli("compute", job, "--format", "markdown").stdout


@pytest.mark.parametrize("output", ["result", "result.json", "result.2026", "/dev/null"])
def test_document_is_written_where_the_name_says_nothing_else(
    output: str, cli: Run, job: Path
) -> None:
    assert cli("compute", job, "-o", output).returncode == 0


def test_full_digits_are_those_of_the_document(cli: Run, job: Path) -> None:
    document = json.loads(cli("compute", job, "--format", "json").stdout)
    (sure,) = document["groups"][0]["metrics"][0]["uncertainty"].values()
    assert str(sure["low"]) in cli("compute", job, "--digits", "full").stdout
    assert str(sure["low"]) not in cli("compute", job).stdout
    assert str(sure["low"]) in cli("compute", job, "--format", "csv").stdout
