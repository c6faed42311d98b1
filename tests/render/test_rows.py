"""The cells of a result's tables."""

from __future__ import annotations

from typing import Any

import pytest
from results_by_hand import group, outcome

from harbor_metrics.evaluation.result import DatasetRef, Failure, Outcome, Spent, Uncertainty
from harbor_metrics.render.rows import counts, details, grid, notes, number, rows, title

SURE = Uncertainty(stderr=0.123456, low=0.1, high=0.98765, level=0.95, method="t")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (3, "3"),
        (10**14, "100000000000000"),
        (10**15, "1e+15"),
        (1 / 3, "0.333333"),
        (2.0, "2"),
        (-1e-9, "-1e-09"),
    ],
)
def test_number_has_six_significant_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_columns_that_would_be_empty_are_left_out() -> None:
    assert grid(group(outcome("sum"))).headings == ("metric", "value", "n")
    sure = grid(group(outcome("sum"), outcome("mean", uncertainty={"mean": SURE})))
    assert sure.headings == ("metric", "value", "stderr", "95% interval", "n")
    assert sure.cells == [
        ("sum", "0.5", "", "", "3"), ("mean", "0.5", "0.123", "[0.1, 0.9877]", "3"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "cells"),
    [
        (outcome("mean", values={"mean": None}, reasons={"mean": "why"}), ("mean", "—", "why")),
        (
            outcome("mean", values={}, status="failed", error=Failure(rule="r", message="no\x1b")),
            ("mean", "failed", "no\\x1b"),
        ),
        (outcome("mean", values={}, status="undefined"), ("mean", "—", "there are no trials")),
    ],
)
def test_row_without_a_value_says_why(made: Outcome, cells: tuple[str, ...]) -> None:
    (row,) = rows(group(made))
    assert (row.metric, row.value, row.why) == cells


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ["mean"]),
        ({"values": {"a": 1, "b": 2}}, ["mean: a", "mean: b"]),
        ({"kwargs": {"missing": "skip", "k": [1, 2]}}, ["mean (missing=skip, k=[1,2])"]),
        (
            {"kwargs": {"reducer": {"type": "pass-at-k", "kwargs": {"k": 2}}}},
            ["mean (reducer=pass-at-k(k=2))"],
        ),
    ],
)
def test_metric_is_named_with_its_kwargs_and_values(
    fields: dict[str, Any], names: list[str]
) -> None:
    assert [row.metric for row in rows(group(outcome(**fields)))] == names


def test_alias_is_named_without_the_kwargs_that_it_implies() -> None:
    kwargs = {"method": "available", "k": 3}
    made = outcome("evsys/pass@3", type="any-first-k", kwargs=kwargs, values={"any-first-k": 1})
    assert [row.metric for row in rows(group(made))] == ["evsys/pass@3"]


def test_script_is_named_by_its_file() -> None:
    made = outcome("uv-script", kwargs={"script_path": "metrics/spread.py"}, values={"spread": 1})
    assert [row.metric for row in rows(group(made))] == ["spread.py: spread"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "oracle · sail-1 on demo@1.0"),
        ({"model": None, "dataset": DatasetRef(name="demo")}, "oracle on demo"),
        ({"agent": None, "model": None}, "demo@1.0"),
        ({"agent": None, "model": None, "dataset": None}, "rewards"),
    ],
)
def test_title_names_agent_model_and_dataset(fields: dict[str, Any], text: str) -> None:
    assert title(group(**fields)) == text


@pytest.mark.parametrize(
    ("changed", "complete", "text"),
    [
        ({}, True, "3 trials, 2 tasks, 0 missing, 0 errored"),
        ({"expected": None, "found": 1, "tasks": 1}, True, "1 trial, 1 task, 0 missing, 0 errored"),
        (
            {"expected": 5, "missing": 1, "errored": 2, "unread": 1},
            False,
            "3 of 5 trials, 2 tasks, 1 missing, 2 errored, 1 unread, incomplete",
        ),
    ],
)
def test_counts_say_what_is_lacking(changed: dict[str, Any], complete: bool, text: str) -> None:
    assert counts(group(counts=changed, complete=complete)) == text


def test_note_stands_once_with_the_metrics_that_have_it() -> None:
    few = "few tasks"
    one = group(outcome("sum"), outcome("mean", notes=[few]), outcome("std", notes=[few]))
    assert list(notes(one)) == ["mean, std: few tasks"]
    assert list(notes(group(outcome("mean", notes=[few])))) == ["few tasks"]


def test_details_are_pass_at_k_exceptions_and_usage() -> None:
    spent = Spent(n_input_tokens=10, cost_usd=0.25)
    chances = {str(k): k / 100 for k in range(2, 14)}
    told = dict(details(group(exceptions={"Late": 2}, usage=spent, pass_at_k=chances)))
    assert told["exceptions"] == "Late 2"
    assert told["usage"] == "10 input tokens, 0.25 USD"
    assert told["pass@k"].startswith("2: 0.02, 3: 0.03")
    assert told["pass@k"].endswith("11: 0.11, …")
    assert list(details(group())) == []
