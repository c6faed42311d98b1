"""Rewards near the ends of binary64 give a row that says so, and no mistake of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from harbor_metrics.comparison.document import Row
from harbor_metrics.comparison.numerals import numerals

pytestmark = pytest.mark.one_python

BEYOND = "the value is beyond the largest binary64 number"
RUNS = {"a": 1.7e308, "b": -1.7e308, "c": 1.2e308, "d": 1e-320, "e": 1.7976931348623157e308}
GATES = [
    *("--higher-is-better", "reward", "--no-worse", "mean", "--non-inferior", "mean:1e307"),
    *("--better", "mean", "--fail-if", "mean.high > 1"),
]


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """A file a run: two attempts at each of six tasks."""
    for name, value in RUNS.items():
        lines = [
            {"task": f"t{i // 2}", "rewards": {"reward": value if i % 3 else -value / 2}}
            for i in range(12)
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return list(RUNS)


@pytest.mark.parametrize("more", [[], ["--over", "attempts"], ["--detect", "1e308"]], ids=str)
def test_every_rendering_has_its_rows(
    cli: Run, runs: list[str], more: list[str], tmp_path: Path
) -> None:
    metrics = ["--metric", "sum", "--metric", "var", "--metric", "median"]
    also = [f"--also={name}:rendered.{name}" for name in ("markdown", "json", "csv", "github")]
    done = cli("compare", *runs, "--pairs", "all", *metrics, *more, *also)
    assert done.returncode == 0, done.stderr
    rendered = {path.suffix: path.read_text() for path in tmp_path.glob("rendered.*")}
    assert rendered.keys() == {".markdown", ".json", ".csv", ".github"}
    assert rendered.pop(".github") == ""  # There is nothing to remark.
    for text in (done.stdout, *rendered.values()):
        # JSON of an infinite number is null.
        assert "inf" not in text.replace("--non-inferior", "")
        assert "median" in text
    if not more:
        row = json.loads(rendered[".json"])["comparisons"][0]["rows"][0]
        assert (row["low"], row["reason"]) == (None, f"no interval: {BEYOND}")


def test_no_gate_passes_by_numbers_that_nobody_has(cli: Run, runs: list[str]) -> None:
    done = cli("compare", *runs[:2], *GATES, "--format", "json")
    assert done.returncode == 1
    outcomes = [gate["outcome"] for gate in json.loads(done.stdout)["gates"]]
    assert outcomes == ["undecided"] * 4


def test_tasks_that_change_by_more_than_a_number_holds_are_counted(
    cli: Run, tmp_path: Path
) -> None:
    for name, value in (("a", 1.7e308), ("b", -1.7e308)):
        lines = [{"task": f"t{i}", "rewards": {"reward": value}} for i in range(3)]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    gate = ["--fail-if", "tasks.worse > 2", "--higher-is-better", "reward"]
    done = cli("compare", "a", "b", *gate, "--format", "json")
    document = json.loads(done.stdout)
    (compared,) = document["comparisons"]
    assert (compared["tasks"]["lower"], compared["not_listed"]) == (3, 3)
    assert document["gates"][0]["outcome"] == "failed"


def test_a_page_is_made_of_them(cli: Run, runs: list[str], tmp_path: Path) -> None:
    done = cli("report", *runs, "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("size", [10, 2**53, 2**70])
def test_interval_of_a_sum_depends_on_differences_however_large_rewards_are(
    size: int, cli: Run, tmp_path: Path
) -> None:
    for name, more in (("a", 0), ("b", 5)):
        rows = [{"task": f"t{i}", "rewards": {"r": size + i + more * (i % 3)}} for i in range(8)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    done = cli("compare", "a.jsonl", "b.jsonl", "--metric", "sum", "--format", "json")
    rows = json.loads(done.stdout)["comparisons"][0]["rows"]
    row = next(row for row in rows if row["metric"] == "sum")
    assert (row["difference"], row["low"], row["high"]) == pytest.approx(
        (35, 7.09, 62.91), abs=0.01
    )


@pytest.mark.parametrize(
    ("metric", "groups", "differences"),
    [
        ({"type": "sum"}, "xxxxxx", [-5]),
        ({"type": "total-seconds"}, "xxxxxx", [-5]),
        ({"type": "grouped", "kwargs": {"metric": "sum", "by": "g"}}, "xxxxxy", [-4, -1, -5]),
        (
            {"type": "grouped", "kwargs": {"metric": "sum", "by": "g", "all": "groups"}},
            "xxxxxy",
            [-4, -1, -2.5],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_differences_are_of_totals_before_they_are_rounded(
    metric: dict[str, Any], groups: str, differences: list[float], cli: Run, tmp_path: Path
) -> None:
    for name, value in (("a", 1.0), ("b", 0.0)):
        values = [1e17, *[value] * 5]
        rows = [
            {
                "task": f"t{i}",
                "rewards": {"r": each},
                "usage": {"seconds": each},
                "labels": {"g": group},
            }
            for i, (each, group) in enumerate(zip(values, groups, strict=True))
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    asked = ["--metric", json.dumps(metric), "--format", "json"]
    done = cli("compare", "a.jsonl", "b.jsonl", *asked)
    rows = json.loads(done.stdout)["comparisons"][0]["rows"]
    found = [row for row in rows if row["type"] == metric["type"]]
    assert [row["difference"] for row in found] == differences
    # All floats near them are 16 apart.
    errors = [row["stderr"] for row in found if len(set(groups)) == 1]
    assert errors in ([], pytest.approx([1.0]))


@pytest.mark.parametrize("size", [1, 30, 1000, 10**9, 1.7e308])
def test_a_value_is_written_with_its_own_digits_beside_whatever_it_is_compared_with(
    size: float, cli: Run, tmp_path: Path
) -> None:
    """A mean of 0.75 stood as 0 where the candidate's rewards were 1,000 and -1,000."""
    base = [{"task": f"t{i}", "rewards": {"reward": int(i % 4 > 0)}} for i in range(12)]
    candidate = [{"task": f"t{i}", "rewards": {"reward": size * (-1) ** i}} for i in range(12)]
    for name, lines in (("a", base), ("b", candidate)):
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for format_ in ("table", "markdown"):
        for first, second in (("a", "b"), ("b", "a")):
            done = cli("compare", first, second, "--format", format_)
            (row,) = [line for line in done.stdout.splitlines() if re.match(r"\W*mean ", line)]
            assert re.search(r"(?<![-.\d])0\.750?(?!\d)", row)
    gate = ["--higher-is-better", "reward", "--non-inferior", "mean:0.1"]
    done = cli("compare", "a", "b", *gate)
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize(
    ("value", "stderr", "written"),
    [
        (0.75, 300.0, "0.75"), (0.75, 0.13, "0.75"), (1, 300.0, "1"), (1.0, 1e300, "1"),
        (123, 300.0, "120"), (123.4, 50.0, "123"), (0.0312, 0.13, "0.031"), (0, 300.0, "0"),
        (-0.004, 2.0, "-0.0040"), (12.5, 1e9, "12"), (999.6, 3e4, "1000"), (0.1, 1e-3, "0.1000"),
        (5e-324, 1.0, "4.94e-324"), (-1.7e308, 1.0, "-1.7e+308"),
    ],
)  # fmt: skip
def test_digits_of_one_side(value: float, stderr: float, written: str) -> None:
    row = Row(metric="mean", type="mean", kwargs={}, value="mean", stderr=stderr)
    assert numerals(value, 0, row).base == written


def test_largest_number_is_written(cli: Run, tmp_path: Path) -> None:
    """Rounded to two digits it is infinite."""
    for name, least in (("a", 1.7976931348623157e308), ("b", 0.0)):
        lines = ({"task": f"t{i // 3}", "rewards": {"reward": least or i % 2}} for i in range(9))
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = cli("compare", "a", "b", "--over", "attempts")
    assert done.returncode == 0, done.stderr
    assert "1.8e+308" in done.stdout
