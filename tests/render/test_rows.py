"""A group of a result as a sheet."""

from __future__ import annotations

from typing import Any

import pytest
from results_by_hand import group, outcome

from harbor_metrics.evaluation.result import (
    Basis,
    DatasetRef,
    Failure,
    Outcome,
    Reading,
    Spent,
    Uncertainty,
)
from harbor_metrics.render.rows import counts, details, notes, rows, sheet, title

SURE = Uncertainty(stderr=0.123456, low=0.1, high=0.98765, level=0.95, method="t")


def test_columns_that_would_be_empty_are_left_out() -> None:
    assert sheet(group(outcome("sum"))).headings == ("metric", "value", "trials")
    sure = sheet(group(outcome("sum"), outcome("mean", uncertainty={"mean": SURE})))
    assert sure.headings == ("metric", "value", "stderr", "95% interval", "trials")
    assert [line.cells for line in sure.lines] == [
        ("sum", "0.5", "", "", "3"), ("mean", "0.50", "0.12", "[0.10, 0.99]", "3"),
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


def test_values_of_one_metric_stand_under_its_name_and_kwargs() -> None:
    values = {"lee": 1, "all": 2}
    made = outcome("grouped", kwargs={"metric": "mean", "by": "side"}, values=values)
    assert [(row.indent, row.metric, row.value) for row in rows(group(made))] == [
        (0, "mean grouped by side", ""), (1, "lee", "1"), (1, "all", "2"),
    ]  # fmt: skip


def test_pass_at_several_k_is_a_row_each() -> None:
    made = outcome("pass-at-k", kwargs={"k": [1, 2]}, values={"1": 0, "2": 1})
    assert [(row.indent, row.metric) for row in rows(group(made))] == [(0, "pass@1"), (0, "pass@2")]


def test_pass_at_k_of_harbor_stands_under_its_name() -> None:
    chances = {str(k): k / 100 for k in range(2, 14)}
    table = list(rows(group(pass_at_k=chances)))
    assert [(row.indent, row.metric, row.value) for row in table[:2]] == [
        (0, "Harbor's pass@k", ""), (1, "pass@2", "0.02"),
    ]  # fmt: skip
    assert table[1].n == "3 / 2"
    assert (table[-2].metric, table[-1].metric) == ("pass@11", "and 2 more")


@pytest.mark.parametrize(
    ("basis", "text"),
    [
        (Basis(trials=12, tasks=4), "12 / 4"),
        (Basis(trials=12, tasks=4, passed=5), "5 of 12 / 4"),
        (Basis(trials=4, tasks=4, passed=0), "0 of 4"),
        (Basis(trials=4, tasks=4), "4"),
        (None, "3"),
    ],
)
def test_trials_and_tasks_stand_apart(basis: Basis | None, text: str) -> None:
    more = {"basis": {"mean": basis}} if basis else {}
    (row,) = rows(group(outcome("mean", **more)))
    assert row.n == text
    (heading,) = sheet(group(outcome("mean", **more))).headings[-1:]
    over = "trials / tasks" if "/" in text else "trials"
    assert heading == (f"passed of\n{over}" if "of" in text else over)


@pytest.mark.parametrize(
    ("missing", "basis", "text"),
    [
        (
            "skip",
            Basis(trials=25, tasks=5, otherwise=Reading(missing="skip", value=0.5625, n=16)),
            "mean: 0.36 over 25; 0.5625 over the 16 that have rewards",
        ),
        (
            "zero",
            Basis(trials=25, tasks=5, otherwise=Reading(missing="zero", value=0.1, n=90)),
            "mean: 0.36 over the 25 that have rewards; 0.1 over 90",
        ),
    ],
)
def test_where_trials_are_missing_both_readings_stand(
    missing: str, basis: Basis, text: str
) -> None:
    made = group(outcome("mean", values={"mean": 0.36}, basis={"mean": basis}))
    assert ("missing", text) in list(details(made))


def test_what_all_metrics_were_told_is_said_once() -> None:
    skip = {"missing": "skip"}
    script = outcome("uv-script", values={"s": 1})
    table = sheet(group(outcome("mean", kwargs=skip), outcome("max", kwargs=skip), script))
    assert [line.cells[0] for line in table.lines] == ["mean", "max", "uv-script: s"]
    assert ("missing", "a trial without the reward is left out") in table.below
    apart = sheet(group(outcome("mean", kwargs=skip), outcome("max")))
    assert [line.cells[0] for line in apart.lines] == ["mean (missing=skip)", "max"]
    assert apart.below == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "oracle · sail-1 on demo@1.0"),
        ({"model": None, "dataset": DatasetRef(name="demo")}, "oracle on demo"),
        ({"agent": None, "model": None}, "demo@1.0"),
        ({"agent": None, "model": None, "dataset": None}, "rewards"),
        ({"agent": "", "model": None}, '"" on demo@1.0'),
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
    sure = outcome("mean", notes=[few], uncertainty={"mean": SURE})
    assert list(notes(group(outcome("sum"), sure))) == ["few tasks"]


def test_details_are_exceptions_and_usage() -> None:
    spent = Spent(n_input_tokens=10, cost_usd=0.25)
    told = dict(details(group(exceptions={"Late": 2}, usage=spent)))
    assert told["exceptions"] == "Late 2"
    assert told["usage"] == "10 input tokens, 0.25 USD"
    assert list(details(group())) == []
