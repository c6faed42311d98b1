"""Reducers of Inspect with another threshold than 1, which logs do not name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_logs import archived, log, metric, sample, write

from harbor_metrics import readers
from harbor_metrics.audits import inspect_numbers
from harbor_metrics.audits.inspect_reducers import reduced
from harbor_metrics.audits.inspect_scores import Scored
from harbor_metrics.audits.row import Row, Verdict

Values = list[list[float]]
THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 2.0)
SHARES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
SCORES = st.lists(st.lists(SHARES, min_size=3, max_size=3), min_size=2, max_size=6)


def behind(values: Values, reducer: str, threshold: float) -> list[float]:
    """One value a sample, as Inspect reduces its epochs."""
    scores = [Scored(f"s{i}", v, {}, {}) for i, own in enumerate(values) for v in own]
    return [score.value for score in reduced(scores, reducer, threshold) or []]


def mean_and_variance(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def document(
    values: Values,
    reported: tuple[float, ...],
    *,
    reducer: str = "pass_at_2",
    kept: list[list[float]] | None = None,
) -> dict[str, Any]:
    """A log of the scores, with a mean and a variance, and the reduced scores that it keeps."""
    samples = [
        sample(f"s{i}", value, epoch=epoch)
        for i, own in enumerate(values)
        for epoch, value in enumerate(own, start=1)
    ]
    names = ("mean", "var")
    numbers = [metric(names[i], value) for i, value in enumerate(reported)]
    made: dict[str, Any] = log(samples, *numbers)
    made["results"]["scores"][0]["reducer"] = reducer
    made["eval"]["dataset"]["samples"] = len(values)
    made["eval"]["config"] = {"epochs": 3, "epochs_reducer": [reducer]}
    made["reductions"] = [
        {
            "scorer": "num",
            "reducer": reducer,
            "samples": [{"value": v, "sample_id": f"s{i}"} for i, v in enumerate(own)],
        }
        for own in kept or []
    ]
    return made


def audited(folder: Path, made: dict[str, Any]) -> list[Row]:
    (folder / "x.json").write_text(json.dumps(made))
    (source,) = readers.read(str(folder / "x.json"), with_scores=True)
    return [row for row in inspect_numbers.rows(source) if ": " in row.name]


@given(
    values=SCORES,
    true=st.sampled_from(THRESHOLDS),
    other=st.sampled_from(THRESHOLDS),
    reducer=st.sampled_from(["pass_at_2", "pass_k_2", "at_least_1", "at_least_2"]),
    place=st.integers(0, 1),
    keeps=st.booleans(),
)
def test_no_forged_number_is_equal_or_explained(
    values: Values,
    true: float,
    other: float,
    reducer: str,
    place: int,
    keeps: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # A log that keeps no reduced scores shows no difference to one of Inspect's own threshold.
    own = behind(values, reducer, true if keeps else 1.0)
    honest = list(mean_and_variance(own))
    forged = mean_and_variance(behind(values, reducer, other))[place]
    folder = tmp_path_factory.mktemp("log")
    kept = [own] if keeps else None
    rows = audited(folder, document(values, tuple(honest), reducer=reducer, kept=kept))
    assert Verdict.DIFFERS not in [row.verdict for row in rows]
    if forged == pytest.approx(honest[place], abs=1e-9):
        forged += 0.125
    honest[place] = forged
    rows = audited(folder, document(values, tuple(honest), reducer=reducer, kept=kept))
    if keeps:
        assert rows[place].verdict == Verdict.DIFFERS
    else:
        assert rows[place].verdict in (Verdict.DIFFERS, Verdict.UNVERIFIED)


VALUES = [[0.5, 0.5, 0.0], [1.0, 1.0, 0.0], [0.0, 0.25, 0.0], [0.5, 0.0, 0.0]]


def test_threshold_that_reduced_scores_show_explains(tmp_path: Path) -> None:
    own = behind(VALUES, "pass_at_2", 0.5)
    made = document(VALUES, mean_and_variance(own), kept=[own])
    rows = audited(tmp_path, made)
    assert [row.verdict for row in rows] == [Verdict.EXPLAINED] * 2
    assert "took scores of 0.5 and more for passes, as the log's reduced" in rows[0].reason
    packed = write(tmp_path / "x.eval", {**archived(made, made["samples"]), "reductions.json": []})
    assert _verdicts(packed) == [Verdict.UNVERIFIED] * 2
    content = {**archived(made, made["samples"]), "reductions.json": made["reductions"]}
    assert _verdicts(write(packed, content)) == [Verdict.EXPLAINED] * 2


def _verdicts(path: Path) -> list[Verdict]:
    (source,) = readers.read(str(path), with_scores=True)
    return [row.verdict for row in inspect_numbers.rows(source) if ": " in row.name]


def test_threshold_that_reduced_scores_do_not_show_leaves_numbers_unverified(
    tmp_path: Path,
) -> None:
    mean, variance = mean_and_variance(behind(VALUES, "pass_at_2", 0.5))
    for numbers in ((mean, variance), (mean,)):
        rows = audited(tmp_path, document(VALUES, numbers))
        assert {row.verdict for row in rows} == {Verdict.UNVERIFIED}
        assert "it is right if `pass_at_2` took scores of 0.5 and more" in rows[0].reason
    rows = audited(tmp_path, document(VALUES, (mean, variance + 0.01)))
    assert [row.verdict for row in rows] == [Verdict.DIFFERS] * 2


@pytest.mark.parametrize(("threshold", "number"), [(9.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("keeps", [True, False])
def test_threshold_that_all_scores_or_none_reach_explains_nothing(
    threshold: float, number: float, keeps: bool, tmp_path: Path
) -> None:
    own = behind(VALUES, "at_least_1", threshold)
    kept = [own] if keeps else None
    rows = audited(tmp_path, document(VALUES, (number,), reducer="at_least_1", kept=kept))
    assert [row.verdict for row in rows] == [Verdict.UNVERIFIED]


def test_reduced_scores_that_no_threshold_gives_excuse_nothing(tmp_path: Path) -> None:
    own = behind(VALUES, "pass_at_2", 0.5)
    changed = [own[0] / 2, *own[1:]]
    rows = audited(tmp_path, document(VALUES, mean_and_variance(own), kept=[changed]))
    assert [row.verdict for row in rows] == [Verdict.DIFFERS] * 2


def test_two_reducers_of_one_name_leave_a_number_unverified(tmp_path: Path) -> None:
    kept = [behind(VALUES, "pass_at_2", t) for t in (1.0, 0.5)]
    rows = audited(tmp_path, document(VALUES, mean_and_variance(kept[1]), kept=kept))
    assert [row.verdict for row in rows] == [Verdict.UNVERIFIED] * 2
    assert "two reducers are named `pass_at_2`" in rows[0].reason
