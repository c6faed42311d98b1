"""Labels of tasks, joined to trials by the task's name."""

from __future__ import annotations

import pytest

from harbor_metrics.errors import InputError, MetricFailure
from harbor_metrics.trials.labelled import as_number
from harbor_metrics.trials.labels import joined, of_tasks
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

TABLE = Table([Trial(task=t, rewards=None, labels={"side": "own"}) for t in ("a", "b")])


def test_scalars_in_the_metadata_of_a_task_are_its_labels() -> None:
    metadata = {"kind": "art", "deep": {"er": {"n": 1}}, "list": [1], "none": None}
    tasks = [{"name": "a", "metadata": metadata}, {"name": "b"}, {"name": "c", "metadata": 3}, 4]
    assert of_tasks(tasks) == {"a": {"kind": "art", "deep.er.n": 1, "none": None}}


@pytest.mark.parametrize("other", ["y", 1, None])
def test_name_of_two_values_is_no_label(other: object) -> None:
    twice = {"a": {"b": True}, "a.b": other, "c": 1}
    assert of_tasks([{"name": "t", "metadata": twice}]) == {"t": {"c": 1}}
    assert of_tasks([{"name": "t", "metadata": {**twice, "a.b": True}}])["t"]["a.b"] is True


def test_labels_are_added_to_the_trials_of_their_task() -> None:
    table = joined(TABLE, {"a": {"kind": "art"}, "gone": {"kind": "x"}})
    assert [t.labels for t in table] == [{"side": "own", "kind": "art"}, {"side": "own"}]


def test_trials_of_a_task_share_its_labels() -> None:
    """A dict for each of them was the product of trials and labels."""
    table = Table([Trial(task=task, rewards=None) for task in ("a", "b", "a")])
    first, second, other = (trial.labels for trial in joined(table, {"a": {"kind": "art"}}))
    assert first == {"kind": "art"}
    assert first is second
    assert other == {}


def test_no_label_is_called_as_the_task_is() -> None:
    """A stranger's labels would group by other tasks."""
    assert joined(TABLE, {"a": {"task": "b"}, "b": {"task": "a"}}).label("task") == ["a", "b"]


@pytest.mark.parametrize("name", ["agent", "model", "dataset"])
def test_no_label_is_called_as_what_has_numbers_of_its_own(name: str) -> None:
    table = joined(TABLE, {"a": {name: "x"}, "b": {name: "y"}})
    with pytest.raises(MetricFailure, match=f"`{name}` is no label: each agent, model and dataset"):
        table.label(name)


def test_labels_of_other_tasks_leave_the_table_itself() -> None:
    assert joined(TABLE, {"gone": {"kind": "x"}}) is TABLE


def test_label_of_a_trial_stays_beside_that_of_a_registry() -> None:
    assert joined(TABLE, {"a": {"side": "registry"}}).label("side") == ["own", "own"]


def test_label_of_a_file_must_not_contradict_the_trial() -> None:
    with pytest.raises(InputError, match=r"l.csv: label `side` of task a is 'file'.*say 'own'"):
        joined(TABLE, {"a": {"side": "file"}}, path="l.csv")
    assert joined(TABLE, {"a": {"side": "own"}}, path="l.csv").label("side") == ["own", "own"]


@pytest.mark.parametrize("turn", [1, -1])
def test_task_that_stands_twice_has_the_labels_that_both_say(turn: int) -> None:
    """The order of a registry's list is no reason to count a task here or there."""
    first = {"name": "t", "metadata": {"kind": "a", "sea": {"cold": True}, "own": 1}}
    second = {"name": "t", "metadata": {"kind": "b", "sea": {"cold": True}}}
    tasks = [first, second, {"name": "u", "metadata": {"kind": "b"}}][::turn]
    assert of_tasks(tasks) == {"t": {"sea.cold": True, "own": 1}, "u": {"kind": "b"}}


def test_label_that_differs_in_its_type_alone_is_another() -> None:
    """1 and true, which Python takes for equal, are two groups; 1 and "1" are one."""
    table = Table([Trial(task="t", rewards=None, labels={"l": True})])
    with pytest.raises(InputError, match="label `l` of task t is 1, and its trials say True"):
        joined(table, {"t": {"l": 1}}, path="labels.json")
    table = Table([Trial(task="t", rewards=None, labels={"l": 1})])
    assert len(joined(table, {"t": {"l": "1"}}, path="labels.csv")) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10", 10),
        (" 1.5e1 ", 15.0),
        ("1_0", None),
        ("\u0967", None),
        ("nan", None),
        ("1e999", None),
    ],
)
def test_a_label_is_the_number_that_a_cell_is(text: str, number: float | None) -> None:
    assert as_number(text) == number
