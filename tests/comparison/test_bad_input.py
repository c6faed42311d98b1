"""What cannot be compared is said in a sentence, and no number comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, Run

ONE = {f"t{i}": [i % 2] for i in range(12)}
OTHER = {f"t{i}": [int(i % 3 > 0)] for i in range(12)}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Runs that fit each other, and runs that fit none."""
    write_run(tmp_path / "a.jsonl", ONE, agent="a")
    write_run(tmp_path / "b.jsonl", OTHER, agent="b")
    write_run(tmp_path / "elsewhere.jsonl", {"x": [1]}, agent="x")
    write_run(tmp_path / "one.jsonl", ONE, dataset="one", agent="a")
    write_run(tmp_path / "two.jsonl", OTHER, dataset="two", agent="b")
    write_run(tmp_path / "old.jsonl", ONE, task_version="1", agent="a")
    write_run(tmp_path / "new.jsonl", OTHER, task_version="2", agent="b")
    write_run(tmp_path / "ids.jsonl", ONE, id=lambda task, i: f"{task}/{i}", agent="a")
    write_run(tmp_path / "again.jsonl", OTHER, id=lambda task, i: f"{task}/{i}", agent="b")
    both = (tmp_path / "a.jsonl").read_text() + (tmp_path / "b.jsonl").read_text()
    (tmp_path / "both.jsonl").write_text(both)
    score = "".join(f'{{"task": "{task}", "rewards": {{"score": 1}}}}\n' for task in ONE)
    (tmp_path / "score.jsonl").write_text(score)
    lines = (tmp_path / "b.jsonl").read_text()
    (tmp_path / "field.jsonl").write_text(lines.replace('"agent"', '"agnt"'))
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "result.json").write_text(
        json.dumps({"schema_version": "1", "groups": [], "sources": [{"path": "jobs/one"}]})
    )
    return tmp_path


