"""Clusters of tasks in a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_metrics import Comparison, compare
from harbor_metrics.errors import UsageError


def clustered(folder: Path, ours: list[object], theirs: list[object], label: str) -> Comparison:
    """Two runs of as many tasks as there are labels."""
    for name, labels in (("a", ours), ("b", theirs)):
        lines = [
            {"task": f"t{i}", "rewards": {"r": (i + (name == "a")) % 2}, "labels": {label: value}}
            for i, value in enumerate(labels)
        ]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return compare(*(str(folder / f"{name}.jsonl") for name in "ab"), cluster=label)


@pytest.mark.parametrize(
    ("labels", "n"), [([1, 1.0, True, 2], 2), ([1, "1", 2, 3], 4), (["x", "x", "y", "z"], 3)]
)
def test_clusters_are_those_of_other_error_bars(
    labels: list[object], n: int, tmp_path: Path
) -> None:
    (compared,) = clustered(tmp_path, labels, labels, "g").comparisons
    assert compared.rows[0].n == n


def test_label_that_is_null_names_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="label `g` is null for some trials"):
        clustered(tmp_path, [1, None], [1, 2], "g")


def test_tasks_are_clusters_whatever_a_label_says(tmp_path: Path) -> None:
    (compared,) = clustered(tmp_path, [1, 1, 2], [5, 6, 7], "task").comparisons
    assert compared.rows[0].n == 3
