"""Trials that Harbor leaves out of its numbers since 0.26 count, or not, as in the job's own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import JOBS, Run, trial, write_job
from conftest import registry_of_job as registry

import harbor_metrics
from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Verdict
from harbor_metrics.evaluation.result import Group
from harbor_metrics.readers.harbor import job as reader

LEFT_OUT = JOBS / "left-out"


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Fourteen trials that Harbor 0.26 ran: five have no valid reward, two of these have one."""
    return shutil.copytree(LEFT_OUT, tmp_path / "job")


def group(job: Path, **more: Any) -> Group:
    (found,) = harbor_metrics.compute(job, registry=registry("left-out"), **more).groups
    return found


def values(job: Path, **more: Any) -> list[Any]:
    return [outcome.values for outcome in group(job, **more).metrics]


def rules_said(job: Path) -> dict[str, str]:
    found = harbor_metrics.compute(job, registry=registry("left-out")).found
    return {each.rule: each.message for each in found}


def test_what_is_left_out_is_counted_and_named() -> None:
    result = harbor_metrics.compute(LEFT_OUT, registry=registry("left-out"))
    counts = result.groups[0].counts
    assert (counts.found, counts.scored, counts.missing, counts.left_out) == (14, 9, 5, 5)
    assert (counts.errored, counts.tasks, counts.expected) == (11, 5, 14)
    assert result.complete
    assert result.groups[0].exceptions["ApiRateLimitError"] == 2
    (said,) = [d for d in result.found if d.rule == "trials-left-out"]
    assert "5 of 14 trials without a valid reward" in said.message
    assert "ApiRateLimitError (2), RewardFileNotFoundError (3)" in said.message
    assert said.notes[0] == "2 tasks without any other trial"


def test_how_to_count_what_is_left_out_names_what_was_read(cli: Run, tmp_path: Path) -> None:
    """A trials file was to be converted as if it were a job."""
    shutil.copytree(LEFT_OUT, tmp_path / "my job")
    cli("convert", "my job", "-o", "trials.jsonl")
    helped = {}
    for name in ("my job", "trials.jsonl"):
        said = " ".join(cli("compute", name, "--metric", "mean").stderr.split())
        helped[name] = said.partition("to count them: ")[2]
    assert helped["my job"].startswith("`harbor-metrics convert 'my job' -o trials.jsonl`, without")
    assert helped["trials.jsonl"].startswith("remove `left_out` from the lines of trials.jsonl")


def test_older_jobs_say_nothing_of_it() -> None:
    result = harbor_metrics.compute(JOBS / "single", registry=registry("single"))
    assert result.groups[0].counts.left_out is msgspec.UNSET
    assert result.groups[0].counts.missing
    assert not [d for d in result.found if d.rule == "trials-left-out"]


def test_table_tells_it(cli: Run) -> None:
    shown = cli("compute", LEFT_OUT, "--registry", registry("left-out"))
    assert "14 trials, 5 tasks, 5 missing, 11 errored, 5 left out" in shown.stdout
    assert "6 of 9 / 5" in shown.stdout


def test_job_that_an_older_harbor_resumed_counts_as_that_one_does(job: Path) -> None:
    changed(job / "result.json", lambda document: document.pop("schema_version"))
    assert group(job).counts.left_out is msgspec.UNSET
    # Two trials with a reward of 1 that 0.26 leaves out, and three without one that are 0.
    assert values(job) == [{"mean": 8 / 14}, {"sum": 8.0}]


def test_without_the_jobs_own_result_the_trials_tell(job: Path) -> None:
    (job / "result.json").unlink()
    assert group(job).counts.left_out == 5
    assert values(job) == values(LEFT_OUT)


def test_trials_of_an_older_harbor_in_a_job_of_a_newer_one_are_judged_by_their_errors(
    job: Path,
) -> None:
    for path in job.glob("*/result.json"):
        changed(path, lambda document: document.pop("reward_valid"))
    assert values(job) == values(LEFT_OUT)


def test_trial_with_rewards_and_without_an_error_counts_whatever_it_says(job: Path) -> None:
    for path in job.glob("late__*/result.json"):
        changed(path, lambda d: d.update(reward_valid=False, exception_info=None))
    assert values(job) == values(LEFT_OUT)


@pytest.mark.parametrize("said", [True, False])
def test_what_a_trial_says_of_its_reward_is_not_believed_and_is_said(job: Path, said: bool) -> None:
    """`reward_valid: false` took two trials with a reward of 0 out of the mean."""
    for path in job.glob("*/result.json"):
        changed(path, lambda d: d.update(reward_valid=said))
    assert values(job) == values(LEFT_OUT)
    assert rules_said(job)["reward-valid-differs"].startswith(f"{5 if said else 9} trials of ")
    assert "reward-valid-differs" not in rules_said(LEFT_OUT)


