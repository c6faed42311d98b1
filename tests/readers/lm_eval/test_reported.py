"""What groups of groups hold is found however they name one another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.errors import InputError
from harbor_metrics.readers.lm_eval.reported import Numbers

_BELOW = st.dictionaries(
    st.integers(0, 5), st.lists(st.one_of(st.integers(1, 8), st.just("t")), max_size=4)
)


def _members(subtasks: dict[str, Any], group: str) -> list[str | None]:
    """The tasks of a group that has a number, as the reader gives them."""
    names = {*subtasks, *(str(name) for below in subtasks.values() for name in below)}
    value = {
        "group_subtasks": subtasks,
        "groups": {group: {"acc,none": 1.0}},
        "results": {name: {"acc,none": 0.5} for name in names},
    }
    (of_group,) = [
        {member.dataset: None for member in each.members}
        for each in Numbers(value, None, "r.json").of("t")
        if each.group.dataset == group and each.value == 1.0
    ] or [{}]
    return list(of_group)


def _leaves(subtasks: dict[str, Any], group: str) -> list[str]:
    below = subtasks.get(group)
    if not below:
        return [group]
    inner = [leaf for name in below if name != group for leaf in _leaves(subtasks, str(name))]
    return list(dict.fromkeys(inner))


@given(_BELOW)
def test_the_tasks_of_a_group_are_those_below_each_once(below: dict[int, list[Any]]) -> None:
    # Groups name none before themselves: none is in itself.
    subtasks = {
        str(group): [name if name == "t" else str(group + name) for name in inner]
        for group, inner in below.items()
    }
    tasks = _leaves(subtasks, "0")
    assert _members(subtasks, "0") == (tasks if "t" in tasks else [])


def test_groups_of_groups_take_no_longer_than_the_file_is_long() -> None:
    n = 3_000
    chain: dict[str, Any] = {str(i): [str(i + 1), str(i + 1)] for i in range(n)}
    assert _members({**chain, str(n): ["t"]}, "0") == ["t"]


def test_groups_of_which_each_has_all_tasks_below_are_refused() -> None:
    """Memory was the square of the file: 2 GB of 735 kB."""
    chain: dict[str, Any] = {f"g{i}": [f"g{i + 1}", f"t{i}"] for i in range(1_500)}
    assert len(_members({**chain, "g1000": ["t"]}, "g0")) == 1_001
    with pytest.raises(InputError, match="has groups of more than 1,000,000 tasks together"):
        _members({**chain, "g1500": ["t"]}, "g0")


def test_groups_that_are_in_themselves_have_the_tasks_below() -> None:
    assert _members({"a": ["a", "t"]}, "a") == ["t"]
    # Nobody writes it, and either may have the task.
    assert _members({"a": ["b", "t"], "b": ["a", "t"]}, "b") == ["t"]


def test_a_group_whose_task_has_a_name_that_no_task_has_is_refused() -> None:
    """Each number of it named its tasks: 2.2 MB took 7.9 GB to audit."""
    name = "n" * 16_385
    value = {
        "group_subtasks": {"g": ["t", name]},
        "groups": {"g": {"acc,none": 1.0}},
        "results": {each: {"acc,none": 1.0} for each in ("g", "t", name)},
    }
    with pytest.raises(InputError, match=r"r\.json: the name of a dataset has 16,385 characters"):
        list(Numbers(value, None, "r.json").of("t"))
