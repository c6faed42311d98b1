"""What the configuration of a run of lm-eval says of its metrics."""

from __future__ import annotations

from pathlib import Path

import pytest
from lm_eval_folders import folder

from harbor_metrics import readers
from harbor_metrics.readers.lm_eval import configured
from harbor_metrics.readers.lm_eval.configured import Configured
from harbor_metrics.readers.lm_eval.reported import Numbers

N = 40
CONFIG = {
    "metric_list": [{"metric": f"m{i}", "aggregation": "median"} for i in range(N)],
    "filter_list": [{"name": f"f{i}", "metric_list": [{"metric": "m0"}]} for i in range(N)],
}


def test_each_list_of_metrics_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = []
    real = configured._aggregations
    monkeypatch.setattr(configured, "_aggregations", lambda x: lists.append(x) or real(x))
    run = Configured({"configs": {"t": CONFIG}})
    params = [run.params("t", f"m{i}", f"f{j}") for i in range(N) for j in range(N)]
    assert len(lists) == N + 1
    assert len(set(map(id, params))) == 2


def test_metrics_of_a_filter_count_before_those_of_the_task_and_the_first_of_two() -> None:
    given = [{"metric": "a", "aggregation": "mean"}, {"metric": "a", "aggregation": "f1"}, 7]
    own = {"name": "x", "metric_list": [{"metric": ["a"]}, {"metric": "a", "aggregation": "bleu"}]}
    run = Configured({"configs": {"t": {"metric_list": given, "filter_list": [own, None]}}})
    assert run.params("t", "a", "x") == run.params("t", "pass@2(a)", "x") == {"aggregation": "bleu"}
    assert run.params("t", "a", "y") == {"aggregation": "mean"}
    assert run.params("u", "a", "y") == run.params(None, "a", "y") == {}


def test_the_numbers_of_a_task_are_asked_for_once_for_all_its_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = Numbers.of
    monkeypatch.setattr(Numbers, "of", lambda own, task: asked.append(task) or real(own, task))
    readers.read(str(folder(tmp_path, tasks=1, filters=[f"f{i}" for i in range(N)])))
    assert asked == ["task0"]