@pytest.mark.parametrize("pattern", ["late__*", "limited__*"])
def test_policy_of_an_error_says_whether_a_reward_after_it_is_valid(
    job: Path, pattern: str
) -> None:
    valid = pattern.startswith("limited")
    own = {"has_valid_reward": valid}
    for path in job.glob(f"{pattern}/result.json"):
        changed(path, lambda d: d["exception_info"].update(policy_override=own))
    assert group(job).counts.left_out == (3 if valid else 7)
    assert "reward-valid-differs" in rules_said(job)


def test_trials_of_a_later_harbor_than_the_jobs_result_are_said(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "older-result" not in rules_said(job)
    changed(job / "result.json", lambda document: document.pop("schema_version"))
    assert "14 trials" in rules_said(job)["older-result"]
    monkeypatch.setattr(reader, "_COUNTS_PAY", 1)
    monkeypatch.setattr(reader, "_HALF_PAYS", 1)
    assert "14 trials" in rules_said(job)["older-result"]


def test_rewards_without_a_key_are_not_valid(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("a", {"reward": 1}), trial("b", {})])
    changed(job / "result.json", lambda document: document.update(schema_version=1))
    (found,) = harbor_metrics.compute(job).groups
    assert found.metrics[0].values == {"mean": 1.0}
    assert found.counts.left_out == 1


def test_all_left_out_is_no_score_and_audits_equal(job: Path) -> None:
    for path in job.glob("*/result.json"):
        if not path.parent.name.startswith(("foggy", "limited")):
            shutil.rmtree(path.parent)

    def fewer(document: dict[str, Any]) -> None:
        document["n_total_trials"] = 4
        stats = document["stats"]
        stats["n_completed_trials"] = stats["n_errored_trials"] = 4
        (own,) = stats["evals"].values()
        own |= {"n_trials": 0, "n_errors": 4, "metrics": [], "pass_at_k": {}, "reward_stats": {}}
        errors = own["exception_stats"]
        own["exception_stats"] = {
            "ApiRateLimitError": errors["ApiRateLimitError"],
            "RewardFileNotFoundError": [
                name for name in errors["RewardFileNotFoundError"] if name.startswith("foggy")
            ],
        }

    changed(job / "result.json", fewer)
    result = harbor_metrics.compute(job, registry=registry("left-out"))
    assert not result.ok
    (said,) = [d for d in result.found if d.rule == "nothing-scored"]
    assert "0 of 4 trials of dataset sails have valid rewards" in said.message
    assert said.notes == ("Harbor reports no number here",)
    assert [outcome.values["mean"] for outcome in result.groups[0].metrics[:1]] == [None]
    done = audit(str(job), registry=[registry("left-out")])
    assert done.count(Verdict.DIFFERS) == 0
    changed(
        job / "result.json",
        lambda document: next(iter(document["stats"]["evals"].values())).update(
            metrics=[{"mean": 0.0}, {"sum": 0.0}]
        ),
    )
    assert not audit(str(job), registry=[registry("left-out")]).ok


def test_counted_trials_are_left_out_as_kept_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = group(LEFT_OUT)
    monkeypatch.setattr(reader, "_COUNTS_PAY", 1)
    assert group(LEFT_OUT) == kept


def test_converted_trials_keep_what_they_are(cli: Run, tmp_path: Path) -> None:
    assert cli("convert", LEFT_OUT, "-o", "trials.jsonl").returncode == 0
    lines = (tmp_path / "trials.jsonl").read_text().splitlines()
    assert sum(json.loads(line).get("left_out", False) for line in lines) == 5
    (found,) = harbor_metrics.compute(tmp_path / "trials.jsonl", metrics=["sum"]).groups
    assert [each.values for each in found.metrics] == values(LEFT_OUT)
    assert found.counts.left_out == 5


def test_no_column_of_parquet_says_it(cli: Run) -> None:
    pytest.importorskip("duckdb")
    refused = cli("convert", LEFT_OUT, "-o", "trials.parquet")
    assert refused.returncode == 3
    assert "no column of Parquet says so" in refused.stderr


def test_leaderboard_row_shows_all_trials_that_ran(cli: Run) -> None:
    done = cli("compute", LEFT_OUT, "--registry", registry("left-out"), "--format", "hub-rows")
    (row,) = json.loads(done.stdout)["rows"]
    assert len(row["trial_ids"]) == row["metrics"]["trials"] == 14
    assert row["metrics"]["scored"] == 9
