"""What a metric script answers on both sides, and how sure its difference is."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from comparison.runs_by_hand import write_run
from conftest import ROOT, trial, write_job
from metric_scripts import BLOCK, HEAD, linux, registry_of

from harbor_metrics import compare
from harbor_metrics.comparison.document import Row
from harbor_metrics.comparison.finding import Asked
from harbor_metrics.comparison.pairing import pair
from harbor_metrics.comparison.rows import rows_of
from harbor_metrics.comparison.settings import Settings
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.asked import plan_asked
from harbor_metrics.evaluation.planned import Planned
from harbor_metrics.evaluation.result import Failure, Outcome
from harbor_metrics.trials.column import Column
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

# Any script: what is run in its place stands below.
FILE = ROOT / "registry" / "metrics" / "spread.py"
SCRIPT = plan_asked(MetricSpec(type="uv-script", kwargs={"script_path": str(FILE)}))


def table(seed: int, n: int) -> Table:
    rng = random.Random(seed)
    return Table(
        [Trial(task=f"t{i:02}", rewards={"reward": rng.random()}, attempt=j)
         for i in range(n) for j in range(3)]
    )  # fmt: skip


class Script:
    """A script that answers with the mean reward, and counts how often it was run."""

    def __init__(self, fewest: int = 0) -> None:
        self.runs = 0
        self.fewest = fewest

    def __call__(self, planned: Sequence[Planned], over: Table) -> list[Outcome]:
        self.runs += 1
        rewards = [trial.rewards["reward"] for trial in over if trial.rewards]
        given: dict[str, Any] = {"name": "uv-script", "type": "uv-script", "kwargs": {},
                                 "origin": "command-line", "n": {}, "reasons": {}}  # fmt: skip
        if len(rewards) < self.fewest:
            error = Failure(rule="script-failed", message="too few")
            return [Outcome(**given, status="failed", values={}, error=error)]
        return [Outcome(**given, status="ok", values={"mean": sum(rewards) / len(rewards)})]


def compared(planned: Planned, script: Script, n: int = 20, **asked: Any) -> Row:
    whole = Asked(planned, Settings(**asked), None, script, ("base", "new"), ["reward"])
    (row,) = rows_of(whole, pair(table(1, n), table(2, n)))
    return row


def test_without_being_asked_a_script_is_run_once_a_side() -> None:
    script = Script()
    row = compared(SCRIPT, script)
    assert script.runs == 2
    assert (row.low, row.p) == (None, None)
    assert row.reason is not None
    assert "--script-error-bars" in row.reason


def test_the_interval_of_a_mean_is_that_of_the_mean() -> None:
    script = Script()
    row = compared(SCRIPT, script, script_error_bars=True)
    known = compared(plan_asked("mean"), Script())
    assert script.runs == 2 * 21
    assert row.method == "jackknife"
    for name in ("difference", "stderr", "low", "high", "p"):
        assert getattr(row, name) == pytest.approx(getattr(known, name), rel=1e-9)
    assert row.verdict == "~"


def test_of_many_tasks_twenty_groups_are_left_out() -> None:
    script = Script()
    row = compared(SCRIPT, script, n=70, script_error_bars=True)
    assert script.runs == 2 * 21
    assert (row.n, row.df) == (70, 19)


def test_a_script_that_fails_without_some_tasks_fails() -> None:
    row = compared(SCRIPT, Script(fewest=60), script_error_bars=True)
    assert row.value is None
    assert row.reason == "base: too few"


@pytest.mark.parametrize("more", [{"over": "attempts"}, {"cluster": "repo"}])
def test_error_bars_of_scripts_are_over_tasks(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="for intervals over tasks"):
        Settings(script_error_bars=True, **more).check()


DATA = BLOCK + HEAD + "answer(x=int(open(os.environ['HARBOR_METRICS_SCRIPT_DIR'] + '/w').read()))"
ENTRY = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}


@linux
@pytest.mark.usefixtures("own_caches")
@pytest.mark.parametrize("with_registry", [["b"], ["a"], ["a", "b"]])
def test_script_that_is_asked_for_is_the_users_file_on_both_sides(
    with_registry: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A registry that comes with a run has the same text, and other data beside it."""
    monkeypatch.chdir(tmp_path)
    for folder, weight in ((tmp_path, "1"), (tmp_path / "a", "2"), (tmp_path / "b", "3")):
        folder.mkdir(exist_ok=True)
        (folder / "m.py").write_text(DATA)
        (folder / "w").write_text(weight)
        if folder.name in with_registry:
            registry = registry_of(folder, ENTRY)
            registry.write_text(registry.read_text().replace('"name": "d"', '"name": "demo"'))
    named = [{"name": "demo", "version": "1", "registry_path": "registry.json"}]
    runs = [
        write_job(Path(run, "job"), [trial("a", {"r": 1}, id=run)], datasets=named) for run in "ab"
    ]
    (pair,) = compare(*runs, metrics=json.dumps(ENTRY)).comparisons
    assert (1, 1) in [(row.base, row.candidate) for row in pair.rows]


def test_function_of_the_callers_own_has_a_row_beside_a_metric_of_its_name(tmp_path: Path) -> None:
    def mean(rewards: Column) -> float:
        return 7.0 + len(rewards.values)

    runs = [write_run(tmp_path / f"{name}.jsonl", {"t": [1.0, 0.0]}, agent=name) for name in "ab"]
    (pair,) = compare(*runs, metrics=[mean]).comparisons
    assert sorted((row.metric, row.base) for row in pair.rows) == [("mean", 0.5), ("mean", 9.0)]