REFUSED = {
    "a.jsonl result.json": "no tasks, which a comparison pairs|compare its sources: jobs/one",
    "a.jsonl": "nothing to compare|name two sources",
    "a.jsonl field.jsonl": "no trial of field.jsonl can be read: |field.jsonl, line 1: a trial has "
    "no field `agnt`; did you mean `agent`?",
    "a.jsonl elsewhere.jsonl": "no task in common: t0, t1, t10 and 9 more, against x",
    "a.jsonl empty.jsonl --as trials": "empty.jsonl has no trials",
    "one.jsonl two.jsonl": "no dataset in common: one, and two|--dataset",
    "old.jsonl new.jsonl": "12 tasks of the same name have changed (t0, t1, t10 and 9 more)",
    "ids.jsonl again.jsonl": "12 trials stand in both ids.jsonl and again.jsonl",
    "a.jsonl copy=a.jsonl": "a.jsonl and copy are the same trials",
    "x=both.jsonl b.jsonl": "x has two groups: a, and b|--by agent, or choose with --only agent=a",
    "a.jsonl score.jsonl": "no reward in common: reward, and score",
    "a.jsonl b.jsonl --base c": "--base c: there is no such run|the runs are a.jsonl, b.jsonl",
    "a.jsonl b.jsonl --level 2": "a level lies between 0 and 1, as 0.95 does, and 2.0 does not",
    "a.jsonl b.jsonl --power 0": "a power lies between 0 and 1",
    "a.jsonl b.jsonl --margin 0": "--margin is a difference above 0, and 0.0 is not",
    "a.jsonl b.jsonl --detect nan": "--detect is a difference above 0, and nan is not",
    "a.jsonl b.jsonl --metric nope": "unknown metric type `nope`",
    "a.jsonl =b.jsonl": "a run is written NAME=SOURCE",
    "a.jsonl b.jsonl --only agent=z": "--only agent=z: no trial fits; agent is a",
    "a.jsonl b.jsonl --only agent": "--only agent is not KEY=VALUE",
    "a.jsonl b.jsonl --cluster repo": "--cluster repo: the trials have no label `repo`",
    "a.jsonl b.jsonl --cluster repo --over attempts": "over attempts the tasks stay as they are",
    "both.jsonl --by repo": "--by repo: the trials have no label `repo`",
    "both.jsonl --by run": "--by run compares several sources, and there is one",
    "both.jsonl --by model": "have one model, so there is nothing to compare",
    "a.jsonl b.jsonl --higher-is-better mean --lower-is-better mean": "cannot both be better: mean",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_is_refused_with_a_sentence(arguments: str, files: Path, cli: Run) -> None:
    done = cli("compare", *arguments.split())
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    for words in REFUSED[arguments].split("|"):
        assert words in done.stderr


def test_a_word_of_any_length_is_cut_on_standard_error(files: Path, cli: Run) -> None:
    done = cli("compare", f"{'n' * 10_000}=a.jsonl", "b.jsonl", "--base", "x")
    assert done.returncode == 2
    assert "the runs are nnn" in done.stderr
    assert "…, b.jsonl\n" in done.stderr
    assert len(done.stderr) < 2000


def test_a_source_that_is_absent_could_not_be_read(cli: Run) -> None:
    done = cli("compare", "a.jsonl", "b.jsonl")
    assert done.returncode == 3
    assert "a.jsonl: No such file" in done.stderr


def compared(cli: Run, *arguments: object) -> tuple[dict[str, Any], Any]:
    done = cli("compare", *arguments, "--format", "json")
    (comparison,) = json.loads(done.stdout)["comparisons"]
    return comparison, done


def edited(files: Path, name: str, change: Callable[[str], str]) -> Path:
    path = files / name
    path.write_text(change((files / "b.jsonl").read_text()))
    return path


def test_tasks_of_one_run_are_counted_and_named(files: Path, cli: Run) -> None:
    write_run(files / "c.jsonl", {**OTHER, "t3": [1, 0, 1], "new": [1]}, agent="c")
    comparison, done = compared(cli, "a.jsonl", "c.jsonl")
    assert comparison["tasks"]["only_candidate"] == ["new"]
    assert comparison["tasks"]["paired"] == 12
    assert "1 task is only in c.jsonl, and not compared: new" in done.stderr
    assert "attempts at a task: 1 in a.jsonl, 1 to 3 in c.jsonl" in done.stderr
    assert done.returncode == 0


def test_a_changed_task_is_not_the_same_task(files: Path, cli: Run) -> None:
    versions = dict.fromkeys(ONE, "1")
    write_run(files / "old.jsonl", ONE, task_version=lambda task, _: versions[task], agent="a")
    versions["t4"] = "2"
    write_run(files / "new.jsonl", OTHER, task_version=lambda task, _: versions[task], agent="b")
    comparison, done = compared(cli, "old.jsonl", "new.jsonl")
    assert comparison["tasks"]["changed"] == ["t4"]
    assert comparison["tasks"]["paired"] == 11
    assert "1 task is changed, and not compared: t4" in done.stderr


def test_tasks_whose_version_one_run_alone_says_are_counted(files: Path, cli: Run) -> None:
    versions: dict[str, str | None] = {task: f"v{task}" for task in ONE}
    write_run(files / "old.jsonl", ONE, task_version=lambda task, _: versions[task], agent="a")
    versions |= dict.fromkeys(("t3", "t4"))
    write_run(files / "new.jsonl", OTHER, task_version=lambda task, _: versions[task], agent="b")
    comparison, done = compared(cli, "old.jsonl", "new.jsonl")
    assert (comparison["tasks"]["paired"], comparison["tasks"]["changed"]) == (12, [])
    said = "warning[versions-not-said]: new.jsonl says no version of 2 tasks, and old.jsonl does"
    assert said in done.stderr
    assert done.returncode == 0
    _, done = compared(cli, "a.jsonl", "old.jsonl")
    assert "a.jsonl says no version of 12 tasks, and old.jsonl does" in done.stderr
    _, done = compared(cli, "a.jsonl", "b.jsonl")
    assert "version" not in done.stderr


def test_an_attempt_without_a_version_is_said_beside_those_with_one(files: Path, cli: Run) -> None:
    write_run(files / "old.jsonl", ONE, task_version="1", agent="a")
    twice = {task: rewards * 2 for task, rewards in OTHER.items()}
    version = {0: "1", 1: None}
    write_run(files / "new.jsonl", twice, task_version=lambda _, i: version[i], agent="b")
    _, done = compared(cli, "old.jsonl", "new.jsonl")
    assert "new.jsonl says no version of 12 tasks, and old.jsonl does" in done.stderr
    assert "old.jsonl says no" not in done.stderr


def test_one_task_has_a_difference_and_hardly_an_interval(files: Path, cli: Run) -> None:
    write_run(files / "p.jsonl", {"t": [0, 1, 0]}, agent="p")
    write_run(files / "q.jsonl", {"t": [1, 1, 1]}, agent="q")
    comparison, _ = compared(cli, "p.jsonl", "q.jsonl")
    (row,) = comparison["rows"]
    assert row["difference"] == 2 / 3
    assert (row["low"], row["high"], row["p"], row["verdict"]) == (None, None, None, "~")
    assert row["reason"] == "undefined for a single task: one does not tell how others differ"


def test_a_metric_that_fails_on_one_side_stops_no_other(files: Path, cli: Run) -> None:
    edited(files, "c.jsonl", lambda text: text.replace('{"reward": 1}', "null", 1))
    comparison, done = compared(cli, "a.jsonl", "c.jsonl", "--missing", "error")
    (row,) = comparison["rows"]
    assert row["value"] is None
    assert row["reason"] == "c.jsonl: 1 of 12 trials have no `reward`, the first is t1"
    assert done.returncode == 0


def test_a_value_of_one_side_alone_is_said(files: Path, cli: Run) -> None:
    frequencies = '{"type": "frequency", "kwargs": {}}'
    edited(files, "c.jsonl", lambda text: text.replace('{"reward": 1}', '{"reward": 2}', 1))
    comparison, _ = compared(cli, "a.jsonl", "c.jsonl", "--metric", frequencies)
    reasons = {row["value"]: row["reason"] for row in comparison["rows"]}
    assert reasons["2"] == "a.jsonl: not there"
    assert reasons["1"].startswith("no interval")


def test_nan_is_an_error_with_its_place(files: Path, cli: Run) -> None:
    edited(files, "c.jsonl", lambda text: text.replace('{"reward": 1}', '{"reward": NaN}', 1))
    comparison, done = compared(cli, "a.jsonl", "c.jsonl")
    assert comparison["tasks"]["only_base"] == ["t1"]
    assert "`NaN` is not a JSON number" in done.stderr
    assert done.returncode == 1


def test_nothing_scored_on_a_side_gives_no_difference(files: Path, cli: Run) -> None:
    write_run(files / "c.jsonl", {task: [None] for task in ONE}, agent="c")
    comparison, done = compared(cli, "a.jsonl", "c.jsonl")
    (row,) = comparison["rows"]
    assert row["difference"] is None
    assert row["reason"] == "c.jsonl: 0 of 12 trials have rewards"
    assert done.returncode == 1


def test_a_job_that_still_runs_is_said(cli: Run) -> None:
    done = cli("compare", f"a={JOBS / 'single'}", f"b={JOBS / 'interrupted'}")
    assert "interrupted is not finished: 61 of 200 trials have ended" in done.stderr
    assert "b is not whole, and what ended first may be easier than the rest" in done.stderr
    assert "incomplete: b" in done.stdout


def test_lines_are_paired_by_their_numbers(files: Path, cli: Run) -> None:
    for name, rewards in (("x.jsonl", ONE), ("y.jsonl", OTHER)):
        lines = "".join(f'{{"reward": {each[0]}}}\n' for each in rewards.values())
        (files / name).write_text(lines)
    comparison, done = compared(cli, "x.jsonl", "y.jsonl")
    assert comparison["tasks"]["paired"] == 12
    assert "line 1 of x.jsonl with line 1 of y.jsonl" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("x.jsonl", '{"reward": 1}\n{"reward": 0}\n', "lines of rewards"),
        ("x.csv", "reward\n1\n0\n", "lines of rewards"),
        ("x.json", "[[1], [0]]", "rewards without tasks"),
    ],
)
def test_tasks_without_names_are_paired_by_their_numbers_with_a_note(
    name: str, text: str, kind: str, tmp_path: Path, cli: Run
) -> None:
    (tmp_path / f"a{name}").write_text(text)
    (tmp_path / f"b{name}").write_text(text.replace("0", "1"))
    note = f"note[paired-by-line]: {kind} are paired by their numbers"
    assert note in cli("compare", f"a{name}", f"b{name}").stderr
    # One that has a name, too, is paired by it.
    for run, reward in (("a", 0), ("b", 1)):
        line = {"task": "a task", "rewards": {"reward": reward}}
        (tmp_path / f"{run}.more.jsonl").write_text(json.dumps(line))
    pooled = [f"{run}={run}{path}" for run in "ab" for path in (name, ".more.jsonl")]
    assert note in cli("compare", *pooled).stderr
