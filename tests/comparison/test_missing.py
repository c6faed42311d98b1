"""A verdict that hangs on what a missing reward counts as says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from comparison.runs_by_hand import Rewards, write_run

from harbor_metrics import compare
from harbor_metrics.comparison.document import Row

N = 30
HALF: Rewards = {f"t{i:02}": [i % 2, i % 2] for i in range(N)}
# The same attempts, of which the second was lost at half of the tasks.
LOST: Rewards = {
    task: [own[0], None if i < N // 2 else own[1]] for i, (task, own) in enumerate(HALF.items())
}


def row(folder: Path, candidate: Rewards, metric: str = "mean", **asked: Any) -> Row:
    ours = write_run(folder / "a", HALF, agent="a")
    theirs = write_run(folder / "b", candidate, agent="b")
    rows = compare(ours, theirs, metrics=metric, **asked).comparisons[0].rows
    return next(each for each in rows if each.metric == metric)


def test_both_verdicts_are_told(tmp_path: Path) -> None:
    found = row(tmp_path, LOST)
    assert found.verdict == "worse"
    (note,) = found.notes
    assert note.startswith("hangs on the missing trials: left out (--missing skip) no difference ")
    assert row(tmp_path, LOST, missing="skip").verdict == "~"


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_who_says_what_missing_counts_as_is_not_told(missing: Any, tmp_path: Path) -> None:
    assert row(tmp_path, LOST, missing=missing).notes == []


def test_one_verdict_is_told_once(tmp_path: Path) -> None:
    assert row(tmp_path, {**HALF, "t00": [0, None]}).notes == []
    assert row(tmp_path, HALF).notes == []


def test_a_metric_with_a_word_of_its_own_hangs_on_nothing(tmp_path: Path) -> None:
    metric = '{"type": "mean", "kwargs": {"missing": "zero"}}'
    ours = write_run(tmp_path / "a", HALF, agent="a")
    theirs = write_run(tmp_path / "b", LOST, agent="b")
    rows = compare(ours, theirs, metrics=metric).comparisons[0].rows
    assert [bool(each.notes) for each in rows] == [True, False]


def test_a_reward_that_is_called_as_a_group_does_not_say_which_tasks_a_group_is_of(
    tmp_path: Path,
) -> None:
    """Only the two tasks counted that had it, by the verifier of somebody else's."""

    def found(*more: str, label: str = "web") -> Row:
        def rewards(task: str, number: int) -> dict[str, float]:
            few = dict.fromkeys(more, 1) if task in ("t00", "t01") else {}
            return {"reward": HALF[task][number] or 0, "style": 1, **few}

        def labels(task: str, _: int) -> dict[str, str]:
            return {"suite": label if task in ("t28", "t29") else "web"}

        sources = [
            write_run(tmp_path / name, HALF, agent=name, rewards=own, labels=labels)
            for name, own in (("a", rewards), ("b", lambda *at: rewards(*at) | {"reward": 0}))
        ]
        asked = "grouped metric=mean by=suite"
        rows = compare(*sources, metrics=asked, missing="skip").comparisons[0].rows
        (row,) = (each for each in rows if (each.type, each.value) == ("grouped", "reward/web"))
        return row

    assert found("reward/web") == found("other")
    assert [(row.n, row.difference) for row in (found("reward/web"), found())] == [(N, -0.5)] * 2


