"""Trials as one table: columns, the missing policy, labels; laws/ has what holds of any table."""

from __future__ import annotations

import pytest

from harbor_metrics.errors import InputError, MetricFailure
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import LineTrials, Trial

TRIALS = [
    Trial(task="b", rewards={"x": 0.5}, trial="b__1", labels={"side": "l"}),
    Trial(task="a", rewards=None, attempt=2, trial="a__2", labels={"side": "r"}),
    Trial(task="a", rewards={"x": 1, "y": 2}, attempt=1, trial="a__1", labels={"side": "l"}),
]
TABLE = Table(TRIALS)


def test_trials_stand_in_canonical_order() -> None:
    assert [t.trial for t in TABLE] == ["a__1", "a__2", "b__1"]
    assert (len(TABLE), TABLE.n_tasks, TABLE.n_scored) == (3, 2, 2)
    assert list(TABLE.rewards()) == [{"x": 1, "y": 2}, None, {"x": 0.5}]


def test_column_has_a_value_or_none_of_each_trial() -> None:
    assert TABLE.columns == {"x": [1, None, 0.5], "y": [2, None, None]}


@pytest.mark.parametrize(
    ("missing", "values", "tasks"),
    [("zero", [1, 0.0, 0.5], ["a", "a", "b"]), ("skip", [1, 0.5], ["a", "b"])],
)
def test_missing_reward_is_zero_or_left_out(
    missing: str, values: list[float], tasks: list[str]
) -> None:
    column = TABLE.column("x", missing)
    assert (list(column.values), list(column.tasks)) == (values, tasks)
    assert [t.task for t in column.trials] == tasks


def test_zero_has_the_type_of_the_other_values() -> None:
    assert [type(v) for v in TABLE.column("x", "zero").values] == [int, float, float]
    assert [type(v) for v in TABLE.column("y", "zero").values] == [int, int, int]


def test_missing_reward_is_an_error_that_names_the_first_trial() -> None:
    with pytest.raises(MetricFailure, match="1 of 3 trials have no `x`, the first is a__2"):
        TABLE.column("x", "error")


def test_key_that_no_trial_has_is_missing_everywhere() -> None:
    assert TABLE.column("z", "zero").values == [0, 0, 0]
    assert len(TABLE.column("z", "skip")) == 0


def test_keys_are_counted_where_there_are_too_many_for_columns() -> None:
    rows: list[dict[str, int] | None] = [{f"k{i}": 1} for i in range(3000)]
    table = Table([Trial(task="a", rewards=row) for row in [*rows, None, {}]])
    times = table.key_times
    assert (times.scored, times.empty, set(times.times.values())) == (3001, 1, {1})
    with pytest.raises(InputError, match="3,000 different keys"):
        _ = table.columns


def test_column_is_made_once() -> None:
    assert TABLE.column("x", "skip") is TABLE.column("x", "skip")


def test_split_gives_a_table_a_combination_of_labels() -> None:
    parts = TABLE.split(["side", "task"])
    assert {key: [t.trial for t in part] for key, part in parts.items()} == {
        ("l", "a"): ["a__1"], ("l", "b"): ["b__1"], ("r", "a"): ["a__2"],
    }  # fmt: skip
    assert list(parts) == sorted(parts)


def test_label_that_trials_lack_is_an_error_with_those_they_have() -> None:
    with pytest.raises(MetricFailure, match="the trials have no label `size`; trials have `side`"):
        TABLE.label("size")
    assert TABLE.label("task") == ["a", "a", "b"]


def test_picked_rows_are_attempts_at_other_tasks() -> None:
    picked = TABLE.picked([2, 2, 0], ["u", "v", "u"])
    assert [(t.task, t.trial, t.attempt) for t in picked] == [
        ("u", "a__1", None), ("u", "b__1", None), ("v", "b__1", None),
    ]  # fmt: skip


def test_lines_of_two_rewards_files_are_numbered_on() -> None:
    lines = Table(LineTrials(2, {"r": [1, 0]}))
    assert list((lines + lines).tasks) == ["line:1", "line:2", "line:3", "line:4"]


def test_lines_are_renamed_where_a_task_has_their_name() -> None:
    lines = Table(LineTrials(1, {"r": [1]}))
    taken = Table([Trial(task=name, rewards=None) for name in ("line:1", "rewards:line:1")])
    assert "rewards:rewards:line:1" in (lines + taken).tasks
    assert (lines + taken).n_tasks == (taken + lines).n_tasks == 3
