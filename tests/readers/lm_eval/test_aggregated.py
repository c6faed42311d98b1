"""What lm-eval aggregates of a run is what `compute` computes of it by default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import LOGS
from lm_eval_logs import OLD, line, source, write

import harbor_metrics
from harbor_metrics import readers
from harbor_metrics.readers.lm_eval.aggregated import aggregated
from harbor_metrics.readers.lm_eval.reported import is_aggregate

SAMPLES = sorted((LOGS / "lm_eval").glob("**/samples_*.jsonl*"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.name[8:20]}")
def test_default_of_a_run_is_what_its_results_file_has(path: Path) -> None:
    (read,) = readers.read(str(path))
    own = {trial.dataset for trial in read.trials}
    reported = [n for n in read.reported() if is_aggregate(n) and n.group.dataset in own]
    result = harbor_metrics.compute(str(path), level=None)
    computed: dict[Any, list[Any]] = {}
    for group in result.groups:
        assert all(metric.origin == "default" for metric in group.metrics)
        computed[group.dataset.name] = [v for m in group.metrics for v in m.values.values()]
    for number in reported:
        values = computed[number.group.dataset]
        if number.metric == "bypass" or number.value is None:
            continue
        if number.value == 0 and None in values:
            # lm-eval writes 0 where a score of classes is undefined.
            continue
        assert any(v == pytest.approx(number.value, rel=1e-6) for v in values if v is not None)


def test_default_is_of_each_filter() -> None:
    job = source("answers").job
    assert job is not None
    entry = {"type": "lm-eval/mean", "kwargs": {"key": "exact_match"}}
    assert job.defaults == {"answers:first": (entry,), "answers:majority": (entry,)}


def test_without_a_results_file_every_metric_of_the_lines_counts(tmp_path: Path) -> None:
    lines = next(OLD.glob("samples_two_choices_*")).read_bytes()
    (tmp_path / "samples_two_choices_x.jsonl").write_bytes(lines)
    (found,) = readers.read(str(tmp_path / "samples_two_choices_x.jsonl"))
    assert found.job is not None
    with_results = source("two_choices").job
    assert with_results is not None
    types = [sorted(e["type"] for e in j.defaults.popitem()[1]) for j in (
        _copied(found.job), _copied(with_results))]  # fmt: skip
    assert types[0] == types[1]


def _copied(job: Any) -> Any:
    return type(job)(defaults=dict(job.defaults))


def test_metric_of_the_tasks_own_code_is_said_and_not_computed(tmp_path: Path) -> None:
    rows = [line(i, metrics=["acc", "odd"], acc=1, odd=i) for i in range(3)]
    write(tmp_path, rows, "samples_t_2026-01-01T00-00-00.0.jsonl")
    (tmp_path / "results_2026-01-01T00-00-00.0.json").write_text(
        '{"results": {"t": {"acc,none": 1.0, "odd,none": 7}}, "configs": {"t": {"metric_list": '
        '[{"metric": "odd", "aggregation": "<function best at 0x7f>"}]}}}'
    )
    (found,) = readers.read(str(tmp_path / "samples_t_2026-01-01T00-00-00.0.jsonl"))
    assert found.job is not None
    assert found.job.defaults == {"t": ({"type": "lm-eval/acc", "kwargs": {}},)}
    assert [d.rule for d in found.diagnostics] == ["aggregation-unknown"]
    assert "`odd` is aggregated by code of the task's own" in found.diagnostics[0].message


@pytest.mark.parametrize(
    ("metric", "given", "entry"),
    [
        ("acc", None, {"type": "lm-eval/acc", "kwargs": {}}),
        ("acc", "median", {"type": "lm-eval/median", "kwargs": {"key": "acc"}}),
        ("em", "mean", {"type": "lm-eval/mean", "kwargs": {"key": "em"}}),
        ("bleu", "bleu", {"type": "lm-eval/bleu", "kwargs": {}}),
        (
            "chrf",
            None,
            {
                "type": "lm-eval/chrf",
                "kwargs": {"reference": "chrf/reference", "prediction": "chrf/prediction"},
            },
        ),
        ("mcc", "mcc", {"type": "lm-eval/mcc", "kwargs": {}}),
        ("x", "f1", {"type": "lm-eval/f1", "kwargs": {"key": "x/1", "reference": "x/0"}}),
        ("brier_score", None, {"type": "lm-eval/mean", "kwargs": {"key": "brier_score"}}),
        (
            "pass@3(em)",
            "mean",
            {"type": "lm-eval/mean", "kwargs": {"key": "em", "reducer": "lm-eval/pass@3"}},
        ),
        ("pass@2(acc)", "mean", {"type": "lm-eval/mean", "kwargs": {"key": "pass@2(acc)"}}),
    ],
)
def test_entry_of_a_metric(metric: str, given: str | None, entry: dict[str, Any]) -> None:
    keys = {"acc", "em", "brier_score", "pass@2(acc)"}
    found = aggregated([(metric, given)], keys, {"reference", "chrf/reference"})
    assert found == ([entry], [])


def test_what_is_not_scored_has_no_metric() -> None:
    assert aggregated([("bypass", "bypass")], set(), set()) == ([], [])
