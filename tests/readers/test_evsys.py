"""Rewards as evsys keeps them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics import InputError, readers

EVSYS: list[tuple[bytes, int, list[str]]] = [
    (b"[[1, NaN], [0]]", 1, ["reward 2 of task task:1", "not NaN", "write null"]),
    (b"[[1, Infinity]]", 1, ["not Infinity"]),
    (b"[[1, true]]", 1, ["not a boolean"]),
    (b'[[1, "1"]]', 1, ["not a string"]),
    (b"[[1], [0]", 3, ["not JSON: line 1"]),
    (b"[[1], 0]", 3, ["not evsys", "an item of the array is a number"]),
    (b'{"task_rewards": [[1], [0]], "tasks": ["a"]}', 3, ["rewards of 2 tasks, and names of 1"]),
    (b'{"task_rewards": [[1], [0]], "tasks": ["a", "a"]}', 3, ["two tasks named a"]),
    (b'{"task_rewards": [1]}', 3, ["must be an array, not a number"]),
]


@pytest.mark.parametrize(("content", "code", "words"), EVSYS)
def test_mistake_in_evsys_rewards_is_named(
    content: bytes, code: int, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_bytes(content)
    done = cli("compute", "e.json")
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr


def test_evsys_tasks_have_names_and_numbered_attempts(tmp_path: Path) -> None:
    (tmp_path / "e").write_text('{"task_rewards": [[1, null], [0.5]], "task_names": ["b", "a"]}')
    (source,) = readers.read(str(tmp_path / "e"))
    assert [(t.task, t.attempt, t.rewards) for t in source.trials] == [
        ("a", 1, {"reward": 0.5}),
        ("b", 1, {"reward": 1}),
        ("b", 2, None),
    ]


def test_task_without_rewards_is_named_and_left_out(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"t1": [1, 0], "t2": []}')
    done = cli("compute", "x.json")
    assert "x.json: 1 tasks have no rewards and are left out: t2" in " ".join(done.stderr.split())


@pytest.mark.parametrize("other", [["b", "a"], ["a", "c"], "ab", None])
def test_names_that_stand_twice_must_be_the_same(other: object, tmp_path: Path) -> None:
    said = {"task_rewards": [[1], [0]], "tasks": ["a", "b"], "task_ids": ["a", "b"]}
    (tmp_path / "e.json").write_text(json.dumps(said))
    assert len(readers.read(str(tmp_path / "e.json"))[0].trials) == 2
    (tmp_path / "e.json").write_text(json.dumps({**said, "task_ids": other}))
    with pytest.raises(InputError, match="names its tasks twice, in `tasks` and `task_ids`, and"):
        readers.read(str(tmp_path / "e.json"))
