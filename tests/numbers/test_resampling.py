"""Resampled means: the same for a seed, and spread as the closed form says."""

from __future__ import annotations

import statistics
from fractions import Fraction
from random import Random

import pytest

from harbor_metrics.numbers import exact
from harbor_metrics.numbers.resampling import binomial, closed_form, deviation, means
from harbor_metrics.numbers.units import Stratum, Units

WHOLE = Fraction(1)
FEW_VALUES = Units([0] * 30 + [1] * 70)
ALL_DIFFERENT = Units(list(range(50)))
CLUSTERS = Units([0, 2, 3, 1], [2, 2, 3, 4])


@pytest.mark.parametrize("units", [FEW_VALUES, ALL_DIFFERENT, CLUSTERS])
def test_draws_depend_on_the_seed_and_not_on_the_order(units: Units) -> None:
    drawn = means((Stratum(WHOLE, units),), 20, 7)
    sizes = units.denominators
    turned = Units(units.numerators[::-1], sizes and sizes[::-1], units.scale)
    assert means((Stratum(WHOLE, turned),), 20, 7) == drawn
    assert means((Stratum(WHOLE, units),), 20, 8) != drawn


@pytest.mark.parametrize("units", [FEW_VALUES, ALL_DIFFERENT])
def test_spread_of_many_draws_comes_near_the_closed_form(units: Units) -> None:
    strata = (Stratum(WHOLE, units),)
    spread = statistics.variance(means(strata, 4_000, 0))
    # The deviation of a variance of n draws is about sqrt(2 / n) of it: here 2 %.
    assert spread == pytest.approx(float(closed_form(strata)), rel=0.1)


def test_closed_form_is_the_population_variance_over_n() -> None:
    values = [0, 1, 1, 5]
    expected = Fraction(statistics.pvariance(map(Fraction, values))) / 4
    assert closed_form((Stratum(WHOLE, Units(values)),)) == expected


def test_strata_are_drawn_apart_and_weighed() -> None:
    ones, twos = Units([1, 1]), Units([2, 2])
    half = Fraction(1, 2)
    assert means((Stratum(half, ones), Stratum(half, twos)), 3, 0) == [1.5] * 3


@pytest.mark.parametrize(("n", "p"), [(20, 0.1), (1_000, 0.4), (1_000, 0.9), (50, 0.5)])
def test_binomial_has_its_mean_and_variance(n: int, p: float) -> None:
    rng = Random(3)
    drawn = [binomial(n, p, rng) for _ in range(4_000)]
    assert all(0 <= hits <= n for hits in drawn)
    within = 5 * (n * p * (1 - p) / 4_000) ** 0.5
    assert statistics.mean(drawn) == pytest.approx(n * p, abs=within)
    assert statistics.variance(drawn) == pytest.approx(n * p * (1 - p), rel=0.15)


def test_binomial_at_its_ends() -> None:
    rng = Random(0)
    assert (binomial(0, 0.5, rng), binomial(9, 0.0, rng), binomial(9, 1.0, rng)) == (0, 0, 9)


def test_deviation_is_rounded_once() -> None:
    values = [0.1, 0.2, 0.7]
    xs = [Fraction(value) for value in values]
    variance = Fraction(statistics.variance(xs))
    assert deviation(values) == exact.root(variance.numerator, variance.denominator)
