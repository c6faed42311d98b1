"""Groups side by side: each value has a column, whatever it is called."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import JOBS
from msgspec.structs import replace
from results_by_hand import group, outcome

from harbor_metrics import compute
from harbor_metrics.evaluation.result import Outcome, Result, ScriptRef
from harbor_metrics.render.figures import values
from harbor_metrics.render.overview import sheets
from harbor_metrics.render.together import together
from harbor_metrics.reports.series import Series


def script(path: str, value: float) -> Outcome:
    kwargs: dict[str, Any] = {"script_path": path}
    found: dict[str, Any] = {"status": "ok", "values": {"v": value}, "n": {"v": 1}}
    return Outcome(name="uv-script", type="uv-script", kwargs=kwargs, origin="registry", **found)


def with_metrics(*metrics: Outcome) -> Result:
    result = compute(JOBS / "two-models")
    return replace(
        result,
        groups=[replace(group, metrics=list(metrics), pass_at_k={}) for group in result.groups],
    )


def test_values_of_one_name_have_columns_of_their_own() -> None:
    whole = together(with_metrics(script("a/m.py", 0.1), script("b/m.py", 0.9)), "full")
    assert [{head: cell.value for head, cell in cells.items()} for cells in whole.table] == [
        {"m.py\nv": 0.1, "m.py\nv#2": 0.9}
    ] * 2


def test_the_same_twice_has_one_column() -> None:
    whole = together(with_metrics(*[script("a/m.py", 0.1)] * 2), "full")
    assert whole.heads == ["m.py\nv"]


@pytest.mark.parametrize("equal", [0, 1])
def test_equal_values_of_different_scripts_move_nobody_into_another_column(equal: int) -> None:
    """Of two groups one has the same number by both scripts."""
    result = with_metrics(script("a/m.py", 0.1), script("b/m.py", 0.9))
    groups = list(result.groups)
    groups[equal] = replace(
        groups[equal], metrics=[script("a/m.py", 0.9), script("b/m.py", 0.9), script("c/m.py", 0.2)]
    )
    whole = together(replace(result, groups=groups), "full")
    assert [cells["m.py\nv#2"].value for cells in whole.table] == [0.9, 0.9]
    assert whole.table[equal]["m.py\nv#3"].value == 0.2
    series: Any = [type("Each", (), {"group": group}) for group in groups]
    assert values._lanes(series)["m.py: v#2"].numbers == [0.9, 0.9]


def test_scripts_of_one_path_with_other_texts_are_two() -> None:
    result = with_metrics()
    groups = [
        replace(group, metrics=[replace(script("m.py", 0.1), script=ScriptRef(path="", sha256=of))])
        for group, of in zip(result.groups, "ab", strict=True)
    ]
    whole = together(replace(result, groups=groups), "full")
    assert whole.heads == ["m.py\nv", "m.py\nv#2"]


def test_values_of_one_name_have_lanes_of_their_own() -> None:
    groups = with_metrics(script("a/m.py", 0.1), script("b/m.py", 0.9)).groups
    series: Any = [type("Each", (), {"group": group}) for group in groups]
    lanes = values._lanes(series)
    assert {name: lane.numbers for name, lane in lanes.items()} == {
        "m.py: v": [0.1, 0.1],
        "m.py: v#2": [0.9, 0.9],
    }


def test_no_metric_has_the_name_of_another_column() -> None:
    result = compute(JOBS / "two-models")
    plugins = [outcome(name) for name in ("missing", "agent", "trials / tasks")]
    groups = [replace(group, metrics=plugins, pass_at_k={}) for group in result.groups]
    (sheet,) = sheets(replace(result, groups=groups))
    assert {"missing#2", "agent#2", "trials / tasks#2"} <= {
        " ".join(head.split("\n")) for head in sheet.headings
    }


def test_runs_that_count_missing_rewards_in_different_ways_share_no_lane() -> None:
    """What each is told is said once below its own table."""
    told = [{"missing": policy} for policy in ("zero", "skip")]
    series: Any = [
        Series("run", group(outcome(kwargs=kwargs), outcome("max", kwargs=kwargs)))
        for kwargs in told
    ]
    assert list(values._lanes(series[:1] * 2)) == ["mean", "max"]
    wanted = [
        f"{name} (missing={policy})" for policy in ("zero", "skip") for name in ("mean", "max")
    ]
    assert list(values._lanes(series)) == wanted
    assert [line[1] for line in values.values(series).numbers.lines] == wanted


def test_metric_that_is_asked_for_keeps_its_name_beside_others_of_it() -> None:
    """One of another group's registry, whose agent sorts before, took the column."""
    kwargs = {"key": "a", "missing": "skip"}
    other = outcome(values={"mean": 0.5}, kwargs=kwargs | {"reducer": "max"}, origin="registry")
    mine = outcome(values={"mean": 0.75}, kwargs=kwargs, origin="command-line")
    result = with_metrics(mine)
    first, second = result.groups
    whole = replace(result, groups=[replace(first, metrics=[other, mine]), second])
    (alone,) = together(result, "full").heads
    assert [cells[alone].value for cells in together(whole, "full").table] == [0.75, 0.75]
