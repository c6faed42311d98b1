"""The sources in a file or a directory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import LOGS, Run, trial, write_job
from lm_eval_logs import line

from harbor_metrics.errors import InputError
from harbor_metrics.readers.reading import Options
from harbor_metrics.readers.sources import sources_at
from harbor_metrics.trials.source import NotThisFormatError, Source

CSV = "task,reward\na,1\n"


def at(path: Path, as_format: str | None = None) -> list[Source]:
    return sources_at(str(path), as_format, Options())


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_source_says_its_format(tmp_path: Path) -> None:
    assert [source.kind for source in at(write(tmp_path / "x", CSV))] == ["csv"]
    assert [source.kind for source in at(write(tmp_path / "y", '{"r": 1}\n'))] == ["rewards"]


def test_files_of_a_directory_come_before_those_of_the_directories_in_it(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "b.csv", CSV)
    assert [Path(s.path).name for s in at(tmp_path, "csv")] == ["b.csv"]
    write(tmp_path / "a.csv", CSV)
    assert [Path(s.path).name for s in at(tmp_path, "csv")] == ["a.csv"]


def test_hidden_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".a.csv", CSV)
    write(tmp_path / ".deep" / "b.csv", CSV)
    with pytest.raises(NotThisFormatError, match="no file in it is a CSV"):
        at(tmp_path, "csv")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_text(" \n\n"), "is empty"),
        (lambda path: path.mkdir(), "empty directory"),
    ],
    ids=["nothing", "blank", "empty directory"],
)
def test_nothing_to_read_is_refused(make: object, words: str, tmp_path: Path) -> None:
    make(tmp_path / "x")
    with pytest.raises(InputError, match=words):
        at(tmp_path / "x")


def test_path_with_a_nul_is_refused() -> None:
    with pytest.raises(InputError, match="is n"):
        sources_at("a\0b", None, Options())


def test_file_is_not_a_job(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a file; a Harbor job is a directory"):
        at(write(tmp_path / "x", "{}"), "harbor-job")


@pytest.mark.parametrize("how", ["link", "linked folder", "in a folder"])
def test_what_a_link_leads_to_is_not_quoted(how: str, cli: Run, tmp_path: Path) -> None:
    secret = tmp_path / "home" / "token.jsonl"
    secret.parent.mkdir()
    secret.write_text('{"expires_in": 3599, "access_token": "hunter2"}\n')
    work = tmp_path / "work"
    work.mkdir()
    (work / "good.jsonl").write_text('{"reward": 1}\n')
    if how == "link":
        (work / "rewards.jsonl").symlink_to(secret)
        named = "rewards.jsonl"
    elif how == "linked folder":
        (work / "linked").symlink_to(secret.parent)
        named = "linked/token.jsonl"
    else:
        (work / "folder").mkdir()
        (work / "folder" / "rewards.jsonl").symlink_to(secret)
        named = "folder/rewards.jsonl"
    for arguments in (
        ("compute", named, "good.jsonl", "--format", "json"),
        ("compute", named),
        ("convert", named),
        ("report", named, "good.jsonl", "-o", "o.html"),
    ):
        done = cli(*arguments, cwd=work)
        assert "hunter2" not in done.stdout + done.stderr
        assert "a link to" in done.stdout + done.stderr, arguments
    assert "hunter2" not in (work / "o.html").read_text()


@pytest.mark.parametrize("content", ["", "\n", "XXXX", '{"task_hash": '])
@pytest.mark.parametrize(
    "name",
    ["samples_a_2026-11-20T19-54-14.09.jsonl", "2026-11-21T00-00-00+00-00_a_b1.json", "a.eval"],
)
def test_log_that_is_empty_or_damaged_where_it_begins_is_said(
    name: str, content: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.jsonl").write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    for other in ("notes.json", "README.md", "results.jsonl"):
        (tmp_path / "out" / other).write_text("")
    assert cli("compute", "out").returncode == 0
    (tmp_path / "out" / name).write_text(content)
    for command in ("compute", "audit"):
        done = cli(command, "out")
        assert done.returncode == 1
        assert f"error[unread-file]: out/{name} is not read: it is called as " in done.stderr


def test_what_a_damaged_log_behind_a_link_out_holds_is_not_said(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.jsonl").write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    (tmp_path / "mine").write_text("")
    (tmp_path / "out" / "a.eval").symlink_to(tmp_path / "mine")
    said = cli("compute", "out").stderr
    assert "out/a.eval is not read: it is a link to what lies outside of out" in said
    assert "empty" not in said


@pytest.mark.parametrize("text", ["", '{"doc_id": 1, "do'])
def test_damaged_logs_that_are_left_out_of_a_folder_are_named(
    text: str, cli: Run, tmp_path: Path
) -> None:
    name = "samples_t_2026-01-01T00-00-00.jsonl"
    (tmp_path / "out" / "more").mkdir(parents=True)
    (tmp_path / "out" / name).write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    (tmp_path / "out" / "more" / name).write_text(text)
    said = f"out holds logs itself; logs below it are left out: more/{name}"
    assert said in " ".join(cli("compute", "out").stderr.split())


def test_logs_that_are_left_out_of_a_folder_are_named(cli: Run, tmp_path: Path) -> None:
    """One file or folder more hides no others without a word."""
    text = json.dumps(line(0, metrics=["acc"], acc=1.0))
    (tmp_path / "out" / "mine").mkdir(parents=True)
    (tmp_path / "out" / "mine" / "a.jsonl").write_text(text)
    assert "file-not-read" not in cli("compute", "out").stderr
    (tmp_path / "out" / "b.jsonl").write_text(text)
    said = "out holds logs itself; logs below it are left out: mine/a.jsonl"
    assert said in " ".join(cli("compute", "out").stderr.split())
    (tmp_path / "out" / "b.jsonl").unlink()
    write_job(tmp_path / "out" / "job", [trial("a", {"r": 1.0})])
    said = "out holds jobs; logs below it are left out: mine/a.jsonl"
    assert said in " ".join(cli("compute", "out").stderr.split())
    assert "file-not-read" not in cli("compute", "out/job").stderr


@pytest.mark.parametrize("log", ["a.jsonl", "more/a.jsonl"])
@pytest.mark.parametrize("has_result", [True, False])
def test_a_trial_among_logs_makes_no_job_of_them(
    log: str, has_result: bool, cli: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / log).parent.mkdir(parents=True)
    (out / log).write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    job = write_job(tmp_path / "job", [trial("a", {"r": 1.0})])
    (own,) = job.glob("a__*/result.json")
    for folder in (out / "zz", *([out / "more"] if has_result else [])):
        folder.mkdir(exist_ok=True)
        (folder / "result.json").write_bytes(own.read_bytes())
    for command in (["compute"], ["convert", "-o", "c.jsonl"]):
        done = cli(*command, "out")
        said = " ".join(done.stderr.split())
        assert done.returncode == 3
        assert f"out holds a trial as a job does, and 1 log: {log}" in said
    assert cli("compute", "out", "--as", "harbor-job").returncode == 0


@pytest.mark.parametrize("log", ["a.jsonl", "more/a.jsonl"])
def test_logs_in_a_job_are_left_out_with_a_warning(log: str, cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("a", {"r": 1.0})])
    assert "file-not-read" not in cli("compute", "job").stderr
    (job / log).parent.mkdir(exist_ok=True)
    (job / log).write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    (own,) = job.glob("a__*/result.json")
    for _ in ("a folder without a result", "one with a result"):
        done = cli("compute", "job")
        assert f"job is a job; logs below it are left out: {log}" in " ".join(done.stderr.split())
        assert done.returncode == 0
        if "/" in log:
            (job / log).with_name("result.json").write_bytes(own.read_bytes())


@pytest.mark.parametrize("folder", [".", "a__1"])
def test_a_job_with_a_link_that_leads_to_itself_is_read(
    folder: str, cli: Run, tmp_path: Path
) -> None:
    job = write_job(tmp_path / "job", [trial("a", {"r": 1.0})])
    (job / "a__1").mkdir(exist_ok=True)
    (job / folder / "loop").symlink_to("loop")
    assert cli("compute", "job").returncode == 0


def test_a_trial_among_jobs_makes_no_job_of_them(cli: Run, tmp_path: Path) -> None:
    write_job(tmp_path / "jobs" / "mine", [trial("a", {"r": 1.0})])
    (tmp_path / "jobs" / "evil").mkdir()
    (own,) = (tmp_path / "jobs" / "mine").glob("a__*/result.json")
    (tmp_path / "jobs" / "evil" / "result.json").write_bytes(own.read_bytes())
    done = cli("compute", "jobs")
    assert done.returncode == 3
    assert "jobs holds a trial as a job does, and 1 job" in done.stderr


def test_jobs_and_logs_that_lie_deeper_are_named(cli: Run, tmp_path: Path) -> None:
    text = json.dumps(line(0, metrics=["acc"], acc=1.0))
    for place in ("out/a/b/c", "jobs/old/less"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "x.jsonl").write_text(text)
    (tmp_path / "out/a/y.jsonl").write_text(text)
    said = "out holds logs in its folders; logs below it are left out: a/b/c/x.jsonl"
    assert said in " ".join(cli("compute", "out").stderr.split())
    for place in ("jobs/job", "jobs/old/job"):
        write_job(tmp_path / place, [trial("a", {"r": 1.0})])
    said = "jobs holds jobs; jobs and logs below it are left out: old/job, old/less/x.jsonl"
    assert said in " ".join(cli("compute", "jobs").stderr.split())
    said = "jobs holds jobs; jobs and logs below it are left out: old/job;"
    assert said in " ".join(cli("compute", "jobs", "--as", "harbor-job").stderr.split())
    write_job(tmp_path / "out/a/old/job", [trial("a", {"r": 1.0})])
    said = "out holds logs in its folders; jobs and logs below it are left out: a/b/c/x.jsonl, "
    said += "a/old/job"
    assert said in " ".join(cli("compute", "out").stderr.split())


def test_files_below_are_named_where_a_format_is_given(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "out/more").mkdir(parents=True)
    for place in ("a.jsonl", "more/b.jsonl"):
        (tmp_path / "out" / place).write_text('{"task": "a", "rewards": {"reward": 1}}\n')
    said = " ".join(cli("compute", "out", "--as", "trials").stderr.split())
    assert "out holds logs itself; logs below it are left out: more/b.jsonl" in said


def test_a_look_that_was_cut_short_is_said(cli: Run, tmp_path: Path) -> None:
    """Folders of a stranger's could hide what lies behind them."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.jsonl").write_text(json.dumps(line(0, metrics=["acc"], acc=1.0)))
    for i in range(1_000):
        (tmp_path / f"out/a/{i}").mkdir(parents=True)
    said = " ".join(cli("compute", "out").stderr.split())
    assert "only 1000 folders and files below its folders were looked into" in said
    shutil.rmtree(tmp_path / "out/a/0")
    shutil.rmtree(tmp_path / "out/a/1")
    assert "file-not-read" not in cli("compute", "out").stderr


