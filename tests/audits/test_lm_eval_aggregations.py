"""lm-eval's aggregations, and what it writes where they mean nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest

from harbor_metrics.audits.lm_eval_aggregations import aggregated, error_of_mean, known
from harbor_metrics.audits.row import Instead, Known


@pytest.mark.parametrize(
    ("name", "values", "answer"),
    [
        ("mean", [1, 0, 0, 1], Known(0.5)),
        ("median", [3, 1, 2, 0], Known(2.0)),
        ("mean", [1, math.nan], Known(None, "a value is NaN")),
        ("nanmean", [1.0, math.nan, 0.5], Known(0.75)),
        ("nanmean", [math.nan], Known(None, "a value is NaN")),
        ("perplexity", [-1.0, -3.0], Known(math.exp(2))),
        ("weighted_perplexity", [[-2.0, 1], [-4.0, 2]], Known(math.exp(2))),
        ("bits_per_byte", [[-math.log(2), 1]], Known(1.0)),
        ("f1", [[1, 1], [1, 0], [0, 1], [0, 0]], Known(0.5)),
        ("matthews_corrcoef", [[1, 1], [0, 0]], Known(1.0)),
        ("brier_score", [[0, [0.75, 0.25]]], Known(0.125)),
        ("likelihood", [[1, [-2.0, -1.0]], [0, [-3.0, -9.0]]], Known(-2.0)),
        ("mean", [], Known(None, "no document has a value")),
    ],
)
def test_aggregation(name: str, values: Any, answer: Known) -> None:
    assert aggregated(name, values) == answer


@pytest.mark.parametrize(
    ("name", "values", "written"),
    [
        ("bypass", [None, None], 999),
        ("f1", [[0, 0], [0, 0]], 0),
        ("matthews_corrcoef", [[1, 1], [1, 0]], 0),
        ("perplexity", [-1000.0], "Infinity"),
    ],
)
def test_what_lm_eval_writes_where_there_is_no_number(name: str, values: Any, written: Any) -> None:
    answer = aggregated(name, values)
    assert isinstance(answer, Instead)
    assert answer.written == written


def test_f1_of_a_class_that_is_never_right_is_0() -> None:
    assert aggregated("f1", [[1, 0], [0, 1]]) == Known(0.0)


def test_floats_of_32_bits_are_added_as_such() -> None:
    values = [0.10000000149011612, 0.20000000298023224, 0.30000001192092896]
    answer = aggregated("mean", values)
    assert isinstance(answer, Instead)
    assert answer.written == pytest.approx(0.2, abs=1e-7)
    assert answer.written != answer.value
    assert isinstance(error_of_mean(values), Instead)
    assert isinstance(error_of_mean([0.5, 0.25]), Known)


def test_error_of_a_mean() -> None:
    assert error_of_mean([1] * 12 + [0] * 8) == Known(pytest.approx(0.11239029738980327))
    assert error_of_mean([1]).value is None


def test_an_unknown_aggregation_is_known_as_such() -> None:
    assert known("f1")
    assert not known("def mine(items):")
