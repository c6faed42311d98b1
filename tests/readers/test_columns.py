"""`--columns`: which column is what."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from conftest import JOBS

from harbor_metrics import UsageError, readers
from harbor_metrics.readers.columns import meanings


def test_wrong_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not for rewards"):
        readers.read(str(JOBS), as_format="rewards", columns="task=a")
    with pytest.raises(UsageError, match="not FIELD=COLUMN"):
        readers.read(str(JOBS), columns="task")
    with pytest.raises(UsageError, match="given twice"):
        readers.read(str(JOBS), columns="task=a,task=b")


@pytest.mark.parametrize("prefix", ["reward", "label", "text"])
def test_case_of_ascii_letters_is_no_part_of_a_name_or_prefix(prefix: str) -> None:
    names = ["TASK", f"{prefix.upper()}.Key", f"{prefix.title()}.key"]
    assert meanings(names, {}) == {"task": 0, f"{prefix}.Key": 1, f"{prefix}.key": 2}
    assert meanings(["tas\u212a", "task"], {}) == {"task": 1, "label.tas\u212a": 0}


def test_second_column_of_a_field_is_a_label() -> None:
    names = ["Reward.acc", "reward.acc", "reward", "REWARD.reward", "Task", "task"]
    assert meanings(names, {}) == {
        "task": 4, "reward": 2, "reward.acc": 0, "label.reward.acc": 1,
        "label.REWARD.reward": 3, "label.task": 5,
    }  # fmt: skip


@pytest.mark.parametrize("names", list(permutations(["x", "label.x", "label.label.x", "reward"])))
def test_every_column_is_kept_whatever_the_order(names: tuple[str, ...]) -> None:
    found = meanings(list(names), {})
    assert sorted(found.values()) == [0, 1, 2, 3]
    assert found["label.x"] == names.index("x")
    assert found["reward"] == names.index("reward")


def test_column_whose_name_another_was_given_is_kept() -> None:
    assert meanings(["reward", "x", "y"], {"label.x": "y"}) == {
        "label.x": 2,
        "reward": 0,
        "label.label.x": 1,
    }
