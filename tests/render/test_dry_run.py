"""What a computation would run."""

from __future__ import annotations

from typing import Any

from harbor_metrics.computation.preparation import PreparedGroup
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.documents.document import parse
from harbor_metrics.evaluation.plan import Plan, bind
from harbor_metrics.registries.registry import Dataset, datasets_of
from harbor_metrics.render.dry_run import dry_run
from harbor_metrics.trials.pool import Pool
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import GroupKey, Trial

DOCUMENT, _ = parse(b'[{"name": "d", "version": "1"}]', "r.json")
(DATASET,) = datasets_of(DOCUMENT)
POOL = Pool(table=Table([Trial(task="a", rewards=None)]))


def shown(key: GroupKey, *types: str, datasets: tuple[Dataset, ...] = (), **kwargs: Any) -> str:
    metrics = [bind(t, MetricSpec(type=t, kwargs=kwargs), "registry") for t in types]
    plan = Plan(metrics=metrics, datasets=list(datasets), versions=[], diagnostics=[])
    return dry_run([PreparedGroup(key=key, pool=POOL, plan=plan)])


def test_group_has_its_dataset_and_its_metrics() -> None:
    text = shown(GroupKey("x", "m", "d"), "mean", datasets=(DATASET,), missing="skip")
    assert text == (
        "x · m on d: 1 trial\n"
        "  dataset d@1 of r.json\n"
        '  would run mean {"missing": "skip"} (registry)\n'
    )


def test_dataset_without_a_registry_is_marked() -> None:
    assert "  dataset d, without a registry\n" in shown(GroupKey(None, None, "d"))
    assert shown(GroupKey(None, None, None)) == "rewards: 1 trial\n"


def test_metric_that_cannot_run_says_why() -> None:
    text = shown(GroupKey("x", None, None), "nonesuch")
    assert "  would run nonesuch (registry): cannot: unknown metric type `nonesuch`" in text
