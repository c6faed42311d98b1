"""`harbor-metrics compute` as its users meet it: sources, metrics, mistakes and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jsonschema
import pytest
from conftest import HERE, JOBS, ROOT, Run, trial, write_job

import harbor_metrics
from harbor_metrics import InputError, OutputError, Result, schemas

FAULTS = [json.loads(line) for line in (HERE / "faults_main_job.jsonl").read_text().splitlines()]


def values(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schemas.bundled("result")).validate(document)
    return [metric["values"] for group in document["groups"] for metric in group["metrics"]]


@pytest.mark.parametrize("fault", [f for f in FAULTS if f["text"]], ids=lambda f: f["id"])
def test_fault_with_a_text(fault: dict[str, object], cli: Run, tmp_path: Path) -> None:
    (tmp_path / "rewards.jsonl").write_text(str(fault["text"]))
    done = cli("compute", "rewards.jsonl", "--format", "json", "--metric", "sum")
    assert done.returncode == fault["exit"]
    expected = {
        "W09": [{"mean": 0.5}, {"sum": 1}],
        "W20": [{"mean": 1e308}, {"sum": None}],
        "W21": [{"mean": 0.1}, {"sum": 1.0}],
    }
    assert values(done) == expected[str(fault["id"])]


def test_truncated_result(cli: Run, job: Path) -> None:
    victim = next(job.glob("task-3__*")) / "result.json"
    victim.write_text(victim.read_text()[:150])
    done = cli("compute", job, "--format", "json")
    assert done.returncode == 1
    assert "line" in done.stderr
    assert "truncated" in done.stderr
    assert victim.parent.name in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert (counts["found"], counts["unread"]) == (9, 1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"\xff\xfe{}", ["UTF-16"]),
        (b'{"task_name": "\xff"}', ["UTF-8", "byte 0xff"]),
        (b"[]", ["not a trial result"]),
        (b'{"task_name": 1}', ["not a trial result"]),
        (json.dumps(trial("t", {"r": True})).encode(), ["`r`", "boolean"]),
        (json.dumps(trial("t", {"r": "0.5"})).encode(), ["`r`", "string", '"0.5"']),
        (json.dumps(trial("t", {"r": [1]})).encode(), ["`r`", "array"]),
        (json.dumps(trial("t", {"r": {"a": 1}})).encode(), ["`r`", "object"]),
        (json.dumps(trial("t", {"r": None})).encode(), ["`r`", "null", "NaN"]),
        (json.dumps(trial("t", {"r": float("nan")})).encode(), ["NaN"]),
        (json.dumps(trial("t", {"r": float("inf")})).encode(), ["Infinity"]),
        (json.dumps(trial("t", 0.5)).encode(), ["object of numbers"]),
        (b"[" * 100_000, ["nested"]),
    ],
)
def test_bad_trial_is_named_and_counted(
    content: bytes, words: list[str], cli: Run, job: Path
) -> None:
    bad = job / "bad__0000001"
    bad.mkdir()
    (bad / "result.json").write_bytes(content)
    done = cli("compute", job, "--format", "json")
    assert done.returncode == 1
    for word in ["bad__0000001", *words]:
        assert word in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert (counts["found"], counts["unread"]) == (10, 1)


def test_result_that_is_a_directory_or_a_pipe(cli: Run, job: Path) -> None:
    (job / "dir__0000001" / "result.json").mkdir(parents=True)
    (job / "pipe__000001").mkdir()
    os.mkfifo(job / "pipe__000001" / "result.json")
    done = cli("compute", job)
    assert done.returncode == 1
    assert "dir__0000001 could not be read" in done.stderr
    assert "pipe__000001 could not be read" in done.stderr


def test_unreadable_trial_hides_no_other(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refusing(path: str, *args: object, **kwargs: object) -> int:
        if "task-3__0000003" in str(path):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
    result = harbor_metrics.compute(job)
    assert (result.groups[0].counts.found, result.groups[0].counts.unread) == (9, 1)
    assert any("Permission denied" in d.message and "task-3__" in d.message for d in result.found)
    assert not result.ok


def test_file_that_is_being_rewritten(job: Path) -> None:
    path = next(job.glob("task-1__*")) / "result.json"
    text = path.read_text()
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            path.write_text(text)
            time.sleep(0.002)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(100):
            assert harbor_metrics.compute(job).groups[0].counts.found == 10
    finally:
        stop.set()
        writer.join()


def test_trial_without_result_is_said(cli: Run, job: Path) -> None:
    (job / "task-9__new0001").mkdir()
    done = cli("compute", job, "--format", "json")
    assert done.returncode == 0
    assert "1 trial" in done.stderr
    assert "no result" in done.stderr
    assert json.loads(done.stdout)["groups"][0]["complete"] is False
    assert cli("compute", job, "--require-complete").returncode == 1


def test_timeout_that_was_graded_counts(cli: Run, tmp_path: Path) -> None:
    late = {"exception_type": "AgentTimeoutError"}
    job = write_job(tmp_path / "job", [trial("t", {"reward": 0.8}, exception_info=late)])
    done = cli("compute", job, "--format", "json")
    assert values(done) == [{"mean": 0.8}]
    assert json.loads(done.stdout)["groups"][0]["exceptions"] == {"AgentTimeoutError": 1}


def test_nobody_scored_is_no_score(cli: Run, tmp_path: Path) -> None:
    broken = {"exception_type": "EnvironmentBuildError"}
    trials = [trial(f"t{i}", None, exception_info=broken) for i in range(50)]
    done = cli("compute", write_job(tmp_path / "job", trials), "--format", "json")
    assert done.returncode == 1
    assert "0 of 50" in done.stderr
    assert values(done) == [{"mean": None}]


def test_retried_trial_counts_once(cli: Run, job: Path) -> None:
    archive = job / "_retries" / "x" / "retry-1"
    archive.mkdir(parents=True)
    source = next(job.glob("task-0__*")) / "result.json"
    (archive / "result.json").write_text(source.read_text())
    copy = job / "copy__0000001"
    copy.mkdir()
    (copy / "result.json").write_text(source.read_text())
    done = cli("compute", job, "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 10
    assert "found more than once" in done.stderr


def test_large_trial(cli: Run, tmp_path: Path) -> None:
    padded = trial("t", {"reward": 0.25}, padding="x" * 3_000_000)
    done = cli("compute", write_job(tmp_path / "job", [padded]), "--format", "json")
    assert values(done) == [{"mean": 0.25}]


def test_few_open_files_suffice(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial(f"t{i}", {"r": 1}) for i in range(300)])
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32));"
    code += "sys.argv = ['x', 'compute', sys.argv[1]];"
    code += "from harbor_metrics.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, str(job)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "300 trials" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["compute"], 2, ["SOURCE"]),
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
        (["compute", "a\udcffb"], 3, ["a\\udcffb"]),
        (["nonsense"], 2, ["nonsense"]),
    ],
    ids=lambda x: " ".join(x)[:40] if isinstance(x, list) else None,
)
def test_what_is_refused(
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


def test_output_is_checked_before_the_work(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harbor_metrics.atomic import check_writable

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(OutputError, match="Permission denied"):
        check_writable(str(job / "x.json"))


def test_registry_metrics_then_job_then_extra_then_command_line(cli: Run, tmp_path: Path) -> None:
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
    assert "Harbor does not know `median`" in done.stderr


def test_registry_with_the_dataset_twice(cli: Run, job: Path, tmp_path: Path) -> None:
    first = {"name": "demo", "version": "1.0", "description": "", "tasks": []}
    second = {**first, "metrics": [{"type": "max"}]}
    (tmp_path / "r.json").write_text(json.dumps([first, second]))
    done = cli("compute", job, "--registry", "r.json", "--format", "json")
    assert values(done) == [{"max": 1.0}]
    assert "2 times" in done.stderr
    assert "metrics differ" in done.stderr


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


def test_rewards_take_their_dataset_from_the_command_line(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "rewards.jsonl").write_text('{"reward": 0.5}\nnull\n')
    registry = ROOT / "registry" / "registry.json"
    done = cli("compute", "rewards.jsonl", "--registry", registry)
    assert done.returncode == 2
    assert "buoys, charts" in done.stderr
    named = cli("compute", "rewards.jsonl", "--registry", registry, "--dataset", "buoys@1.0")
    assert "rewards on buoys@1.0" not in named.stderr
    assert named.stdout.startswith("buoys@1.0\n2 trials, 2 tasks, 1 missing, 0 errored\n")
    assert "\nsum " in named.stdout


def test_trials_file(cli: Run, tmp_path: Path) -> None:
    rows = [
        {"task": "a", "attempt": 1, "agent": "x", "dataset": "d", "rewards": {"r": 1.0}},
        {"task": "a", "attempt": 2, "agent": "x", "dataset": "d", "rewards": None, "error": "E"},
        {"task": "a", "attempt": 1, "agent": "y", "dataset": "d", "rewards": {"r": 0.0}},
    ]
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows) + '{"task": 1}\n'
    )
    done = cli("compute", "t.jsonl", "--format", "json")
    assert values(done) == [{"mean": 0.5}, {"mean": 0.0}]
    assert done.returncode == 1
    assert "t.jsonl:4" in done.stderr


def test_bad_lines_are_named_and_the_rest_counts(cli: Run, tmp_path: Path) -> None:
    text = '{"reward": 1}\n\n{"reward": true}\nnull\n{"reward": 0, "reward": 1}\n{"rewa'
    (tmp_path / "r.jsonl").write_text(text)
    done = cli("compute", "r.jsonl", "--format", "json")
    assert done.returncode == 1
    for place in ("r.jsonl:3:12", "r.jsonl:6:7", "line 6", "incomplete"):
        assert place in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert (counts["found"], counts["unread"]) == (3, 2)


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


def test_same_input_same_bytes(cli: Run, job: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        assert cli("compute", job, "-o", name).returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert Result.read(str(tmp_path / "a.json")) == harbor_metrics.compute(job)


def test_moved_job_keeps_its_digest(job: Path, tmp_path: Path) -> None:
    before = harbor_metrics.compute(job).sources[0].sha256
    job.rename(tmp_path / "moved")
    assert harbor_metrics.compute(tmp_path / "moved").sources[0].sha256 == before


def test_result_keeps_mode_and_link(cli: Run, job: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    assert cli("compute", job, "-o", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o640
    assert json.loads((tmp_path / "real.json").read_text())["schema_version"] == "1"
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_failing_write_leaves_the_old_file(
    call: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")
    result = harbor_metrics.compute(job)

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OutputError, match="No space left"):
        result.write(str(path))
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(".*.tmp"))


def test_killed_writer_leaves_a_whole_file(job: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    harbor_metrics.compute(job).write(str(path))
    whole = path.read_bytes()
    code = "import harbor_metrics, sys\nr = harbor_metrics.Result.read(sys.argv[1])\n"
    code += "print(flush=True)\nwhile True: r.write(sys.argv[1])"
    for i in range(12):
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.003 * i)
        writer.kill()
        writer.communicate()
        assert path.read_bytes() == whole


def test_two_writers_leave_one_whole_document(job: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harbor_metrics", "compute", str(job), "-o", "x.json"]
    runs = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    assert Result.read(str(tmp_path / "x.json")).groups


def test_closed_pipe_is_quiet(job: Path) -> None:
    command = f"'{sys.executable}' -m harbor_metrics compute '{job}' --format json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_not_a_result_document(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"schema_version": "2"}')
    with pytest.raises(InputError, match="not a result document"):
        Result.read(str(tmp_path / "x.json"))


def test_notebook_shows_tables(job: Path) -> None:
    html = harbor_metrics.compute(job)._repr_html_()
    assert "<table>" in html
    assert "<td>0.4</td>" in html


def test_markdown_escapes_names(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"a|b": 1, "c": 2})])
    done = cli("compute", job, "--format", "markdown")
    assert "| mean: a\\|b | 1 | — |" in done.stdout


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_signal_ends_the_script_too(name: str, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import time, os\nprint(os.getpid())\ntime.sleep(60)\n")
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "s.py"}})
    command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl", "--metric", metric]
    run = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.0)
    run.send_signal(getattr(signal, name))
    _, stderr = run.communicate(timeout=10)
    assert run.returncode == {"SIGTERM": 143, "SIGINT": 130}[name]
    assert "Traceback" not in stderr
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(tmp_path / "s.py") not in listed


def test_version_and_help(cli: Run) -> None:
    assert cli("--version").stdout == f"harbor-metrics {harbor_metrics.__version__}\n"
    assert "compute" in cli("--help").stdout
    assert cli("compute", "--help").returncode == 0


def test_several_jobs_in_a_directory(cli: Run) -> None:
    done = cli("compute", JOBS, "--format", "json")
    document = json.loads(done.stdout)
    assert {source["path"].rpartition("/")[2] for source in document["sources"]} == {
        "single",
        "multi",
        "graded",
        "script",
        "two-models",
        "interrupted",
    }


def test_halves_of_a_large_file_are_read_as_one(tmp_path: Path) -> None:
    """Whether a second process helps or not, and whatever stands in its half."""
    rows = [f'{{"reward": {i % 7 / 7}}}\n' for i in range(300_000)]
    rows[200_000] = "null\n"
    rows[250_000] = "{}\n"
    (tmp_path / "r.jsonl").write_text("".join(rows))
    result = harbor_metrics.compute(tmp_path / "r.jsonl")
    counts = result.groups[0].counts
    assert (counts.found, counts.scored, counts.missing) == (300_000, 299_999, 1)
    rows[280_000] = '{"other": true}\n'
    (tmp_path / "r.jsonl").write_text("".join(rows))
    result = harbor_metrics.compute(tmp_path / "r.jsonl")
    assert result.groups[0].counts.unread == 1
    assert result.found[0].span.line == 280_001


def test_second_process_reads_what_the_first_would(tmp_path: Path, cli: Run) -> None:
    trials = [trial(f"t{i % 50}", {"r": i / 7}, i) for i in range(2_100)]
    job = write_job(tmp_path / "job", trials)
    (job / "zz__0000001").mkdir()
    (job / "zz__0000001" / "result.json").write_text("{")
    done = cli("compute", job, "--format", "json")
    alone = 'import os; os.sched_getaffinity = lambda _: {0}; import sys; sys.argv[0] = "x"\n'
    alone += "from harbor_metrics.__main__ import main; main()"
    command = [sys.executable, "-c", alone, "compute", str(job), "--format", "json"]
    single = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == single.returncode == 1
    assert done.stdout == single.stdout
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 2_100