@pytest.mark.parametrize("metric", ["mean", "std"])
@pytest.mark.parametrize("missing", ["skip", "zero"])
def test_values_are_called_by_all_rewards_whatever_tasks_are_looked_at(
    metric: str, missing: Literal["skip", "zero"], tmp_path: Path
) -> None:
    """Without the only task of a second reward `reward/web` was `web`, as another label can be."""
    sources = []
    for name, lost in (("a", 0), ("b", 10)):

        def rewards(task: str, number: int, lost: int = lost) -> dict[str, float]:
            if task == "t29":
                return {"style": 1}
            return {"reward": (HALF[task][number] or 0) * (int(task[1:]) >= lost)}

        def labels(task: str, _: int) -> dict[str, str]:
            return {"suite": "reward/web" if task in ("t27", "t28") else "web"}

        path = tmp_path / name
        sources.append(write_run(path, HALF, agent=name, rewards=rewards, labels=labels))
    asked = f"grouped metric={metric} by=suite"
    (compared,) = compare(*sources, metrics=asked, missing=missing).comparisons
    found = {row.value: row for row in compared.rows if row.type == "grouped"}
    web, other = found["reward/web"], found["reward/reward/web"]
    assert (web.low is None, other.difference) == (False, 0)
    assert web.difference is not None
    assert web.difference < 0


def test_tasks_that_lack_a_key_on_a_side_are_not_paired_with_others(tmp_path: Path) -> None:
    lacking = {"a": range(2), "b": range(2, 4)}

    def medians(tasks: range, **asked: Any) -> Row:
        paths = []
        for name, without in lacking.items():
            path = tmp_path / f"{name}{tasks}"
            lines = [
                {
                    "task": f"t{i}",
                    "agent": name,
                    "rewards": {"x": i}
                    if i in without
                    else {"x": i, "y": i * (name == "b") + i % 3},
                }
                for i in tasks
            ]
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            paths.append(path)
        rows = compare(*paths, metrics="median", missing="skip").comparisons[0].rows
        return next(each for each in rows if (each.metric, each.value) == ("median", "y"))

    found, plain = medians(range(12)), medians(range(4, 12))
    notes = ["4 tasks without a value on a side left out"]
    assert found == msgspec.structs.replace(plain, left_out=4, notes=[*notes, *plain.notes])
    nowhere = medians(range(4))
    assert (nowhere.difference, nowhere.n) == (None, 0)
    assert nowhere.reason == "no task has a value on both sides"


@pytest.mark.parametrize("metric", ["mean", "median", "max", "stderr", "std", "sum"])
@pytest.mark.parametrize("over", ["tasks", "attempts"])
def test_both_values_of_a_row_are_of_the_same_tasks(
    metric: str, over: Literal["tasks", "attempts"], tmp_path: Path
) -> None:
    """Of several rewards, where some trials lack one: as of the tasks alone that have it."""
    rewards = {
        "a": [{"x": 1, "y": 3}, {"x": 9, "y": 1}, {"y": 2}, {"x": 5, "y": 8}, {"x": 7, "y": 4}],
        "b": [{"y": 4}, {"x": 3, "y": 2}, {"x": 4, "y": 6}, {"x": 6, "y": 1}, {"x": 8, "y": 7}],
    }

    def rows(tasks: Sequence[int]) -> dict[str | None, Row]:
        paths = []
        for name, of_tasks in rewards.items():
            path = tmp_path / name
            lines = [{"task": f"t{i}", "rewards": of_tasks[i]} for i in tasks]
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            paths.append(path)
        found = compare(*paths, metrics=metric, missing="skip", over=over).comparisons[0].rows
        return {row.value: row for row in found if row.metric == metric}

    several, of_x = rows(range(5))["x"], rows([1, 3, 4])["x"]
    assert several.left_out == 2
    assert several.notes[0] == "2 tasks without a value on a side left out"
    told = {"left_out": 2, "notes": [several.notes[0], *of_x.notes]}
    assert several == msgspec.structs.replace(of_x, **told)


def test_a_trial_with_another_reward_alone_lacks_this_one(tmp_path: Path) -> None:
    sources = []
    for name, side in (("a", HALF), ("b", LOST)):
        lines = [
            {"task": task, "agent": name, "rewards": {"x": 1} | ({} if r is None else {"r": r})}
            for task, own in side.items()
            for r in own
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        sources.append(str(tmp_path / name))
    rows = compare(*sources, metrics="mean").comparisons[0].rows
    told = {row.value: any("hangs on the missing" in note for note in row.notes) for row in rows}
    assert told == {"r": True, "x": False}
