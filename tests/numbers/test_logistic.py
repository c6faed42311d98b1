"""The likeliest logistic curve, where there is one."""

from __future__ import annotations

import math
import random

import pytest

from harbor_metrics.numbers import logistic
from harbor_metrics.numbers.logistic import NoCurveError, Point, fitted


def points(*shares: tuple[float, float]) -> list[Point]:
    return [Point(x, share, 1.0) for x, share in shares]


def test_a_curve_through_all_shares_is_found() -> None:
    shares = [(x, 1 / (1 + math.exp(-(0.5 - 0.75 * x)))) for x in (-3.0, -1.0, 0.0, 2.0, 7.0)]
    curve = fitted(points(*shares))
    assert curve == pytest.approx((0.5, -0.75), rel=1e-13)
    assert curve.crossing(0.5) == pytest.approx(2 / 3, rel=1e-13)


def test_the_likelihood_is_flat_at_the_curve() -> None:
    rng = random.Random(5)
    for _ in range(100):
        seen = [
            Point(rng.uniform(-1, 9), rng.choice([0, 0.25, 0.5, 1]), rng.choice([1, 2, 3]))
            for _ in range(30)
        ]
        curve = fitted(seen)
        for power in (0, 1):
            slope = math.fsum(
                p.weight * p.x**power * (p.share - 1 / (1 + math.exp(-curve[0] - curve[1] * p.x)))
                for p in seen
            )
            assert slope == pytest.approx(0, abs=1e-11)


def test_the_order_of_the_points_changes_no_bit() -> None:
    seen = points((0.1, 1), (1.7, 0.2), (2.3, 0.6), (3.1, 0), (5.9, 0.3))
    assert fitted(seen) == fitted(seen[::-1])


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ([(0, 1), (1, 1)], "all are successes"),
        ([(0, 0), (1, 0)], "all are failures"),
        ([(2, 0.5), (2, 1)], "at one place"),
        ([(0, 1), (1, 0)], "a step"),
        ([(0, 1), (1, 0.5), (2, 0)], "a step"),
        ([(0, 0), (1, 0.5), (2, 1)], "a step"),
    ],
)
def test_why_there_is_no_curve(shares: list[tuple[float, float]], why: str) -> None:
    with pytest.raises(NoCurveError, match=why):
        fitted(points(*shares))


def test_a_fit_that_does_not_settle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "_STEPS", 1)
    with pytest.raises(NoCurveError, match="did not settle in 1 steps"):
        fitted(points((0, 1), (1, 0.25), (2, 0.75), (5, 0)))
