"""What a reducer says of itself, and what it makes of the attempts at each task."""

from __future__ import annotations

import pytest

from harbor_metrics.catalogue.families import reducer_names
from harbor_metrics.catalogue.names import bind_reducer, find_reducer
from harbor_metrics.contract.estimate import Undefined
from harbor_metrics.contract.reducer import reducer_of
from harbor_metrics.contract.spec import ReducerSpec
from harbor_metrics.errors import MetricFailure
from harbor_metrics.trials.column import Column

COLUMN = Column([1, 0, 1], ["a", "a", "b"])
TWO = ReducerSpec(type="pass-at-k", kwargs={"k": 2})


@pytest.mark.parametrize("name", reducer_names())
def test_every_reducer_has_a_description(name: str) -> None:
    assert find_reducer(name).description.partition("\n")[0].endswith(".")


def test_value_of_each_task_stands_in_a_column_with_its_attempts() -> None:
    reduced = bind_reducer(ReducerSpec(type="mean"))(COLUMN, skip=False)
    assert isinstance(reduced, Column)
    assert (reduced.values, reduced.tasks, reduced.attempts) == ([0.5, 1.0], ["a", "b"], COLUMN)


def test_task_without_a_value_leaves_the_metric_undefined_or_is_left_out() -> None:
    undefined = bind_reducer(TWO)(COLUMN, skip=False)
    assert isinstance(undefined, Undefined)
    assert undefined.reason.startswith("task b: ")
    assert undefined.reason.endswith("(`missing`: `skip` leaves such tasks out)")
    kept = bind_reducer(TWO)(COLUMN, skip=True)
    assert isinstance(kept, Column)
    assert kept.tasks == ["a"]


def test_no_task_with_a_value_is_undefined_though_they_may_be_left_out() -> None:
    undefined = bind_reducer(TWO)(Column([1], ["b"]), skip=True)
    assert isinstance(undefined, Undefined)
    assert undefined.reason.startswith("no task has a value: task b: ")


def test_function_is_described_by_its_name_and_keyword_only_parameters() -> None:
    def best_of(attempts: list[float], *, first: int = 2) -> dict[str, float]:
        """The best."""
        return {"best": max(attempts[:first])}

    reducer = reducer_of(best_of)
    assert (reducer.name, reducer.kwargs.__struct_fields__) == ("best-of", ("first",))
    with pytest.raises(MetricFailure, match="did you mean `first`"):
        reducer.bind({"fist": 1})
    with pytest.raises(MetricFailure, match=r"returned \{'best': 1\}"):
        reducer.bind({})(COLUMN, skip=False)
