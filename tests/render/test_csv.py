"""Results as CSV."""

from __future__ import annotations

import csv
import io
import json

import pytest
from results_by_hand import group, outcome, result

from harbor_metrics.evaluation.result import Basis, Failure, Uncertainty
from harbor_metrics.render.csv import HEADINGS
from harbor_metrics.render.csv import csv as render

SURE = Uncertainty(
    stderr=0.1 + 0.2, low=None, high=1 / 3, level=0.95, method="hall", over="tasks", n_effective=2.5
)


def test_a_row_is_a_value_with_all_digits() -> None:
    mean = outcome(
        kwargs={"key": "a,b"},
        values={"mean": 1 / 3},
        uncertainty={"mean": SURE},
        basis={"mean": Basis(trials=3, tasks=2, passed=1)},
    )
    none = outcome("max", values={"a": None, "b": 2}, reasons={"a": "why\nnot"})
    error = Failure(rule="r", message="no")
    failed = outcome("min", values={}, status="failed", error=error)
    made = result(group(mean, none, failed, agent="an, agent", model=None, pass_at_k={"2": 0.5}))
    rows = list(csv.DictReader(io.StringIO(render(made))))
    assert list(rows[0]) == list(HEADINGS)
    first = rows[0]
    assert (first["agent"], first["model"], first["dataset"]) == ("an, agent", "", "demo")
    assert first["kwargs"] == '{"key":"a,b"}'
    assert float(first["value"]) == 1 / 3
    assert (first["stderr"], first["low"]) == ("0.30000000000000004", "")
    assert (first["n"], first["trials"], first["tasks"], first["passed"]) == ("3", "3", "2", "1")
    assert [(row["metric"], row["name"], row["value"], row["reason"]) for row in rows[1:]] == [
        ("max", "a", "", r"why\nnot"),
        ("max", "b", "2", ""),
        ("min", "", "", "no"),
        ("pass_at_k", "2", "0.5", ""),
    ]
    assert [row["origin"] for row in rows[3:]] == ["registry", "harbor"]


@pytest.mark.parametrize(
    ("agent", "cell"),
    [
        ("=1+1", "'=1+1"),
        ('=HYPERLINK("https://e.org/?"&A1)', '\'=HYPERLINK("https://e.org/?"&A1)'),
        ("+1+1", "'+1+1"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1+1", "'\t'=1+1"),
        ("\r=1+1", r"\r=1+1"),
        ("a\r\n=1+1\u2028", r"a\r\n=1+1\u2028"),
        ("＝1+1", "'＝1+1"),  # noqa: RUF001
        ("-5", "-5"),
        ("-1e-05", "-1e-05"),
        ("a=b", "a=b"),
        ("'=1", "'=1"),
        # Where the comma is in numbers a semicolon parts cells, or a tab does.
        ("a;=1+1;b", "a;'=1+1;b"),
        ('a; "@SUM(A1)', "a; \"'@SUM(A1)"),
        ("a\t=1", "a\t'=1"),
        ("a;b=1", "a;b=1"),
    ],
)
def test_text_is_no_formula_of_a_spreadsheet(agent: str, cell: str) -> None:
    made = result(group(outcome(values={"mean": -0.5}), agent=agent))
    (row,) = csv.DictReader(io.StringIO(render(made), newline=""))
    assert (row["agent"], row["value"]) == (cell, "-0.5")


@pytest.mark.parametrize("text", ["x;=1+1;y", 'x; "@SUM(A1)', 'x;\t"\\n+1', "x;＝1", "x;y=1"])  # noqa: RUF001
def test_kwargs_are_no_formula_behind_a_semicolon_and_the_same_when_they_are_read(
    text: str,
) -> None:
    made = result(group(outcome(kwargs={"key": text})))
    (row,) = csv.DictReader(io.StringIO(render(made), newline=""))
    assert json.loads(row["kwargs"]) == {"key": text}
    parts = next(csv.reader([render(made).splitlines()[1]], delimiter=";"))
    assert not any(part.strip(' \t"\\').startswith(tuple("=+-@＝")) for part in parts)  # noqa: RUF001
