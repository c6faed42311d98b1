"""A metric says the same of trials that were counted as of trials that are kept."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from conftest import CASES
from hypothesis import given
from hypothesis import strategies as st
from metrics_said import NEED_ROWS, said

from harbor_metrics.errors import NeedsRowsError
from harbor_metrics.evaluation.result import Outcome
from harbor_metrics.testing import trials
from harbor_metrics.trials import counted_lines
from harbor_metrics.trials.counted import CountedTable, Ordered
from harbor_metrics.trials.counted_lines import CountedLines, LineCounts
from harbor_metrics.trials.counts import Counts
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import LineTrials, Trial, Usage

# Kwargs with which a metric that needs none needs rows after all.
ROW_KWARGS = {"reducer", "metric", "label", "per"}


def counted(rows: list[Trial], cuts: int = 1) -> CountedTable:
    table: Any = None
    for start in range(cuts):
        counts = Counts()
        counts.add(rows[start::cuts][:2])
        counts.add(rows[start::cuts][2:])
        part = CountedTable(counts)
        table = part if table is None else table + part
    return table


def assert_the_same(kept: Outcome, from_counts: Outcome) -> None:
    assert msgspec.json.encode(from_counts) == msgspec.json.encode(kept)


@pytest.mark.parametrize("over", ["tasks", "attempts"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_says_the_same_of_counts(name: str, over: str) -> None:
    for case in CASES[name]:
        rows = trials(case)
        entry = {"type": name, "kwargs": case.get("kwargs", {})}
        kept = said(entry, Table(rows), over=over)
        for cuts in (1, 2, 3):
            outcome = said(entry, counted(rows, cuts), over=over)
            if outcome.status == "failed" and outcome.error.rule == "needs-rows":  # type: ignore[union-attr]
                kwargs = case.get("kwargs", {})
                label = kwargs.get("cluster", "task") not in ("task", None)
                assert (
                    name in NEED_ROWS
                    or ROW_KWARGS & kwargs.keys()
                    or label
                    or kwargs.get("method") == "lm-eval"
                    or kwargs.get("missing") == "error"
                ), (name, case, outcome.error)
            else:
                assert_the_same(kept, outcome)


_numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.0, 0.5, 0.1, 1e-300, -0.0, 1e200]),
)
_rewards = st.one_of(st.none(), st.dictionaries(st.sampled_from(["a", "b"]), _numbers, max_size=2))
_trials = st.lists(
    st.builds(
        Trial,
        task=st.sampled_from(["t1", "t2", "t3", "u"]),
        rewards=_rewards,
        error=st.sampled_from([None, "E", "F"]),
        usage=st.builds(Usage, cost_usd=st.one_of(st.none(), st.floats(0, 10))),
    ),
    max_size=12,
)
SCALABLE = [
    {"type": "sum"},
    {"type": "min"},
    {"type": "max"},
    {"type": "mean"},
    {"type": "mean-reward"},
    {"type": "median"},
    {"type": "quantile", "kwargs": {"q": 0.3}},
    {"type": "std"},
    {"type": "stderr"},
    {"type": "ci", "kwargs": {"method": "hall"}},
    {"type": "ci", "kwargs": {"method": "bootstrap", "samples": 50}},
    {"type": "frequency"},
    {"type": "count", "kwargs": {"threshold": 0.5}},
    {"type": "pass-rate"},
    {"type": "pass-at-k", "kwargs": {"k": 2, "threshold": 0.5}},
    {"type": "best-at-k", "kwargs": {"k": 2}},
    {"type": "consistency"},
    {"type": "flipped", "kwargs": {"threshold": 0.5}},
    {"type": "variance-components"},
]


@given(
    rows=_trials,
    entry=st.sampled_from(SCALABLE),
    missing=st.sampled_from([None, "zero", "skip"]),
    over=st.sampled_from(["tasks", "attempts"]),
    cuts=st.integers(1, 3),
)
def test_counts_of_any_trials_say_what_the_trials_say(
    rows: list[Trial], entry: dict[str, Any], missing: Any, over: str, cuts: int
) -> None:
    kept, table = Table(rows), counted(rows, cuts)
    assert_the_same(
        said(entry, kept, missing=missing, over=over),
        said(entry, table, missing=missing, over=over),
    )
    assert (len(table), table.n_tasks, table.n_scored) == (len(kept), kept.n_tasks, kept.n_scored)
    assert table.errors == kept.errors
    assert table.used("cost_usd") == kept.used("cost_usd")
    assert table.task_passes() == kept.task_passes()
    assert list(table.columns) == list(kept.columns)


@given(numbers=st.lists(_numbers, max_size=9))
def test_counted_numbers_are_those_that_were_sorted(numbers: list[Any]) -> None:
    ordered, kept = Ordered(Counter(numbers)), sorted(numbers)
    assert list(ordered) == kept
    assert [ordered[-1 - i] for i in range(len(kept))] == kept[::-1]


def test_what_was_not_kept_is_named() -> None:
    table = counted([Trial(task="t", rewards={"r": 1})])
    with pytest.raises(NeedsRowsError, match="needs the task of every trial, and the trials"):
        list(table.tasks)


@given(
    rows=st.lists(_rewards, max_size=12),
    entry=st.sampled_from(SCALABLE),
    missing=st.sampled_from([None, "zero", "skip"]),
    over=st.sampled_from(["tasks", "attempts"]),
    cut=st.integers(0, 12),
    most=st.sampled_from([2, 3, 100]),
)
def test_counts_of_any_lines_say_what_the_lines_say(
    rows: list[Any], entry: dict[str, Any], missing: Any, over: str, cut: int, most: int
) -> None:
    keys = {key for row in rows for key in row or ()}
    columns = {key: [(row or {}).get(key) for row in rows] for key in keys}
    empty = frozenset(i for i, row in enumerate(rows) if row == {})
    kept = Table(LineTrials(len(rows), columns, empty))
    with patch.object(counted_lines, "MOST_VALUES", most):
        table = counted_from(rows[:cut]) + counted_from(rows[cut:])
        outcome = said(entry, table, missing=missing, over=over)
    if outcome.error and outcome.error.rule == "needs-rows":
        assert most < 100 or missing == "skip"
    else:
        assert_the_same(said(entry, kept, missing=missing, over=over), outcome)
    assert (len(table), table.n_tasks, table.n_scored) == (len(kept), kept.n_tasks, kept.n_scored)
    assert (table.errors, table.task_passes()) == (kept.errors, kept.task_passes())
    assert list(table.columns) == list(kept.columns)


def counted_from(rows: list[Any]) -> CountedLines:
    counts = LineCounts(len(rows), sum(row is not None for row in rows))
    for key in {key for row in rows for key in row or ()}:
        values = [row[key] for row in rows if row and key in row]
        counts.key(key).add(values[:3])
        for value in values[3:]:
            counts.key(key).add_times(value, 1)
    return CountedLines(counts)
