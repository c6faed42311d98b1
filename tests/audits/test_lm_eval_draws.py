"""Errors that lm-eval draws: replayed with its seeds, or judged by fewer draws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from harbor_metrics.audits import lm_eval_draws
from harbor_metrics.audits.lm_eval_aggregations import AGGREGATIONS
from harbor_metrics.audits.lm_eval_draws import Budget, Replay, _prepared
from harbor_metrics.audits.row import Drawn, Known, Unknown

RNG = Random(5)
PAIRS = [[RNG.randrange(2), RNG.randrange(2)] for _ in range(30)]
WEIGHTED = [[-9 * RNG.random(), RNG.randrange(1, 9)] for _ in range(30)]
VALUES = [-5 * RNG.random() for _ in range(30)]
CASES: dict[str, Sequence[Any]] = {
    "median": VALUES, "nanmean": VALUES, "perplexity": VALUES, "f1": PAIRS,
    "matthews_corrcoef": PAIRS, "weighted_perplexity": WEIGHTED, "bits_per_byte": WEIGHTED,
}  # fmt: skip


def plainly(name: str, values: Sequence[Any], draws: int) -> float:
    """As lm-eval's own code does it: chunks of at most 1,000, each with its number as seed."""
    chunk = min(1000, draws)
    return statistics.stdev(
        AGGREGATIONS[name](rng.choices(values, k=len(values)))
        for number in range(draws // chunk)
        for rng in [Random(number)]
        for _ in range(chunk)
    )


@pytest.mark.parametrize("draws", [7, 1000, 2500])
@pytest.mark.parametrize("name", CASES)
def test_error_is_that_of_lm_evals_own_draws(name: str, draws: int) -> None:
    answer = Replay().error(name, CASES[name], draws)
    assert answer == Known(pytest.approx(plainly(name, CASES[name], draws), rel=1e-12))


def test_beyond_the_most_draws_an_error_is_judged_by_fewer_of_them() -> None:
    answer = Replay(most=2000).error("median", VALUES, 100_000)
    assert isinstance(answer, Drawn)
    assert answer.value == pytest.approx(plainly("median", VALUES, 2000))
    assert abs(answer.value - plainly("median", VALUES, 20_000)) < 5 * answer.error
    assert 0.005 < answer.error / answer.value < 0.05
    assert "2,000 of its 100,000 draws" in answer.reason


def test_too_few_draws_judge_nothing() -> None:
    assert isinstance(Replay(most=0).error("median", VALUES, 100), Unknown)


def test_by_default_as_many_are_drawn_as_for_500_documents() -> None:
    calls: list[tuple[int, int]] = []
    replay = Replay(progress=lambda done, total: calls.append((done, total)))
    replay.error("f1", PAIRS, 3000)
    assert calls == [(1000, 3000), (2000, 3000), (3000, 3000)]
    many = PAIRS * 40_000
    assert isinstance(replay.error("f1", many, 100_000), Unknown)


def test_the_same_error_is_drawn_once() -> None:
    calls: list[int] = []
    replay = Replay(progress=lambda done, _: calls.append(done))
    assert replay.error("f1", PAIRS, 100) == replay.error("f1", PAIRS, 100)
    assert calls == [100]


def test_however_many_errors_there_are_no_more_is_drawn_than_for_a_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lm_eval_draws, "_MOST_VALUES", 3_000)
    monkeypatch.setattr(lm_eval_draws, "_MOST_ALTOGETHER", 10_000)
    drawn: list[int] = []
    replay = Replay(progress=lambda done, _: drawn.append(done))
    answers = [replay.error("median", [float(i), *VALUES], 10**9) for i in range(50)]
    assert sum(drawn) * len(VALUES) <= 10_000
    assert isinstance(answers[0], Drawn)
    assert isinstance(answers[-1], Unknown)
    assert "of its 1,000,000,000 draws were replayed (--most-draws)" in answers[-1].reason
    assert not replay.is_short


def test_a_run_that_others_leave_too_few_draws_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong error of the user's was unverified beside a stranger's run, and the exit code 0."""
    monkeypatch.setattr(lm_eval_draws, "_MOST_ALTOGETHER", 200_000)
    budget = Budget()
    first, second = Replay(budget=budget), Replay(budget=budget)
    assert isinstance(first.error("median", VALUES, 10**9), Drawn)
    second.error("median", VALUES, 1000)
    assert (first.is_short, second.is_short) == (False, True)
    # What cannot be drawn takes nothing.
    failing, other = Replay(budget=(shared := Budget())), Replay(budget=shared)
    with pytest.raises(TypeError):
        failing.error("f1", [1.0, 2.0], 10**9)
    other.error("median", VALUES, 100)
    assert not other.is_short


def test_of_few_documents_no_more_is_drawn_than_can_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lm_eval_draws, "_MOST_DRAWS", 2_000)
    answer = Replay().error("median", VALUES[:3], 10**9)
    assert "2,000 of its 1,000,000,000 draws" in getattr(answer, "reason", "")


def test_nan_in_a_resample_makes_the_error_undefined() -> None:
    answer = Replay().error("nanmean", [math.nan, math.nan, 1.0], 1000)
    assert answer == Known(None, "the number of a resample is NaN")


@pytest.mark.parametrize("name", ["brier_score", "likelihood", "f1", "matthews_corrcoef"])
def test_what_is_drawn_from_gives_the_same_as_the_values(name: str) -> None:
    rng = Random(3)
    scored = [[rng.randrange(2), [rng.random(), rng.random()]] for _ in range(40)]
    guessed = [[rng.randrange(2), rng.randrange(2)] for _ in range(40)]
    values = scored if name in ("brier_score", "likelihood") else guessed
    items, statistic = _prepared(name, values)
    for number in range(20):
        drawn = Random(number).choices(range(40), k=40)
        plain = AGGREGATIONS[name]([values[i] for i in drawn])
        assert statistic([items[i] for i in drawn]) == pytest.approx(plain, rel=1e-14)
