"""Numbers of logs whose scores people edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_logs import log, metric, sample

from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Row, Verdict

BEFORE, AFTER = [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]


def edited(
    reported: float,
    history: list[list[Any]],
    reduced: list[float] | None = None,
) -> dict[str, Any]:
    """A log of the scores AFTER with a mean, the history of each score, and its reduced scores."""
    samples = []
    for i, (value, values) in enumerate(zip(AFTER, history, strict=True)):
        score = {"value": value, "history": [{"value": each} for each in values]}
        samples.append(sample(f"s{i}", value, scores={"num": score}))
    made = log(samples, metric("mean", reported))
    if reduced is not None:
        own = [{"value": v, "sample_id": f"s{i}"} for i, v in enumerate(reduced)]
        made["reductions"] = [{"scorer": "num", "reducer": "mean", "samples": own}]
    return made


def mean_of(tmp_path: Path, document: dict[str, Any]) -> Row:
    (tmp_path / "x.json").write_text(json.dumps(document))
    (row,) = (row for row in audit(str(tmp_path / "x.json")).rows if row.name == "num: mean")
    return row


OWN = [[], [1.0, 0.0], [], []]


@pytest.mark.parametrize(
    ("reported", "reduced", "verdict"),
    [
        (0.25, None, Verdict.EQUAL),
        (0.5, None, Verdict.EXPLAINED),
        (0.5, BEFORE, Verdict.EXPLAINED),
        (0.5, AFTER, Verdict.DIFFERS),
        (0.75, None, Verdict.DIFFERS),
        (0.75, BEFORE, Verdict.DIFFERS),
    ],
)
def test_history_explains_exactly_what_the_scores_before_give(
    reported: float, reduced: list[float] | None, verdict: Verdict, tmp_path: Path
) -> None:
    assert mean_of(tmp_path, edited(reported, OWN, reduced)).verdict == verdict


@pytest.mark.parametrize(
    "history",
    [
        [[], [1.0, 0.5], [], []],
        [[], [1.0], [], []],
        [[], [1.0, "UNCHANGED"], [], []],
    ],
)
def test_history_that_does_not_lead_to_the_score_explains_nothing(
    history: list[list[Any]], tmp_path: Path
) -> None:
    assert mean_of(tmp_path, edited(0.5, history)).verdict == Verdict.DIFFERS


def test_a_score_that_people_gave_was_not_there_before(tmp_path: Path) -> None:
    row = mean_of(tmp_path, edited(1 / 3, [[], [0.0], [], []]))
    assert row.verdict == Verdict.EXPLAINED
    assert "before those of 1 samples were edited" in row.reason
