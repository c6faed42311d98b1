"""What a metric says of itself, and the kwargs that it takes."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from harbor_metrics.catalogue.families import metric_names
from harbor_metrics.catalogue.names import bind, find_metric
from harbor_metrics.contract.metric import _NAMES_OF_LABELS, metric_of
from harbor_metrics.contract.parameters import Attempts, Higher, Lower
from harbor_metrics.contract.spec import UV_SCRIPT, MetricSpec
from harbor_metrics.errors import MetricFailure
from harbor_metrics.trials.column import Column
from harbor_metrics.trials.table import Table


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("accuracy", True),
        ("pass-at-k", True),
        ("ter", False),
        ("total-cost", False),
        ("mean", None),
    ],
)
def test_metric_knows_whether_higher_is_better(name: str, better: bool | None) -> None:
    assert find_metric(name).higher_is_better is better


NAMES = sorted(set(metric_names()) - {UV_SCRIPT})
# What a metric needs to be called at all.
NEEDED: dict[str, dict[str, Any]] = {
    "grouped": {"metric": "mean", "by": "label"},
    "micro-average": {"weight": "label"},
    "quantile": {"q": 0.3},
    "weighted-mean": {"weight": "label"},
    "weighted-perplexity": {"weight": "label"},
    "bits-per-byte": {"weight": "label"},
    "f1": {"reference": "label"},
    "matthews-corrcoef": {"reference": "label"},
    "brier-score": {"probabilities": "reward"},
    **{
        name: {"k": 1}
        for name in ("pass-at-k", "pass-hat-k", "at-least-k", "any-first-k", "all-first-k")
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_has_a_description(name: str) -> None:
    assert find_metric(name).description.partition("\n")[0].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_kwarg_is_refused_with_the_nearest(name: str) -> None:
    known = find_metric(name)
    for kwarg in (*known.kwargs.__struct_fields__, *known.common):
        wrong = f"{kwarg[:-1]}{chr(ord(kwarg[-1]) + 1)}x" if len(kwarg) > 2 else f"{kwarg}_"
        with pytest.raises(MetricFailure, match=f"takes no `{wrong}`"):
            known.bind({**NEEDED.get(name, {}), wrong: 1})


def of_column(rewards: Column, *, k: int = 1) -> Higher:
    return len(rewards) + k


def of_attempts(rewards: Attempts) -> Lower:
    return rewards.n_tasks


def of_table(table: Table) -> float:
    return len(table)


@pytest.mark.parametrize(
    ("function", "takes", "better", "common"),
    [
        (of_column, "column", True, ("key", "missing", "reducer")),
        (of_attempts, "attempts", False, ("key", "missing")),
        (of_table, "table", None, ()),
    ],
)
def test_annotations_say_what_a_metric_reads(
    function: Any, takes: str, better: bool | None, common: tuple[str, ...]
) -> None:
    described = metric_of(function)
    assert described.name == function.__name__.replace("_", "-")
    assert (described.takes, described.higher_is_better, described.common) == (
        takes, better, common,
    )  # fmt: skip


def test_kwargs_are_bound_beside_the_common_ones() -> None:
    bound = metric_of(of_column).bind({"k": 2.0, "missing": "skip"})
    assert (bound.arguments, bound.common.missing) == ({"k": 2}, "skip")
    assert bound(Column([1, 1], ["a", "b"])) == 4


def test_value_is_over_tasks_where_the_metric_reduces_them() -> None:
    column = Column([1, 0, 1], ["a", "a", "b"])
    assert metric_of(of_column).bind({}).rows(column) == 3
    assert metric_of(of_attempts).bind({}).rows(column) == 2


@pytest.mark.parametrize(
    ("metric", "kwargs", "reads"),
    [("exact-match", {}, True), ("mean", {}, False),
     ("bootstrap-stderr", {"metric": "exact-match"}, True),
     ("grouped", {"metric": "mean", "by": "g"}, False)],
)  # fmt: skip
def test_metric_that_compares_texts_is_known(
    metric: str, kwargs: dict[str, Any], reads: bool
) -> None:
    assert bind(MetricSpec(type=metric, kwargs=kwargs)).reads_texts is reads


def test_function_over_something_else_is_not_a_metric() -> None:
    def of_list(rewards: list[float]) -> float:
        return 0.0

    with pytest.raises(TypeError, match="the first parameter must be a Column or Table"):
        metric_of(of_list)


@pytest.mark.parametrize("name", [name for name in metric_names() if name != UV_SCRIPT])
def test_kwargs_that_name_labels_are_known_to(name: str) -> None:
    """Else the labels of a job are read for one metric because another asks for them."""
    definitions = msgspec.json.schema(find_metric(name).kwargs)["$defs"].values()
    said = {
        kwarg
        for definition in definitions
        for kwarg, schema in definition["properties"].items()
        if re.search(r"\blabels?\b", schema.get("description", ""))
    }
    assert said - {"name_template"} <= _NAMES_OF_LABELS


@pytest.mark.parametrize("reducer", ["mode", "majority"])
def test_labels_that_a_reducer_votes_by_are_read(reducer: str) -> None:
    for label, reads in (("said", True), (None, False)):
        kwargs = {"reducer": {"type": reducer, "kwargs": {"label": label}}}
        assert bind(MetricSpec(type="mean", kwargs=kwargs)).reads_labels is reads
