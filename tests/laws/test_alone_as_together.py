"""What a metric says is the same whichever other metrics are asked for.

One that reads labels or texts makes readers look for more, which no other may see.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import chain
from typing import Any

import msgspec
import pytest
from conftest import ROOT

from harbor_metrics.catalogue.families import metric_names
from harbor_metrics.catalogue.names import bind, find_metric
from harbor_metrics.computation.computing import compute_request
from harbor_metrics.computation.preparation import prepare
from harbor_metrics.computation.request import Request
from harbor_metrics.contract.spec import UV_SCRIPT, MetricSpec
from harbor_metrics.errors import MetricFailure

# With labels of task.toml, of a snapshot, of metadata; with texts in samples alone; with votes.
SOURCES = [
    "registry/jobs/buoys",
    "tests/jobs/two-models",
    "tests/logs/inspect/mixed.eval",
    "tests/logs/inspect/scorers.eval",
    "tests/logs/inspect/failed.eval",
    "tests/logs/lm_eval/0.4.13",
]
NEEDED: dict[str, dict[str, Any]] = {
    "quantile": {"q": 0.3},
    **{
        name: {"k": 1}
        for name in ("pass-at-k", "pass-hat-k", "at-least-k", "any-first-k", "all-first-k")
    },
}


def names_in(source: str) -> tuple[list[str], list[str]]:
    """Some labels and some reward keys of a source."""
    groups = prepare(Request(sources=(source,), reads_labels=True), keep=True).groups
    trials = [trial for group in groups for trial in group.pool.table]
    labels = sorted(set(chain.from_iterable(trial.labels for trial in trials)))
    keys = sorted(set(chain.from_iterable(trial.rewards or () for trial in trials)))
    return labels[:2], keys[:1]


def specs_of(name: str, labels: list[str], keys: list[str]) -> list[MetricSpec]:
    """A metric without labels, and with labels and rewards where it takes any."""
    metric, needed = find_metric(name), NEEDED.get(name, {})
    kwargs: list[dict[str, Any]] = [needed]
    for field in metric.kwargs.__struct_fields__:
        said = [[label] if field == "raters" else label for label in [*labels, *keys]]
        kwargs += [{**needed, field: value} for value in said]
    if name == "grouped":
        kwargs = [{"metric": m, "by": by} for by in [*labels, "task"] for m in ("mean", "bleu")]
    if "reducer" in metric.common:
        votes = ({"type": "mode", "kwargs": {"label": label}} for label in labels)
        kwargs += [{**needed, "reducer": reducer} for reducer in ("last", *votes)]
    return [spec for each in kwargs if binds(spec := MetricSpec(type=name, kwargs=each))]


def binds(spec: MetricSpec) -> bool:
    try:
        return bind(spec) is not None
    except MetricFailure:
        return False


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_metric_says_is_the_same_alone_and_beside_others(source: str) -> None:
    path = str(ROOT / source)
    labels, keys = names_in(path)
    names = [name for name in metric_names() if name != UV_SCRIPT]
    specs = [spec for name in names for spec in specs_of(name, labels, keys)]

    def said(asked: list[MetricSpec]) -> list[set[bytes]]:
        result = compute_request(Request(sources=(path,), metrics=tuple(asked), only_asked=True))
        return [
            {msgspec.json.encode(metric) for metric in group.metrics} for group in result.groups
        ]

    @cache
    def alone(i: int) -> list[set[bytes]]:
        return said([specs[i]])

    drawn = random.Random(source)
    whole = list(range(len(specs)))
    for some in (whole, whole[::-1], *(drawn.sample(whole, 2) for _ in range(5))):
        together = said([specs[i] for i in some])
        for group, metrics in enumerate(together):
            assert metrics == set().union(*(alone(i)[group] for i in some))
