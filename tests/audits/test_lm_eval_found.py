"""Honest runs of lm-eval that once audited wrong: no number differs, and a changed one is seen."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from conftest import LOGS, Run

from harbor_metrics import readers
from harbor_metrics.audits.lm_eval_numbers import Run as RunOfLmEval
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.trials.source import Reported, Source

RUNS = {
    "choices": {"equal": 36},
    "nan": {"equal": 8, "explained": 2},
    "predict_only": {"equal": 3, "explained": 1},
    # Of the other tasks of the run there are no samples.
    "predict_choices": {"explained": 2, "unverified": 9},
}


def sources(name: str) -> list[Source]:
    return readers.read(str(LOGS / "lm_eval" / "found" / name), with_scores=True)


def audited(read: list[Source]) -> list[Row]:
    run = RunOfLmEval(read)
    return [row for source in read for row in run.rows(source)]


@pytest.mark.parametrize("name", RUNS)
def test_found_run_audits_without_a_false_alarm(name: str) -> None:
    assert Counter(str(row.verdict) for row in audited(sources(name))) == RUNS[name]


@pytest.mark.parametrize("name", RUNS)
def test_every_number_of_a_found_run_is_seen_when_changed(name: str) -> None:
    read = sources(name)
    verified = [row.verdict != Verdict.UNVERIFIED for row in audited(read)]
    forged = [[_changed(each) for each in source.reported()] for source in read]
    for source, numbers in zip(read, forged, strict=True):
        source.reported = lambda numbers=numbers: numbers
    after = zip(audited(read), verified, strict=True)
    assert {row.verdict for row, was in after if was and row.reported is not None} == {
        Verdict.DIFFERS
    }


def _changed(number: Reported) -> Reported:
    if number.value is None:
        return number
    return msgspec.structs.replace(number, value=number.value * (1 + 1e-6) + 1e-6)


def test_samples_that_were_not_scored_have_no_rewards(cli: Run) -> None:
    (path,) = (LOGS / "lm_eval" / "found" / "predict_only").glob("samples_*")
    done = cli("compute", path)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "22 samples were not scored, because lm-eval ran with --predict_only" in said
    assert "mean — 22" in " ".join(done.stdout.split())
