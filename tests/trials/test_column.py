"""The column of one reward key."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run
from printed import group

from harbor_metrics.errors import MetricFailure
from harbor_metrics.trials.column import Column
from harbor_metrics.trials.labelled import label_text
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

TRIALS = [
    Trial(task="a", rewards={"r": 1, "w": 2}, trial="a__1", labels={"g": "x", "n": "3"}),
    Trial(task="a", rewards={"r": 0}, trial="a__2", labels={"g": "y", "n": 4}),
    Trial(task="b", rewards={"r": 0.5}, trial="b__1", labels={"g": "x", "n": True}),
]
COLUMN = Table(TRIALS).column("r", "error")
# The same with a reducer: a row is a task, whose attempts are beside it.
REDUCED = Column([0.5, 0.5], ["a", "b"], attempts=COLUMN)


def test_rows_are_counted_by_task() -> None:
    assert (list(COLUMN.sizes), list(COLUMN.ends), COLUMN.n_tasks) == ([2, 1], [0, 2, 3], 2)
    assert COLUMN.by_task == {"a": [1, 0], "b": [0.5]}
    assert COLUMN.counts == {"a": {1: 1, 0: 1}, "b": {0.5: 1}}
    assert COLUMN.sizes_tally == {2: 1, 1: 1}
    assert COLUMN.task_sums([10, 1, 5]) == [11, 5]


def test_labels_stand_row_by_row() -> None:
    assert COLUMN.label("g") == ["x", "y", "x"]
    assert COLUMN.label("task") == ["a", "a", "b"]


def test_label_of_a_reduced_row_is_that_of_all_its_attempts() -> None:
    assert REDUCED.label("task") == ["a", "b"]
    with pytest.raises(MetricFailure, match="`g` is not the same in all attempts of task a"):
        REDUCED.label("g")
    attempts = [
        Trial(task="a", attempt=n, rewards={"r": 1}, labels={"g": label, "n": text})
        for n, (label, text) in enumerate([(1, "2"), (True, 2)])
    ]
    reduced = Column([1], ["a"], attempts=Table(attempts).column("r", "error"))
    assert reduced.label("n") == ["2"]
    # 1 and true are equal for Python, and two groups.
    with pytest.raises(MetricFailure, match="`g` is not the same in all attempts of task a"):
        reduced.label("g")


def test_numbers_come_from_a_reward_or_a_label() -> None:
    first = Table(TRIALS[:1]).column("r", "error")
    assert first.numbers("w") == [2]
    assert first.numbers("n") == [3]


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (Trial(task="t", rewards={"r": 1}), "t has neither a reward nor a label `n`"),
        (Trial(task="t", rewards={"r": 1, "n": 1}, labels={"n": 1}), "both a reward and a label"),
        (Trial(task="t", rewards={"r": 1}, labels={"n": "high"}), "label `n` of t is n"),
        (Trial(task="t", rewards={"r": 1}, labels={"n": True}), "label `n` of t is n"),
    ],
)
def test_what_is_not_a_number_fails_the_metric(trial: Trial, words: str) -> None:
    with pytest.raises(MetricFailure, match=words):
        Table([trial]).column("r", "error").numbers("n")


def test_numbers_belong_to_attempts_and_not_to_reduced_rows() -> None:
    with pytest.raises(MetricFailure, match="belongs to attempts"):
        REDUCED.numbers("w")


def test_rows_that_have_a_name_are_kept() -> None:
    assert list(COLUMN.having(["w"]).values) == [1]
    assert COLUMN.having(["n"]) is COLUMN
    assert COLUMN.having([]) is COLUMN


def test_split_of_reduced_rows_keeps_their_attempts() -> None:
    parts = REDUCED.split(["task"])
    assert list(parts) == [("a",), ("b",)]
    attempts = parts["a",].attempts
    assert attempts is not None
    assert list(attempts.values) == [1, 0]


def test_picked_rows_are_attempts_at_other_tasks() -> None:
    picked = COLUMN.picked([2, 0], ["u", "u"])
    assert (picked.values, picked.by_task) == ([0.5, 1], {"u": [0.5, 1]})
    assert [t.trial for t in picked.trials] == ["b__1", "a__1"]


@pytest.mark.parametrize(
    ("label", "text"),
    [("x", "x"), (2.0, "2"), (0.5, "0.5"), (True, "true"), (None, "null"), (2**60, str(2**60))],
)
def test_label_names_a_group_as_json_writes_it(label: object, text: str) -> None:
    assert label_text(label) == text


def test_key_that_no_trial_has_gives_no_value(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"r": 1}\n')
    metric = '{"type": "mean", "kwargs": {"key": ""}}'
    done = cli("compute", "r.jsonl", "--metric", metric, "--format", "json")
    assert group(done)["metrics"][1]["values"] == {"mean": None}
