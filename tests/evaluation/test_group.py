"""What a group of trials comes to, beside its metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harbor_metrics import compute
from harbor_metrics.documents.document import parse
from harbor_metrics.evaluation.group import group_of, reference_of, unscored
from harbor_metrics.evaluation.plan import Plan
from harbor_metrics.evaluation.result import Counts, DatasetRef, Spent
from harbor_metrics.registries.registry import datasets_of
from harbor_metrics.trials.pool import Pool
from harbor_metrics.trials.source import Job, Source
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import GroupKey, Trial, Usage

KEY = GroupKey("oracle", "sail-1", "demo")
EMPTY = Plan(metrics=[], datasets=[], versions=[], diagnostics=[])
TRIALS = [
    Trial(task="a", trial="a1", rewards={"r": 1}, usage=Usage(n_input_tokens=10, cost_usd=0.25)),
    Trial(task="a", trial="a2", rewards={"r": 0}, usage=Usage(n_input_tokens=5)),
    Trial(task="b", trial="b1", rewards=None, error="Late"),
    Trial(task="b", trial="b2", rewards={"r": 1}, error="Late"),
]


def group(plan: Plan = EMPTY, key: GroupKey = KEY, **pool: Any) -> Any:
    return group_of(key, Pool(table=Table(TRIALS), **pool), plan, [])


def test_trials_are_counted() -> None:
    made = group(expected=6, unread=1, whole=False)
    assert made.counts == Counts(
        expected=6, found=4, unread=1, scored=3, missing=1, errored=2, tasks=2
    )
    assert (made.complete, made.exceptions) == (False, {"Late": 2})


def test_a_document_names_an_address_without_its_password() -> None:
    source = Source(path="ftp://me:hunter2@a.example/x.parquet", trials=[], sha256="")
    assert reference_of(source).path == "ftp://***@a.example/x.parquet"


def test_usage_is_the_total_of_trials_that_say_it() -> None:
    assert group().usage == Spent(n_input_tokens=15, cost_usd=0.25)


def test_dataset_has_the_best_version_of_those_that_jobs_name() -> None:
    document, _ = parse(b'[{"name": "demo", "version": "1"}]', "r.json")
    (entry,) = datasets_of(document)
    of_registry = Plan(metrics=[], datasets=[entry], versions=[], diagnostics=[])
    of_jobs = Plan(metrics=[], datasets=[], versions=["1.9", "1.10"], diagnostics=[])
    assert group(of_registry).dataset == DatasetRef(name="demo", version="1", registry="r.json")
    assert group(of_jobs).dataset == DatasetRef(name="demo", version="1.10")
    assert group(key=KEY._replace(dataset=None)).dataset is None


def test_pass_at_k_waits_for_the_end_of_the_job() -> None:
    assert group().pass_at_k == {"2": 1.0}
    assert group(jobs=[("job", Job(running=True))]).pass_at_k == {}


def test_group_without_any_reward_is_an_error() -> None:
    assert unscored(KEY, Pool(table=Table(TRIALS))) == []
    (diagnostic,) = unscored(KEY, Pool(table=Table(TRIALS[2:3])))
    assert diagnostic.message == ("0 of 1 trials of dataset demo have rewards: there is no score")


@pytest.mark.parametrize("often", [1, 20_000])
def test_versions_of_a_task_are_not_pooled_without_a_word(often: int, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    versions = (("a", "1"), ("a", "2"), ("b", "1"), ("b", None), ("c", None))
    lines = [{"task": t, "task_version": v, "rewards": {"reward": 1}} for t, v in versions]
    # Of many lines only counts are kept.
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) * often)
    (said,) = (d for d in compute(path).diagnostics if d["rule"] == "task-versions-pooled")
    assert said["message"].startswith("1 task ran at several versions")
    assert said["message"].endswith(": a")
