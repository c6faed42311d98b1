"""What an audit of lm-eval computes grows as the run does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lm_eval_folders import folder

from harbor_metrics.audits import audit, lm_eval_numbers, lm_eval_samples


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[Any]:
    """The last arguments of each call from now on."""
    real, calls = getattr(where, name), []

    def call(*args: Any) -> Any:
        calls.append(args[-1])
        return real(*args)

    monkeypatch.setattr(where, name, call)
    return calls


def test_the_number_of_a_group_is_computed_once_for_all_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    means = counted(monkeypatch, lm_eval_numbers, "aggregated")
    groups = counted(monkeypatch, lm_eval_numbers, "combined")
    done = audit(str(folder(tmp_path, tasks=12)))
    assert done.ok
    assert (len(means), len(groups)) == (12, 1)


def test_the_samples_are_gone_through_once_for_all_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number of which no line has a value goes through none."""
    seen: list[int] = []

    def values_of(lines: Sequence[Any], metric: str) -> list[Any]:
        seen.append(len(lines))
        return [line.values[metric] for line in lines]

    monkeypatch.setattr(lm_eval_samples, "values_of", values_of)
    more = {"task0": {f"m{i},none": 0.5 for i in range(50)}}
    audit(str(folder(tmp_path, tasks=1, docs=20, results=more)))
    assert sum(seen) <= 6 * 20
