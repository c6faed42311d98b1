"""Comparisons through the library against statsmodels, scipy, R and published tables."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from comparison.runs_by_hand import write_run
from golden_comparisons import near, of_method

from harbor_metrics import Comparison, compare
from harbor_metrics.comparison.document import Row
from harbor_metrics.numbers.adjustment import adjusted

METRICS = {
    "pass-at-k(k=2)": '{"type": "pass-at-k", "kwargs": {"k": 2}}',
    "pass-at-k(k=4)": '{"type": "pass-at-k", "kwargs": {"k": 4}}',
    "f1": '{"type": "f1", "kwargs": {"key": "reward", "reference": "truth"}}',
}


def compared(tmp_path: Path, case: dict[str, Any], **more: Any) -> Comparison:
    options = case["options"]
    paths = []
    for side in ("base", "candidate"):
        path = tmp_path / f"{side}.jsonl"
        # Two runs that gave the same are not the same run.
        fields: dict[str, Any] = {"agent": side}
        if "cluster" in options:
            fields["labels"] = lambda task, _: {"repo": options["cluster"][task]}
        if "runs" in case and options.get("metric") == "cost-per-task":
            costs = case["runs"][side]
            fields["usage"] = lambda task, i, costs=costs: {"cost_usd": costs[task][i]}
        rewards = case["runs"][side] if "runs" in case else of_inputs(case, side, fields)
        paths.append(write_run(path, rewards, **fields))
    metric = options.get("metric", "mean")
    over = "attempts" if options.get("over") == "reruns" else "tasks"
    cluster = "repo" if "cluster" in options else None
    return compare(
        *paths,
        metrics=METRICS.get(metric, metric),
        level=options.get("level", 0.95),
        over=over,
        cluster=cluster,
        margin=options.get("margin"),
        **more,
    )


def of_inputs(case: dict[str, Any], side: str, fields: dict[str, Any]) -> dict[str, list[float]]:
    """Rewards of tasks that the case gives by the metric's own columns."""
    rows = [row if isinstance(row, list) else [row] for row in case["inputs"][side]]
    names = [f"t{i:03}" for i in range(len(rows))]
    own = dict(zip(names, rows, strict=True))
    if case["options"]["metric"] == "f1":
        fields["labels"] = lambda task, _: {"truth": own[task][0]}
        return {name: [row[1]] for name, row in own.items()}
    if case["options"]["metric"] == "cost-per-solved-task":
        fields["usage"] = lambda task, _: {"cost_usd": own[task][0]}
        return {name: [row[1]] for name, row in own.items()}
    return {name: [row[0]] for name, row in own.items()}


def row_of(comparison: Comparison) -> Row:
    (only,) = comparison.comparisons
    return only.rows[-1]


@of_method("score", "t", "reruns", "jackknife")
def test_intervals_and_p(case: dict[str, Any], tmp_path: Path) -> None:
    row = row_of(compared(tmp_path, case))
    names = ("difference", "low", "high", "p", "stderr", "df")
    expected = {
        name: near(case, case["expected"][name]) for name in names if name in case["expected"]
    }
    assert {name: getattr(row, name) for name in expected} == expected
    assert row.reason is None or row.low is None
    for check in ("sign_flip", "mcnemar_exact", "mcnemar_mid_p"):
        if check in case["expected"] and row.p is not None:
            assert row.checks[check] == near(case, case["expected"][check])
    for name in ("task_variance", "rerun_variance"):
        if case["expected"].get(name) is not None and name == "rerun_variance":
            assert getattr(row, name) == near(case, case["expected"][name])
    if "method" in case["expected"]:
        assert row.method == case["expected"]["method"]
    elif case["method"] in ("score", "jackknife"):
        assert row.method == case["method"]


@of_method("reruns")
def test_what_tasks_and_attempts_add(case: dict[str, Any], tmp_path: Path) -> None:
    case = {**case, "options": {**case["options"], "over": "tasks"}}
    row = row_of(compared(tmp_path, case))
    assert row.task_variance == near(case, case["expected"]["task_variance"])
    assert row.attempts is not None
    assert row.attempts.low == near(case, case["expected"]["low"])


@of_method("relative")
def test_ratios_of_costs(case: dict[str, Any], tmp_path: Path) -> None:
    relative = row_of(compared(tmp_path, case)).relative
    assert relative is not None
    expected = case["expected"]
    found = (relative.value, relative.low, relative.high)
    assert found == tuple(near(case, expected[name]) for name in ("relative", "low", "high"))


@of_method("gate")
def test_margins(case: dict[str, Any], tmp_path: Path) -> None:
    row = row_of(compared(tmp_path, case))
    expected, margin = case["expected"], case["options"]["margin"]
    assert row.low is not None
    assert row.high is not None
    assert (row.low > -margin) == expected["non_inferior"]["passes"]
    assert (row.high >= -margin) == expected["no_worse"]["passes"]
    assert (row.low > 0) == expected["superior"]["passes"]
    assert (row.verdict == "same") == expected["equivalent"]


@of_method("missing")
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_lost_attempts_and_tasks(case: dict[str, Any], missing: Any, tmp_path: Path) -> None:
    comparison = compared(tmp_path, case, missing=missing)
    row, expected = row_of(comparison), case["expected"][missing]
    found = {name: getattr(row, name) for name in ("difference", "low", "high", "p", "n")}
    assert found == {name: near(case, expected[name]) for name in found}
    tasks = comparison.comparisons[0].tasks
    assert tasks.only_candidate == expected["only_candidate"]
    assert set(tasks.only_base) <= set(expected["only_base"])


@of_method("ranks")
def test_all_pairs_of_several_runs(case: dict[str, Any], tmp_path: Path) -> None:
    paths = {name: write_run(tmp_path / f"{name}.jsonl", run) for name, run in case["runs"].items()}
    pairs = {}
    for a, b in combinations(paths, 2):
        pair = compare(f"a={paths[a]}", f"b={paths[b]}", metrics="mean-reward")
        pairs[b, a] = row_of(pair).p
    expected = {(pair["a"], pair["b"]): pair for pair in case["expected"]["pairs"]}
    assert pairs == {pair: near(case, expected[pair]["p"]) for pair in pairs}
    holm = adjusted([p for p in pairs.values() if p is not None], "holm")
    assert holm == [near(case, expected[pair]["holm"]) for pair in pairs]
