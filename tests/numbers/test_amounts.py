"""Intervals around means of amounts: Student's t, and Hall's for skewness."""

from __future__ import annotations

from fractions import Fraction

import pytest

from harbor_metrics.numbers.amounts import Moments, hall, of_strata, student
from harbor_metrics.numbers.distributions import t_quantile
from harbor_metrics.numbers.undefined import NoIntervalError
from harbor_metrics.numbers.units import Stratum, Units


def alone(units: Units) -> tuple[Stratum]:
    return (Stratum(Fraction(1), units),)


def test_student_lies_around_the_mean_by_t_standard_errors() -> None:
    moments = of_strata(alone(Units([1, 3, 8])))
    width = t_quantile(0.975, 2) * moments.error
    assert student(4, moments, 0.95) == pytest.approx((4 - width, 4 + width))


def test_student_of_strata_has_the_degrees_of_welch_and_satterthwaite() -> None:
    # Equal sizes and variances: all the degrees of freedom of both.
    parts = tuple(Stratum(Fraction(1, 2), Units([0, 1, 2])) for _ in range(2))
    assert of_strata(parts).freedom == 4


def test_without_variance_there_are_no_moments() -> None:
    with pytest.raises(NoIntervalError, match="same value"):
        of_strata(alone(Units([1, 1])))


def test_skewness_is_that_of_the_sample_over_the_root_of_n() -> None:
    values = [1, 2, 3, 10]
    mean = sum(values) / 4
    second, third = (sum((v - mean) ** power for v in values) / 4 for power in (2, 3))
    found = of_strata(alone(Units([v * 3 for v in values], None, 3))).skewness
    assert found == pytest.approx(third / second**1.5 / 2)


def test_unequal_tasks_are_taken_by_what_they_add_to_the_mean() -> None:
    # Tasks of one attempt and of two: Σ(n - mean·d)³ over the influences.
    units = Units([1, 8, 3], [1, 2, 1])
    off = [n - 3 * d for n, d in zip((1, 8, 3), (1, 2, 1), strict=True)]
    assert units.mean == 3
    assert units.third_moment == Fraction(sum(x**3 for x in off), 4**3)
    counted = Units([1, 8, 3], [1, 2, 1], 1, [2, 1, 1])
    one_by_one = Units([1, 1, 8, 3], [1, 1, 2, 1])
    assert counted.third_moment == one_by_one.third_moment


def test_without_skewness_hall_is_student() -> None:
    moments = Moments(2.0, 0.0, 5.0)
    assert hall(10, moments, 0.95, positive=False) == student(10, moments, 0.95)
    nearly = hall(10, Moments(2.0, 1e-12, 5.0), 0.95, positive=False)
    assert nearly == pytest.approx(student(10, moments, 0.95))


def test_hall_reaches_farther_to_the_side_of_the_tail() -> None:
    low, high = hall(10, Moments(1.0, 0.5, 9.0), 0.95, positive=False)
    assert high - 10 > 10 - low
    assert hall(10, Moments(1.0, -0.5, 9.0), 0.95, positive=False) == (
        pytest.approx(20 - high),
        pytest.approx(20 - low),
    )


def test_hall_of_what_is_never_negative_stays_above_0() -> None:
    moments = Moments(3.0, 0.1, 4.0)
    assert hall(4, moments, 0.95, positive=False)[0] < 0
    assert 0 < hall(4, moments, 0.95, positive=True)[0] < 4


def test_an_end_beyond_binary64_is_refused() -> None:
    with pytest.raises(NoIntervalError, match="beyond the largest"):
        student(1e308, Moments(1e308, 0.0, 1.0), 0.95)
