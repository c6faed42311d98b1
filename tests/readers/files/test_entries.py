"""What is read of a folder that was named: nothing that a link leads out to, and nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from lm_eval_logs import OLD

from harbor_metrics.confinement import places
from harbor_metrics.readers.harbor.newest import newest_job
from harbor_metrics.readers.reading import Options
from harbor_metrics.readers.sources import sources_at

TRIALS = [trial(f"task-{i}", {"reward": 1.0}, i) for i in range(3)]

NAME = TRIALS[0]["trial_name"]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A folder with one job, and beside the folder a job of somebody else."""
    write_job(tmp_path / "jobs" / "2026", TRIALS)
    write_job(tmp_path / "private", [trial("secret", {"reward": 0.0}, i) for i in range(5)])
    return tmp_path / "jobs"


def counts(printed: str) -> list[int]:
    return [group["counts"]["found"] for group in json.loads(printed)["groups"]]


def said(done: Any) -> list[tuple[str, str]]:
    found = json.loads(done.stdout)["diagnostics"]
    return [(d["rule"], d["path"]) for d in found if d["rule"] in ("unread-job", "unread-file")]


@pytest.mark.parametrize("command", ["compute", "convert", "audit", "report"])
def test_job_that_a_link_in_a_folder_leads_out_to_is_not_read(
    command: str, cli: Run, jobs: Path, tmp_path: Path
) -> None:
    (jobs / "a").symlink_to(tmp_path / "private")
    output = {"convert": ("-o", "o.jsonl"), "report": ("-o", "o.html")}.get(command, ())
    done = cli(command, "jobs", *output)
    assert done.returncode == 1
    assert "jobs/a is not read: it is a link to what lies outside of jobs" in " ".join(
        done.stderr.split()
    )
    printed = done.stdout + "".join(path.read_text() for path in tmp_path.glob("o.*"))
    assert "secret" not in printed


def test_folder_with_nothing_but_such_links_is_refused_with_them(
    cli: Run, jobs: Path, tmp_path: Path
) -> None:
    shutil.rmtree(jobs / "2026")
    (jobs / "a").symlink_to(tmp_path / "private")
    done = cli("compute", "jobs")
    assert done.returncode == 3
    assert "jobs/a is not read: it is a link to what lies outside of jobs" in done.stderr


def test_link_that_is_named_is_read(cli: Run, jobs: Path, tmp_path: Path) -> None:
    (jobs / "a").symlink_to(tmp_path / "private")
    (tmp_path / "latest").symlink_to(jobs)
    assert counts(cli("compute", "jobs/a", "--format", "json").stdout) == [5]
    assert counts(cli("compute", "latest/2026", "--format", "json").stdout) == [3]


def test_job_that_is_linked_within_its_folder_counts_once_by_its_own_name(
    cli: Run, jobs: Path
) -> None:
    (jobs / "1-latest").symlink_to("2026")
    (jobs / "latest").symlink_to("2026")
    for command in (("compute", "jobs"), ("compute", "jobs", "jobs/2026")):
        done = cli(*command, "--format", "json")
        assert counts(done.stdout) == [3]
        assert [s["path"] for s in json.loads(done.stdout)["sources"]] == ["jobs/2026"]
        assert "repeated-source" in done.stdout
    done = cli("convert", "jobs", "-o", "o.jsonl")
    assert done.stderr.startswith("wrote 3 trials")
    assert done.returncode == 0


def test_newest_job_is_none_that_a_link_leads_out_to(jobs: Path, tmp_path: Path) -> None:
    for job, day in ((jobs / "2026", 1), (tmp_path / "private", 2)):
        result = {"n_total_trials": 1, "stats": {}, "started_at": f"2026-01-0{day}T00:00:00"}
        (job / "result.json").write_text(json.dumps(result))
    (jobs / "a").symlink_to(tmp_path / "private")
    assert newest_job(str(jobs)) == str(jobs / "2026")


