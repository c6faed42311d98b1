"""Labels from a file, and from the tasks of a registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from registries_by_hand import entry

LABELS = {
    "labels.json": '{"a": {"side": "x"}, "b": {"side": "y"}}',
    "array.json": '[{"task": "a", "side": "x"}, {"task": "b", "side": "y"}]',
    "labels.jsonl": '{"task": "a", "side": "x"}\n{"task": "b", "side": "y"}\n',
    "labels.csv": "task,side\na,x\nb,y\n",
}


def grouped(cli: Run, tmp_path: Path, *options: str) -> Any:
    write_job(tmp_path / "job", [trial("a", {"r": 1.0}), trial("b", {"r": 0.0})])
    by = entry("grouped", metric="mean", by="side")
    return cli("compute", "job", "--metric", by, "--format", "json", *options)


@pytest.mark.parametrize("name", LABELS)
def test_every_shape_of_labels_file_is_read(cli: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(LABELS[name])
    done = grouped(cli, tmp_path, "--labels", name)
    assert done.returncode == 0, done.stderr
    (found,) = (m for m in json.loads(done.stdout)["groups"][0]["metrics"] if m["type"] != "mean")
    assert found["values"] == {"x": 1.0, "y": 0.0, "all": 0.5}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"nobody": {"side": "x"}}', ["labels no task", "it has nobody, the trials have a"]),
        ("task,side\na,x\na,y\n", ["line 3", "a second row for task a"]),
        ("task,inspect/value\na,x\n", ["line 2", "`inspect/value`", "only readers of logs give"]),
        ('[{"task": "a", "side": ["x"]}]', ["entry 0", "`side` of task a is no string"]),
        ("side,task\nx\n", ["line 2", "not 2 cells"]),
        ("name,side\na,x\n", ["no column `task`"]),
        ("task,side,side\na,x,y\n", ["two columns named `side`"]),
        ('{"a": "x"}', ["the labels of task a are no object"]),
        ('[{"side": "x"}]', ["an object with a `task` is needed"]),
        ('{"task": "a", "side": "x"}\n{"task": "b"\n', ["line 2"]),
        ("{}", ["has no labels"]),
        ("", ["no header line"]),
        ("task,side\n\xff,x\n", ["not UTF-8"]),
        ('task,side\na,"x\n', ["not CSV"]),
        ('task,side\na,"x"y\n', ["not CSV"]),
        ("task,side\n ,x\n", ["line 2", "no name of a task"]),
    ],
)
def test_labels_file_that_does_not_fit_is_refused(
    cli: Run, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "labels").write_bytes(text.encode("latin-1"))
    done = grouped(cli, tmp_path, "--labels", "labels")
    assert done.returncode == 3
    for word in ["labels", *words]:
        assert word in done.stderr


def test_label_that_contradicts_the_trials_is_refused(cli: Run, tmp_path: Path) -> None:
    line = {"task": "a", "rewards": {"r": 1}, "labels": {"side": "x"}}
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    (tmp_path / "l.csv").write_text("task,side\na,y\n")
    done = cli("compute", "t.jsonl", "--labels", "l.csv")
    assert done.returncode == 3
    assert "label `side` of task a is 'y', and its trials say 'x'" in done.stderr


def test_a_label_that_some_trials_lack_fails_the_metric_only(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("task,side\na,x\n")
    done = grouped(cli, tmp_path, "--labels", "l.csv")
    assert done.returncode == 1
    mean, by = json.loads(done.stdout)["groups"][0]["metrics"]
    assert mean["values"] == {"mean": 0.5}
    assert by["error"]["rule"] == "missing-label"
    assert "1 of 2 trials have no label `side`, the first is b__" in by["error"]["message"]


def test_metadata_of_the_registrys_tasks_are_labels(cli: Run, tmp_path: Path) -> None:
    tasks = [
        {"name": "a", "path": "a", "metadata": {"side": "x", "deep": {"er": 1}}},
        {"name": "b", "path": "b", "metadata": {"side": "y", "deep": {"er": 2}, "list": [1]}},
    ]
    by = [{"type": "grouped", "kwargs": {"metric": "mean", "by": s}} for s in ("side", "deep.er")]
    dataset = {
        "name": "demo",
        "version": "1",
        "description": "",
        "tasks": tasks,
        "extra_metrics": [*by, {"type": "evsys/pass@1"}],
    }
    (tmp_path / "r.json").write_text(json.dumps([dataset]))
    assert cli("validate", "r.json", "--ignore", "task-path").returncode == 0
    write_job(tmp_path / "job", [trial("a", {"r": 1.0}), trial("b", {"r": 0.0})])
    done = cli("compute", "job", "--registry", "r.json", "--format", "json")
    _, side, deep, alias = json.loads(done.stdout)["groups"][0]["metrics"]
    assert side["values"] == {"x": 1.0, "y": 0.0, "all": 0.5}
    assert deep["values"] == {"1": 1.0, "2": 0.0, "all": 0.5}
    assert (alias["name"], alias["type"]) == ("evsys/pass@1", "any-first-k")
    assert alias["kwargs"] == {"method": "available", "k": 1}
