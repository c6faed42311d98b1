"""Metrics over a table become outcomes; scripts are handed to who runs scripts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from results_by_hand import outcome

from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.binding import bind
from harbor_metrics.evaluation.evaluate import evaluate
from harbor_metrics.evaluation.planned import Planned
from harbor_metrics.evaluation.result import Outcome
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

TABLE = Table([Trial(task=t, rewards={"r": r}, trial=t) for t, r in (("a", 1), ("b", 0))])
SCRIPT = MetricSpec(type="uv-script", kwargs={
    "script_path": "m.py", "git_url": "https://x.org/m", "git_commit_id": "0" * 40,
})  # fmt: skip


def planned(type_: str, **kwargs: object) -> Planned:
    return bind(type_, MetricSpec(type=type_, kwargs=kwargs), "registry")


def no_scripts(scripts: Sequence[Planned], table: Table) -> list[Outcome]:
    raise AssertionError("there is no script to run")


def outcomes(*metrics: Planned, table: Table = TABLE) -> list[Outcome]:
    return evaluate(metrics, table, missing=None, level=0.95, run_scripts=no_scripts)


def test_failed_metric_stops_no_other() -> None:
    failed, best = outcomes(planned("nonesuch"), planned("max"))
    assert (failed.status, failed.error.rule) == ("failed", "unknown-metric-type")
    assert (best.status, best.values) == ("ok", {"max": 1})


def test_metric_that_fails_over_these_trials_says_why() -> None:
    (failed,) = outcomes(planned("grouped", metric="mean", by="side"))
    assert failed.status == "failed"
    assert failed.error.rule == "missing-label"
    assert failed.kwargs == {"metric": "mean", "by": "side"}


def test_metric_without_any_value_is_undefined() -> None:
    (undefined,) = outcomes(planned("std"), table=Table(TABLE.trials[:1]))
    assert (undefined.status, undefined.values) == ("undefined", {"std": None})


def test_uncertainty_is_left_out_without_a_level() -> None:
    (sure,) = outcomes(planned("mean"))
    assert sure.uncertainty["mean"].level == 0.95
    (bare,) = evaluate([planned("mean")], TABLE, missing=None, level=None, run_scripts=no_scripts)
    assert bare.uncertainty == {}


def test_scripts_run_together_and_keep_their_places() -> None:
    script = bind("uv-script", SCRIPT, "registry")
    ran = []

    def run(scripts: Sequence[Planned], table: Table) -> list[Outcome]:
        ran.append((len(scripts), table))
        return [outcome(f"script {i}") for i, _ in enumerate(scripts)]

    made = evaluate(
        [script, planned("max"), script], TABLE, missing=None, level=None, run_scripts=run
    )
    assert [each.name for each in made] == ["script 0", "max", "script 1"]
    assert ran == [(2, TABLE)]


@pytest.mark.parametrize(("missing", "value"), [(None, 0.5), ("zero", 0.5), ("skip", 1)])
def test_policy_counts_where_the_metric_does_not_say(missing: str | None, value: float) -> None:
    table = Table([Trial(task="a", rewards={"r": 1}), Trial(task="b", rewards=None)])
    (made,) = evaluate(
        [planned("mean")], table, missing=missing, level=None, run_scripts=no_scripts
    )
    assert made.values == {"mean": value}
    assert made.kwargs == ({} if missing is None else {"missing": missing})
