"""Where the rules about datasets and tasks speak, and where they are silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.validated import ONE, rules_of

from harbor_metrics.validation.validation import validate

GIT = {"git_url": "https://x.org/r", "git_commit_id": "0" * 40}


def dataset(**more: Any) -> dict[str, Any]:
    return {**ONE, **more}


def task(name: str = "t", path: str = "p", **more: Any) -> dict[str, Any]:
    return {"name": name, "path": path, **more}


def rules(folder: Path, *datasets: dict[str, Any]) -> list[str]:
    (folder / "registry.json").write_text(json.dumps(datasets))
    return rules_of(folder / "registry.json")


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([task(), task("u", "q")], []),
        ([task(), task(path="q")], ["duplicate-task"]),
        ([task(), task("u")], ["shared-task-path"]),
        ([task(), task()], ["duplicate-task"]),
        ([task(**GIT), task("u", **{**GIT, "git_url": "https://x.org/s"})], []),
        ([task(git_url="https://x.org/r")], ["task-without-commit"]),
        ([task(**GIT), task("u", "q")], ["mixed-task-sources"]),
        ([task(path="../p")], []),
        ([task(path="../p", **GIT)], ["task-path"]),
        ([task(path="/p", **GIT)], ["task-path"]),
        ([task(path="a/../p..x", **GIT)], []),
        ([], ["empty-dataset"]),
    ],
)
def test_tasks_are_told_apart_and_stay_in_their_repository(
    tasks: list[dict[str, Any]], expected: list[str], tmp_path: Path
) -> None:
    assert rules(tmp_path, dataset(tasks=tasks)) == expected


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([task(path="a\0b")], ["task-path"]),
        ([task(path="a\0b", **GIT)], ["task-path"]),
        ([task(path="~nosuch-user/x")], ["task-path"]),
        ([task(path="./~nosuch-user/x")], ["task-path"]),
        ([task(path="~\ud800/x")], ["lone-surrogate", "task-path"]),
        ([task(path="~/x"), task("u", "a/~b"), task("v", "")], []),
        ([task(path="~nosuch-user/x", **GIT)], []),
        ([task(**{**GIT, "git_url": ""})], ["task-repository"]),
        ([task(git_url="", path="../p")], ["task-path", "task-repository"]),
        ([task(**GIT), task("u", **{**GIT, "git_url": ""})], ["task-repository"]),
        ([task(**{**GIT, "git_url": "--upload-pack=x"})], ["task-repository"]),
        ([task(**{**GIT, "git_url": "https://x.org/\0"})], ["task-repository"]),
        ([task(**{**GIT, "git_commit_id": ""})], ["task-repository"]),
        ([task(**{**GIT, "git_commit_id": "-q"})], ["task-repository"]),
        ([task(**{**GIT, "git_commit_id": "0\0"})], ["task-repository"]),
        ([task(git_commit_id="")], []),
    ],
)
def test_task_of_which_harbor_makes_no_job_is_refused(
    tasks: list[dict[str, Any]], expected: list[str], tmp_path: Path
) -> None:
    assert sorted(rules(tmp_path, dataset(tasks=tasks))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a-b_c", []),
        ("a@b", ["unreachable-name"]),
        ("a/b@c", ["unreachable-name"]),
        ("a__b", ["name-breaks-results"]),
    ],
)
def test_name_must_be_one_that_harbor_can_split(
    name: str, expected: list[str], tmp_path: Path
) -> None:
    assert rules(tmp_path, dataset(name=name)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("bench", "bench2", []),
        ("bench", "Bench", ["similar-dataset-names"]),
        ("caf\u00e9", "cafe\u0301", ["similar-dataset-names"]),
        (f"{'e' * 999}\u00e9", f"{'E' * 999}\u00e9", ["similar-dataset-names"]),
        # Marks on one letter are put in order in the square of their number.
        (f"{'e' * 1000}\u00e9", f"{'e' * 1000}e\u0301", []),
    ],
)
def test_names_that_look_the_same_are_reported(
    first: str, second: str, expected: list[str], tmp_path: Path
) -> None:
    assert rules(tmp_path, dataset(name=first), dataset(name=second)) == expected


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (["1.0", "2.0"], []),
        (["1.0", "head"], []),
        (["1.0", "latest"], ["unreachable-version"]),
        (["latest"], []),
        # Where no version is one, the last in the alphabet is chosen.
        (["apple", "pear"], ["unreachable-version"]),
        (["1.0", "1.0"], ["duplicate-dataset"]),
    ],
)
def test_version_that_is_never_chosen_is_noted(
    versions: list[str], expected: list[str], tmp_path: Path
) -> None:
    assert rules(tmp_path, *(dataset(version=v) for v in versions)) == expected


def test_what_stands_twice_names_the_line_of_the_first(tmp_path: Path) -> None:
    metric = {"type": "max"}
    tasks = [task(), task(path="q"), task("u")]
    one = dataset(tasks=tasks, metrics=[metric, metric])
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([dataset(), one], indent=0))
    lines = path.read_text().split("\n")
    named = {d.rule: d.message.rpartition(" on line ") for d in validate(path).found}
    firsts = {rule: lines[int(line) - 1] for rule, (_, _, line) in named.items()}
    assert firsts == {
        "duplicate-dataset": '"name": "a",',
        "duplicate-task": '"name": "t",',
        "shared-task-path": '"path": "p"',
        "duplicate-metric": "{",
    }
    assert all(said.endswith("; the first is") for said, _, _ in named.values())


def test_of_two_entries_that_differ_in_many_fields_a_hundred_are_named(tmp_path: Path) -> None:
    fields = {f"x{i}": i for i in range(500)}
    (tmp_path / "registry.json").write_text(json.dumps([dataset(**fields), dataset()]))
    (said,) = [d for d in validate(tmp_path).found if d.rule == "duplicate-dataset"]
    assert "x98, x99, …; the first is" in said.message


def test_versions_are_asked_which_is_the_best_once_for_each_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        "harbor_metrics.validation.rules.datasets.best_version",
        lambda versions: asked.append(len(versions)) or "1",
    )
    versions = ["1", *(f"v.{i}.x" for i in range(100))]
    found = rules(tmp_path, *(dataset(version=version) for version in versions))
    assert found.count("unreachable-version") == 100
    assert asked == [101]