def test_links_to_folders_are_named(cli: Run, tmp_path: Path) -> None:
    write_job(tmp_path / "old/charts", [trial("a", {"r": 0.0})])
    write_job(tmp_path / "jobs/buoys", [trial("b", {"r": 1.0})])
    (tmp_path / "jobs/more").symlink_to("../old")
    (tmp_path / "jobs/a").mkdir()
    (tmp_path / "jobs/a/link").symlink_to("../../old/charts")
    (tmp_path / "jobs/latest").symlink_to("buoys")
    said = " ".join(cli("compute", "jobs").stderr.split())
    assert "jobs holds jobs; links out of it or to nowhere are not followed: a/link, more;" in said


def test_a_copy_of_a_log_beside_it_is_said(cli: Run, tmp_path: Path) -> None:
    """Its name says another run, or none: of neither its trials say that they are the other's."""
    folder = LOGS / "lm_eval/0.4.13"
    samples = min(folder.rglob("samples_*.jsonl"))
    (tmp_path / "out").mkdir()
    for file in [samples, *samples.parent.glob("results_*.json")]:
        shutil.copy(file, tmp_path / "out")
    assert "source-copied" not in cli("compute", "out").stderr
    shutil.copy(samples, tmp_path / "out" / f"{samples.stem} (1).jsonl")
    assert "source-copied" in cli("compute", "out").stderr
