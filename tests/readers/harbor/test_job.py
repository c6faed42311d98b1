"""Jobs of Harbor: whatever is wrong in one trial is named, and the others count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import JOBS, Run, trial, write_job
from printed import group, values

import harbor_metrics
from harbor_metrics import readers
from harbor_metrics.readers.harbor import job as job_reader


def test_truncated_trial_is_named_and_counted(cli: Run, job: Path) -> None:
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
        (json.dumps(trial("t", None)).encode()[:-1] + b', "x": "\xff"}', ["UTF-8", "byte 0xff"]),
        (b"[]", ["not a trial result of Harbor: it must be an object, not an array"]),
        (b'{"task_name": 1}', ["not a trial result of Harbor: it has no `trial_name`"]),
        (
            json.dumps({**trial("t", None), "task_name": 1}).encode(),
            ["not a trial result of Harbor: `task_name` must be a string, not a number"],
        ),
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


def test_result_that_is_a_directory_or_a_pipe_is_named(cli: Run, job: Path) -> None:
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


@pytest.fixture
def rewriting(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the result of one trial be cut short the first so many times that it is read."""
    read = job_reader.contents
    monkeypatch.setattr(job_reader, "_PAUSE", 0.0)

    def begin(times: int) -> None:
        left = [times]

        def cut(path: str) -> bytes:
            data = read(path)
            if "/task-1__" in path and left[0]:
                left[0] -= 1
                return data[: len(data) // 2]
            return data

        monkeypatch.setattr(job_reader, "contents", cut)

    return begin


@pytest.mark.parametrize(("times", "unread"), [(1, 0), (3, 0), (1_000, 2)])
def test_file_that_is_being_rewritten_is_read_again_until_it_is_whole(
    times: int, unread: int, job: Path, rewriting: Callable[[int], None]
) -> None:
    rewriting(times)
    counts = harbor_metrics.compute(job).groups[0].counts
    assert (counts.found, counts.unread) == (10 - unread, unread)


def test_trial_without_result_makes_its_group_incomplete(cli: Run, job: Path) -> None:
    (job / "task-9__new0001").mkdir()
    done = cli("compute", job, "--format", "json")
    assert done.returncode == 0
    assert "1 trial" in done.stderr
    assert "no result" in " ".join(done.stderr.split())
    assert json.loads(done.stdout)["groups"][0]["complete"] is False
    assert cli("compute", job, "--require-complete").returncode == 1


def test_timeout_that_was_graded_counts(cli: Run, tmp_path: Path) -> None:
    late = {"exception_type": "AgentTimeoutError"}
    job = write_job(tmp_path / "job", [trial("t", {"reward": 0.8}, exception_info=late)])
    done = cli("compute", job, "--format", "json")
    assert values(done) == [{"mean": 0.8}]
    assert json.loads(done.stdout)["groups"][0]["exceptions"] == {"AgentTimeoutError": 1}


def test_job_without_scores_has_no_mean(cli: Run, tmp_path: Path) -> None:
    broken = {"exception_type": "EnvironmentBuildError"}
    trials = [trial(f"t{i}", None, exception_info=broken) for i in range(50)]
    done = cli("compute", write_job(tmp_path / "job", trials), "--format", "json")
    assert done.returncode == 1
    assert "0 of 50" in done.stderr
    assert values(done) == [{"mean": None}]


def test_large_trial_is_read(cli: Run, tmp_path: Path) -> None:
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


def test_moved_job_keeps_its_digest(job: Path, tmp_path: Path) -> None:
    before = harbor_metrics.compute(job).sources[0].sha256
    job.rename(tmp_path / "moved")
    assert harbor_metrics.compute(tmp_path / "moved").sources[0].sha256 == before


def test_deep_config_hides_no_trial(cli: Run, job: Path) -> None:
    (job / "config.json").write_text("[" * 100_000)
    assert group(cli("compute", job, "--format", "json"))["counts"]["found"] == 10


def test_negative_number_of_planned_trials_is_ignored(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"r": 1})], n_total_trials=-5)
    assert group(cli("compute", job, "--format", "json"))["counts"]["expected"] is None


@pytest.mark.parametrize("planned", [2, 2.0, "2"])
def test_number_of_planned_trials_is_read_as_harbor_reads_it(
    planned: object, cli: Run, tmp_path: Path
) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"r": 1})], n_total_trials=planned)
    done = cli("compute", job, "--require-complete", "--format", "json")
    assert group(done)["counts"]["expected"] == 2
    assert done.returncode == 1


SECRET = "hunter2-of-somebody and more\n"
TWICE = '{"token": "hunter2-of-somebody", "token": "hunter2 again"}'


