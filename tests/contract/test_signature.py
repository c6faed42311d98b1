"""A kwarg that is not as it should be is said in our own words, whatever msgspec's are."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.catalogue.names import check, find_reducer, kwargs_of
from harbor_metrics.errors import MetricFailure
from harbor_metrics.validation.explanations import explain

ODD = [None, True, -1, 0, 0.5, 7, 10**12, 1e300, math.nan, "", "x", [], [0], ["x"], [[1]], {}]
ODD += [{"x": 1}, {"type": 5}, {"type": "mean", "kwarg": {}}, {"type": "mean", "kwargs": 5}]
OF_MSGSPEC = ("Expected", "expected", "got `", "Object", "Invalid", " - at ", "$.")


def said(metric: str, kwargs: dict[str, Any]) -> str:
    """What is wrong with the kwargs; nothing where they fit."""
    try:
        check(metric, kwargs)
    except MetricFailure as failure:
        return f"{failure.rule}: {failure}"
    return ""


@pytest.mark.parametrize(
    ("metric", "kwargs", "message"),
    [
        ("quantile", {"q": 2}, "`q` of `quantile` must be at most 1, not 2"),
        ("quantile", {"q": "a"}, "`q` of `quantile` must be a number, not a string"),
        ("quantile", {"q": math.nan}, "`q` of `quantile` must be at least 0, not NaN"),
        (
            "quantile",
            {"q": 0.5, "method": "linaer"},
            "`method` of `quantile` is `linaer`; did you mean `linear`?; it is one of `higher`",
        ),
        ("pass-at-k", {"k": "2"}, "`k` of `pass-at-k` must be an integer or an array, not a str"),
        ("pass-at-k", {"k": 0}, "`k` of `pass-at-k` must be at least 1, not 0"),
        ("pass-at-k", {"k": []}, "`k` of `pass-at-k` must not be empty"),
        ("pass-at-k", {"k": [1, "2"]}, "`k[1]` of `pass-at-k` must be an integer, not a string"),
        ("mean", {"missing": 5}, "`missing` of `mean` must be a string or null, not a number"),
        ("mean", {"missing": "drop"}, "`missing` of `mean` is `drop`; it is one of `error`"),
        ("mean", {"reducer": 5}, "`reducer` of `mean` must be a string, an object or null, not a"),
        ("mean", {"reducer": {}}, "`reducer` of `mean` has no `type`"),
        ("mean", {"reducer": {"type": 5}}, "`reducer.type` of `mean` must be a string, not a num"),
        (
            "grouped",
            {"by": "a", "metric": {"typ": "mean"}},
            "`metric` of `grouped` has no field `typ`; did you mean `type`?",
        ),
        *(
            (
                "bootstrap-stderr",
                {"metric": inner},
                "`bootstrap-stderr` takes no metric that draws samples itself",
            )
            for inner in (
                "bootstrap-stderr",
                {"type": "bootstrap-stderr", "kwargs": {"metric": "mean"}},
                {"type": "grouped", "kwargs": {"by": "a", "metric": "bootstrap-stderr"}},
            )
        ),
        ("uv-script", {"script_path": ""}, "`script_path` of `uv-script` must not be empty"),
    ],
)
def test_a_wrong_kwarg_is_explained(metric: str, kwargs: dict[str, Any], message: str) -> None:
    assert said(metric, kwargs).startswith(f"invalid-metric-kwargs: {message}")


@pytest.mark.parametrize("metric", metric_names())
def test_no_metric_speaks_msgspecs_english(metric: str) -> None:
    needed = dict(entry["kwargs"]) if "kwargs" in (entry := example(metric)) else {}
    for name in kwargs_of(metric):
        for value in ODD:
            message = said(metric, {**needed, name: value})
            assert "needs" not in message, message
            assert not any(word in message for word in OF_MSGSPEC), message


def example(metric: str) -> dict[str, Any]:
    """The entry that `explain` shows."""
    entry: dict[str, Any] = json.loads(explain(metric).rpartition("example\n")[2])
    return entry


@pytest.mark.parametrize("name", reducer_names())
def test_no_reducer_speaks_msgspecs_english(name: str) -> None:
    needed = {"k": 1} if find_reducer(name).kwargs.__struct_fields__[:1] == ("k",) else {}
    for field in find_reducer(name).kwargs.__struct_fields__:
        for value in ODD:
            reducer = {"type": name, "kwargs": {**needed, field: value}}
            message = said("mean", {"reducer": reducer})
            assert "needs" not in message, message
            assert not any(word in message for word in OF_MSGSPEC), message
