"""A long name that is repeated for all that lies in it takes no more than what is written."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_metrics.readers.harbor.reported import reported
from harbor_metrics.readers.inspect.log import _flat
from harbor_metrics.readers.inspect.reported import Metric, Results, Scores
from harbor_metrics.readers.inspect.reported import reported as of_inspect
from harbor_metrics.readers.inspect.sample import Score
from harbor_metrics.readers.inspect.scores import rewards_of
from harbor_metrics.readers.lm_eval.values import Values
from harbor_metrics.trials.trial import NO_GROUP

LONG = "L" * 20_000
N = 50


def unknown(value: str) -> None:
    raise AssertionError(value)


@pytest.mark.parametrize("value", [[1] * N, {"a": [1]}, "[1 2 3]"])
def test_a_value_with_others_in_it_has_no_endless_name(value: Any) -> None:
    with pytest.raises(ValueError, match="the name of a value with others in it, LLLLL"):
        Values().measured({LONG: value}, None)
    if not isinstance(value, str):
        with pytest.raises(ValueError, match="has more than 1,000 characters"):
            rewards_of("s", Score(value={LONG: value}), {}, unknown)
    assert Values().measured({LONG: 1, "b": [2]}, None)[0] == {LONG: 1, "b/0": 2}


def test_labels_have_no_endless_names() -> None:
    assert dict(_flat("", {LONG: {"a": 1}, "b": {"c": 2}, "d": {LONG: 3}})) == {
        "b.c": 2,
        f"d.{LONG}": 3,
    }


def test_where_a_number_stands_is_said_by_the_beginning_of_a_long_name() -> None:
    inner = {f"k{i}": i for i in range(N)}
    job = {"stats": {"evals": {"a": {LONG: inner, "reward_stats": {LONG: inner}}}}}
    metrics = {name: Metric(name="mean", value=1) for name in inner}
    results = Results(scores=[Scores(name=LONG, scorer="s", metrics=metrics)])
    log = of_inspect(results, lambda _: NO_GROUP, unreduced=False)
    places = [number.place for number in (*reported(job), *log)]
    assert len(set(places)) >= 3 * N
    assert max(map(len, places)) < 300