@pytest.mark.parametrize("secret", [SECRET, TWICE], ids=["text", "twice"])
@pytest.mark.parametrize("command", ["compute", "audit", "convert", "report"])
@pytest.mark.parametrize(
    "name", ["config.json", "result.json", "harbor-metrics.snapshot.json", "task-3", "folder"]
)
def test_nothing_is_quoted_of_what_a_link_leads_to(
    name: str, command: str, secret: str, cli: Run, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "result.json").write_text(secret)
    victim = job / name
    if name == "folder":
        victim.symlink_to(tmp_path / "elsewhere")
    else:
        if name == "task-3":
            victim = next(job.glob("task-3__*")) / "result.json"
        victim.unlink(missing_ok=True)
        victim.symlink_to(tmp_path / "elsewhere" / "result.json")
    output = {"convert": ("-o", "o.jsonl"), "report": ("-o", "o.html")}.get(command, ())
    done = cli(command, job, *output)
    printed = done.stdout + done.stderr + "".join(p.read_text() for p in tmp_path.glob("o.*"))
    assert "hunter2" not in printed
    assert " ".join(printed.split()).count("it is a link, and a job is read from its own files")
    if name in ("task-3", "folder"):
        assert done.returncode == 1


def test_links_inside_a_job_are_followed_from_folder_to_folder(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    one = next(job.glob("task-3__*"))
    (job / "deeper").mkdir()
    one.rename(job / "deeper" / one.name)
    one.symlink_to(Path("deeper") / one.name)
    (tmp_path / "elsewhere").symlink_to(job)
    done = cli("compute", "elsewhere", "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 10


def test_nothing_is_quoted_of_the_file_that_a_job_names_as_its_registry(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    config = json.loads((job / "config.json").read_text())
    config["datasets"] = [
        {"name": "demo", "version": "1", "registry_path": str(tmp_path / "secret")}
    ]
    (job / "config.json").write_text(json.dumps(config))
    for command in ("compute", "audit"):
        done = cli(command, job)
        assert done.returncode == 3
        assert "secret, which a job names as its registry" in done.stderr
        assert "hunter2" not in done.stdout + done.stderr
    given = cli("compute", job, "--registry", tmp_path / "secret")
    assert "hunter2" in given.stderr


def test_trials_that_the_result_of_a_job_does_not_name_are_said(tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOBS / "single", job)
    assert readers.read(str(job))[0].diagnostics == []
    victim = next(job.glob("task-0*"))
    victim.rename(job / "another")
    (note,) = readers.read(str(job))[0].diagnostics
    assert note.rule == "trials-not-planned"
    assert note.message.endswith("names each of its 40 trials, and not another")
    # One that it names is not there.
    assert not harbor_metrics.compute(job).complete
    result = json.loads((job / "result.json").read_text())
    (job / "result.json").write_text(json.dumps({**result, "n_total_trials": 41}))
    assert readers.read(str(job))[0].diagnostics == []


def test_job_has_all_trials_that_its_lock_has(tmp_path: Path) -> None:
    """Whatever its result says, which may have been written anew by who removed some."""
    job = tmp_path / "job"
    shutil.copytree(JOBS / "single", job)
    (job / "lock.json").write_text(json.dumps({"trials": [{}] * 41}))
    result = harbor_metrics.compute(job)
    (said,) = (each for each in result.found if each.rule == "trials-missing")
    assert "planned 41 trials, only 40 are on disk" in said.message
    assert (result.complete, result.groups[0].counts.expected) == (False, 41)


@pytest.mark.parametrize("text", ["", '{"trials": [{}, ', "[]", None])
def test_lock_of_a_job_that_cannot_be_read_is_said(text: str | None, job: Path) -> None:
    """It alone knows how many trials a job has that was killed."""
    (job / "result.json").unlink()
    if text is None:
        (job / "lock.json").symlink_to("nowhere")
    else:
        (job / "lock.json").write_text(text)
    (said,) = (each for each in readers.read(str(job))[0].diagnostics if "lock.json" in each.path)
    assert said.rule == "job-document"


def test_job_of_which_the_lock_alone_is_whole_is_not_passed_over(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    """A disk was full: trials that were planned and have no result are missing, not gone."""
    jobs = tmp_path / "jobs"
    shutil.copytree(JOBS / "single", jobs / "a")
    broken = jobs / "b"
    for name in ("t__1", "t__2"):
        (broken / name).mkdir(parents=True)
        (broken / name / "config.json").write_text('{"task": {"path": "t"}, "trial_name": "t__1"}')
    done = cli("compute", "jobs", "--require-complete")
    assert "jobs/b is not read: folders in it are as trials are" in done.stderr
    (broken / "config.json").write_text("{")
    (broken / "result.json").write_text("")
    (broken / "lock.json").write_text('{"trials": [{}, {}]}')
    done = cli("compute", "jobs", "--require-complete")
    assert "job jobs/b planned 2 trials, only 0 are on disk" in " ".join(done.stderr.split())
    assert done.returncode == 1
    assert "planned trials are missing, and --require-complete was given" in done.stderr


@pytest.mark.parametrize("cut", [0, 7])
def test_job_none_of_whose_documents_is_whole_is_said(cli: Run, tmp_path: Path, cut: int) -> None:
    for name in ("whole", "lost"):
        write_job(tmp_path / "jobs" / name, [trial("a", {"reward": 1.0})])
    for path in (tmp_path / "jobs" / "lost").rglob("*.json"):
        path.write_bytes(path.read_bytes()[:cut])
    for command in ("compute", "audit"):
        done = cli(command, "jobs")
        assert done.returncode == 1
        assert "error[unread-job]: jobs/lost is not read: it has documents" in done.stderr
    alone = cli("compute", "jobs/lost")
    assert alone.returncode == 3


def test_folders_beside_jobs_that_are_none_are_passed_over(cli: Run, tmp_path: Path) -> None:
    write_job(tmp_path / "jobs" / "whole", [trial("a", {"reward": 1.0})])
    for name, documents in {
        "notes": {"README.md": ""},
        "empty": {},
        "site": {"config.json": ""},
        "other": {"config.json": '{"theme": 1}', "result.json": ""},
        "list": {"config.json": "[]", "result.json": "[]"},
    }.items():
        (tmp_path / "jobs" / name).mkdir()
        for document, text in documents.items():
            (tmp_path / "jobs" / name / document).write_text(text)
    done = cli("compute", "jobs")
    assert done.returncode == 0
    assert "jobs/" not in done.stderr


def test_a_job_may_be_called_as_the_archive_in_a_job_is(cli: Run, tmp_path: Path) -> None:
    """In a folder of jobs it was passed over without a word."""
    for name, n in (("a", 2), ("_retries", 3)):
        trials = [trial(f"{name}{i}", {"reward": 1.0}) for i in range(n)]
        write_job(tmp_path / "jobs" / name, trials)
    shutil.copytree(tmp_path / "jobs" / "_retries", tmp_path / "jobs" / "a" / "_retries")
    for source, n in (("jobs", 5), ("jobs/_retries", 3), ("jobs/a", 2)):
        done = cli("compute", source, "--format", "json")
        assert sum(each["trials"] for each in json.loads(done.stdout)["sources"]) == n


@pytest.mark.parametrize("by", ["lock", "tasks"])
def test_job_that_was_killed_before_its_result_planned_as_much(
    by: str, cli: Run, tmp_path: Path
) -> None:
    tasks = [{"path": f"tasks/{i}"} for i in range(3)]
    config: dict[str, Any] = {"tasks": tasks, "datasets": []} if by == "tasks" else {}
    job = write_job(tmp_path / "job", [trial("a", {"r": 1}), trial("b", {"r": 0})], **config)
    if by == "lock":
        locked = [{"trial_name": name} for name in "abc"]
        (job / "lock.json").write_text(json.dumps({"trials": locked}))
    (job / "result.json").unlink()
    done = cli("compute", "job", "--require-complete")
    assert done.returncode == 1
    assert "2 of 3 trials" in done.stdout
    assert "planned trials are missing" in done.stderr


@pytest.mark.parametrize("kept", ["configurations", "nothing"])
def test_job_of_which_only_configurations_are_whole_is_said(
    cli: Run, tmp_path: Path, kept: str
) -> None:
    for name in ("whole", "lost"):
        write_job(tmp_path / "jobs" / name, [trial("a", {"reward": 1.0})])
    lost = tmp_path / "jobs" / "lost"
    for path in lost.glob("*.json"):
        path.unlink()
    (result,) = lost.rglob("result.json")
    result.write_bytes(result.read_bytes()[:9])
    if kept == "configurations":
        result.with_name("config.json").write_text('{"task": {"path": "a"}}')
    done = cli("compute", "jobs")
    assert done.returncode == 1
    assert "error[unread-job]: jobs/lost is not read: it has documents" in done.stderr


def test_job_whose_result_has_the_key_of_a_trial_is_read(cli: Run, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_job(tmp_path / "jobs" / name, [trial(f"t-{name}", {"reward": 1.0})])
    result = {"n_total_trials": 1, "stats": {}, "trial_name": "x"}
    (tmp_path / "jobs" / "other" / "result.json").write_text(json.dumps(result))
    done = cli("compute", "jobs", "--format", "json")
    assert group(done)["counts"]["found"] == 2


def test_folder_with_results_that_is_no_job_is_said(cli: Run, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    for name in ("whole", "odd", "deep/one"):
        write_job(jobs / name, [trial("a", {"reward": 1.0})])
    for path in (jobs / "odd").glob("*.json"):
        path.unlink()
    (result,) = (jobs / "odd").rglob("result.json")
    result.write_text('{"trial": 1}')
    done = cli("compute", "jobs", "--format", "json")
    assert group(done)["counts"]["found"] == 1
    found = json.loads(done.stdout)["diagnostics"]
    odd, deep = (d["message"] for d in found if d["rule"] == "file-not-read")
    assert odd.startswith("jobs/odd is not read: folders in it are as trials are")
    assert deep == "jobs holds jobs; jobs and logs below it are left out: deep/one"