def test_log_that_a_link_in_a_folder_leads_out_to_is_not_read(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "logs" / "model").mkdir(parents=True)
    ends = next(OLD.glob("samples_ends_*"))
    shutil.copy(ends, tmp_path / "logs" / "model")
    (tmp_path / "logs" / "other").symlink_to(OLD)
    (tmp_path / "logs" / "model" / "pages.jsonl").symlink_to(next(OLD.glob("samples_pages_*")))
    (tmp_path / "logs" / "model" / "again.jsonl").symlink_to(ends.name)
    done = cli("compute", "logs", "--format", "json")
    assert done.returncode == 1
    assert counts(done.stdout) == [8]
    left = {path for _, path in said(done)}
    assert "logs/model/pages.jsonl" in left
    assert "logs/other" in left
    assert "logs/model/again.jsonl is the same as" in done.stdout


def test_results_of_lm_eval_that_a_link_leads_out_to_are_not_used(cli: Run, tmp_path: Path) -> None:
    ends = next(OLD.glob("samples_ends_*"))
    results = next(OLD.glob("results_*"))
    (tmp_path / "logs").mkdir()
    shutil.copy(ends, tmp_path / "logs")
    (tmp_path / "logs" / results.name).symlink_to(os.path.relpath(results, tmp_path / "logs"))
    done = cli("compute", "logs", "--format", "json")
    assert said(done) == [("unread-file", f"logs/{results.name}")]
    assert json.loads(done.stdout)["groups"][0]["model"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can become somebody else")
@pytest.mark.parametrize(
    ("shut", "mode", "rule"),
    [
        *(("jobs/2027", mode, "unread-job") for mode in (0o000, 0o444, 0o311)),
        *((f"jobs/2027/{NAME}", mode, "unread-trial") for mode in (0o000, 0o444)),
        ("jobs/2027/*.json", 0o000, "unread-job"),
    ],
)
def test_folder_that_may_not_be_looked_into_is_told(
    shut: str, mode: int, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its names may be listed, and are the names of nothing that could be read."""
    # Nobody else comes by the folders of pytest.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        write_job(folder / "jobs" / "2026", TRIALS)
        write_job(folder / "jobs" / "2027", TRIALS)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
        for path in folder.glob(shut):
            path.chmod(mode)
        monkeypatch.chdir(folder)
        assert places.PRIVATE  # nor could what is not imported yet be read
        os.seteuid(65534)
        try:
            sources = sources_at("jobs", None, Options())
        finally:
            os.seteuid(0)
            monkeypatch.undo()
    assert [d.rule for source in sources for d in source.diagnostics] == [rule]


@pytest.mark.parametrize("command", ["compute", "convert"])
@pytest.mark.parametrize("lost", ["link", "pipe"])
def test_what_cannot_be_read_in_the_place_of_samples_is_said(
    command: str, lost: str, cli: Run, tmp_path: Path
) -> None:
    """As of a data set whose contents were not fetched."""
    name = "samples_two_2025-01-01T00-00-00.000000.jsonl"
    for folder in (tmp_path / "run", tmp_path / "runs" / "model"):
        shutil.copytree(OLD, folder)
        if lost == "link":
            (folder / name).symlink_to("nowhere")
        else:
            os.mkfifo(folder / name)
    for path in ("run", "runs"):
        options = ["-o", "c.jsonl"] if command == "convert" else []
        done = cli(command, path, *options)
        assert done.returncode == 1
        assert f"{name} is not read: it is called as a log" in " ".join(done.stderr.split())


def test_link_to_nowhere_in_the_place_of_a_trial_or_a_job_is_said(
    cli: Run, jobs: Path, tmp_path: Path
) -> None:
    (jobs / "2026" / "task-9__lost").symlink_to("../2025/nowhere")
    (jobs / "2026" / "job.log").symlink_to("nowhere.log")
    done = cli("compute", jobs / "2026", "--require-complete")
    assert done.returncode == 1
    assert "task-9__lost" in done.stderr
    assert "nowhere.log" not in done.stderr
    assert "job.log" not in done.stderr
    (jobs / "2026" / "task-9__lost").unlink()
    (jobs / "2025").symlink_to("gone")
    done = cli("compute", jobs)
    said = " ".join(done.stderr.split())
    assert "2025 is a link that leads nowhere: if a job was there, it does not count" in said


def test_link_to_nowhere_in_the_place_of_a_folder_of_logs_is_said(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "logs" / "model")
    (tmp_path / "logs" / "other").symlink_to("gone")
    done = cli("compute", "logs")
    said = " ".join(done.stderr.split())
    assert "links out of it or to nowhere are not followed: other" in said
