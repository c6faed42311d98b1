"""What an audit of an Inspect log computes grows as the log does, whatever it names."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harbor_metrics.audits import audit, inspect_nested, inspect_numbers, inspect_thresholds
from harbor_metrics.audits.row import Verdict

N = 40
VALUES = [[i % 3 / 2, i % 2] for i in range(N)]


def log(tmp_path: Path, scores: list[dict[str, Any]], **more: Any) -> str:
    """A log of two epochs of N samples with these numbers."""
    samples = [
        {"id": f"s{i}", "epoch": epoch + 1, "input": "", "target": "", "metadata": {}}
        | {"scores": {"s": {"value": value}}}
        for i, values in enumerate(VALUES)
        for epoch, value in enumerate(values)
    ]
    document = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "dataset": {"samples": N}, "config": {"epochs": 2}},
        "results": {"total_samples": 2 * N, "completed_samples": 2 * N, "scores": scores},
        "samples": samples,
        **more,
    }
    (tmp_path / "log.json").write_text(json.dumps(document))
    return str(tmp_path / "log.json")


def row(reducer: str, value: float = 0.123, **metrics: Any) -> dict[str, Any]:
    given = metrics or {"mean": {"name": "mean", "value": value}}
    return {"name": "s", "scorer": "s", "reducer": reducer, "metrics": given}


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[Any]:
    """The first arguments of each call from now on, which are scores."""
    real, calls = getattr(where, name), []

    def call(*args: Any, **named: Any) -> Any:
        calls.append(args[0])
        return real(*args, **named)

    monkeypatch.setattr(where, name, call)
    return calls


def test_of_many_reducers_no_more_thresholds_are_tried_than_of_a_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has as many thresholds as there are scores, each of which reduced all samples."""
    monkeypatch.setattr(inspect_numbers, "_MOST_TRIES", 30)
    calls = counted(monkeypatch, inspect_numbers, "reduced")
    done = audit(log(tmp_path, [row(f"pass_at_{k}") for k in range(1, 200)]))
    assert len(calls) <= 199 + 30
    assert done.count(Verdict.DIFFERS) == 199


def test_what_is_not_recomputed_of_too_many_numbers_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.audits.inspect_work._FEW", 1_000)
    calls = counted(monkeypatch, inspect_numbers, "reduced")
    done = audit(log(tmp_path, [row(f"pass_at_{k}") for k in range(1, 1_000)]))
    assert sum(map(len, calls)) <= 1_000 + 100 * 2 * N
    assert "far more numbers than are recomputed" in done.rows[-1].reason
    assert done.rows[-1].verdict == Verdict.UNVERIFIED


def test_metrics_of_the_same_scores_are_computed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = {f"mean{i}": {"name": "mean", "value": 0.123} for i in range(50)}
    bounds = {
        f"e{i}": {"name": "lower", "group": "ci", "value": 0, "params": {"method": "bootstrap"}}
        for i in range(50)
    }
    means = counted(monkeypatch, inspect_numbers, "computed")
    ends = counted(monkeypatch, inspect_nested.inspect_metrics, "_drawn_ends")
    audit(log(tmp_path, [row("mean", **metrics, **bounds)]))
    assert len(ends) == 1
    assert len(means) == 2


def test_a_reducer_that_the_log_keeps_thousands_of_times_is_gone_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"scorer": "s", "reducer": "pass_at_1", "samples": [{"sample_id": "s0", "value": 0}]}
    real, seen = inspect_thresholds.candidates, []

    def candidates(scores: Iterable[Any]) -> list[float]:
        seen.extend(each := list(scores))
        return real(each)

    monkeypatch.setattr(inspect_thresholds, "candidates", candidates)
    audit(log(tmp_path, [row("pass_at_1")], reductions=[kept] * 500))
    assert len(seen) == 2 * N
