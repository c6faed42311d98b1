"""A verdict that hangs on what a missing reward counts as says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
