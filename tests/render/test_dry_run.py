"""What a computation would run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import Run

from harbor_metrics.computation.preparation import PreparedGroup
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.documents.document import parse
from harbor_metrics.evaluation.binding import bind
from harbor_metrics.evaluation.plan import Plan
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


def test_a_dry_run_pretends_to_no_document(cli: Run, rewards: Path, tmp_path: Path) -> None:
    for more in (["-o", "x.json"], ["--also", "csv:x.csv"], ["--format", "json"]):
        done = cli("compute", rewards, "--dry-run", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--dry-run prints text" in done.stderr
    assert not [*tmp_path.glob("x.*")]


def test_a_dry_run_names_a_hundred_metrics_and_groups(cli: Run, tmp_path: Path) -> None:
    lines = [{"task": "t", "rewards": {"r": 1}, "agent": f"a{i:03}"} for i in range(102)]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    metrics = [part for i in range(101) for part in ("--metric", f"quantile q={i / 100}")]
    said = cli("compute", "t.jsonl", "--dry-run", "--only-asked", *metrics).stdout
    assert said.count("\n  would run ") == 100 * 100
    assert said.count("\n  and 1 more metric\n") == 100
    assert said.endswith("\nand 2 more groups\n")
