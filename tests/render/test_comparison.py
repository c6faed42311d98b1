"""A comparison as people read it, at two widths, as CSV and as HTML."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS

from harbor_metrics import Comparison, compare
from harbor_metrics.documents.wording import columns
from harbor_metrics.render import comparison as render
from harbor_metrics.render.csv import csv_of_comparison
from harbor_metrics.render.notebook import html_of_comparison

GOLDEN = """\
local-single@1.0: sail-2 against sail-1 (base), oracle
10 tasks paired, 5 attempts a side; missing: 5 in sail-1, 5 in sail-2; errored:
  5 in sail-1, 5 in sail-2
metric  sail-1  sail-2  difference      95% interval  p (Holm)
─────────────────────────────────────────────────────────────────
mean     0.460   0.500      +0.040  [-0.073, +0.153]     0.443  ~
pass@2   0.620   0.610      -0.010  [-0.129, +0.109]     0.853  ~
pass@5   0.800   0.700      -0.100  [-0.404, +0.205]     0.635  ~
std      0.503   0.505      +0.002  [-0.023, +0.026]     0.883  ~
max          1       1           0                 —         —  ~
tasks (reward)  2 better, 1 worse, 7 the same
  worse  task-005 1/5 → 0/5
  better  task-004 2/5 → 4/5, task-001 4/5 → 5/5
No difference shown: mean +0.040, and all from -0.073 to +0.153 fits.
intervals  over tasks, as a sample of such tasks; t (mean, pass@2), score
  (pass@5), jackknife (std); each on its own
power  0.16 (mean), 0.17 (pass@2), 0.3 (pass@5), 0.034 (std) or more would show
  in 80 of 100 such pairs
detect  mean 0.1 needs 45 tasks with 5 attempts, 24 tasks with 10 attempts; now
  10 tasks with 5
"""
ASKED = ['{"type": "pass-at-k", "kwargs": {"k": [2, 5]}}', "std", "max"]


@pytest.fixture(scope="module")
def models() -> Comparison:
    return compare(JOBS / "two-models", metrics=ASKED, detect=0.1)


def test_a_verdict_that_p_among_all_comparisons_does_not_share_says_so(models: Comparison) -> None:
    (pair,) = models.comparisons
    row = msgspec.structs.replace(pair.rows[0], verdict="worse", p=0.03)
    for p, shown in ((0.065, "worse by itself"), (0.045, "worse"), (0.03, "worse")):
        own = msgspec.structs.replace(row, p_adjusted=p)
        pairs = [msgspec.structs.replace(pair, rows=[own, *pair.rows[1:]])]
        text = render.table(msgspec.structs.replace(models, comparisons=pairs))
        assert text.splitlines()[5].endswith(f"  {shown}")
        assert f"{shown.capitalize()}: mean +0.040." in text
        assert ("no difference is shown: p (Holm)" in text) == ("itself" in shown)


def test_each_table_says_that_p_is_among_all(tmp_path: Path) -> None:
    base = {f"t{i:02}": [i % 2] for i in range(40)}
    sides = [base, {**base, "t01": [0]}, {**base, "t00": [1], "t02": [1], "t04": [1]}]
    paths = [write_run(tmp_path / f"run-{i}", own, agent=f"a{i}") for i, own in enumerate(sides)]
    text = render.table(compare(*paths))
    assert text.count("  p (Holm)") == 2
    assert text.count("; each on its own") == 2


def test_the_table_at_80_columns(models: Comparison) -> None:
    assert render.table(models).startswith(GOLDEN)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(models: Comparison, width: int) -> None:
    assert all(columns(line) <= width for line in render.table(models, width=width).split("\n"))


def test_no_change_of_a_task_is_parted(models: Comparison) -> None:
    lines = render.table(models, width=40).split("\n")
    assert any("task-001 4/5 → 5/5" in line for line in lines)
    assert "\u00a0" not in "".join(lines)


def test_csv_has_a_line_for_each_value_with_all_digits(models: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of_comparison(models))))
    assert [(row["metric"], row["value"]) for row in rows] == [
        ("mean", "mean"),
        ("pass-at-k", "2"),
        ("pass-at-k", "5"),
        ("std", "std"),
        ("max", "max"),
    ]
    (first, *_) = models.comparisons[0].rows
    assert float(rows[0]["low"]) == first.low
    assert rows[0]["candidate_run"] == "sail-2"


def test_html_escapes_what_people_name(models: Comparison) -> None:
    (only,) = models.comparisons
    evil = msgspec.structs.replace(
        only, base=msgspec.structs.replace(only.base, run="<script>x</script>")
    )
    text = html_of_comparison(msgspec.structs.replace(models, comparisons=[evil]))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert models._repr_html_() == html_of_comparison(models)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("better", "Better: mean +0.040."), ("same", "The same within 0.2: mean +0.040.")],
)
def test_the_verdict_is_a_sentence(models: Comparison, verdict: str, words: str) -> None:
    (only,) = models.comparisons
    row = msgspec.structs.replace(only.rows[0], verdict=verdict)
    other = msgspec.structs.replace(only, rows=[row])
    text = render.table(msgspec.structs.replace(models, comparisons=[other], margin=0.2))
    assert words in text
