"""Units: the mean and its variance are those of the textbook, exactly."""

from __future__ import annotations

import statistics
from fractions import Fraction

import pytest

from harbor_metrics.numbers.undefined import NoIntervalError
from harbor_metrics.numbers.units import Units


def test_variance_of_single_units_is_the_sample_variance_over_n() -> None:
    values = [1, 4, 4, 9]
    units = Units(values)
    assert units.mean == Fraction(sum(values), 4)
    assert units.variance == Fraction(statistics.variance(map(Fraction, values))) / 4


def test_variance_of_clusters_is_that_of_the_sums_of_residuals() -> None:
    clusters = [[1, 0, 1], [0, 0], [1]]
    units = Units([sum(c) for c in clusters], [len(c) for c in clusters])
    mean = Fraction(2 + 0 + 1, 6)
    residuals = [sum(c) - mean * len(c) for c in clusters]
    assert units.mean == mean
    assert units.variance == Fraction(3, 2) * sum(r**2 for r in residuals) / 6**2


def test_counted_units_are_the_units_one_by_one() -> None:
    counted = Units([0, 3], [1, 2], 4, [2, 3])
    one_by_one = Units([0, 0, 3, 3, 3], [1, 1, 2, 2, 2], 4)
    assert counted.sums == one_by_one.sums
    assert (counted.mean, counted.variance) == (one_by_one.mean, one_by_one.variance)


def test_scale_divides_the_mean_and_its_square_the_variance() -> None:
    whole, tenths = Units([1, 2, 6]), Units([1, 2, 6], None, 10)
    assert tenths.mean == whole.mean / 10
    assert tenths.variance == whole.variance / 100


def test_binary_units_are_single_rewards_of_0_and_1() -> None:
    assert Units([0, 8], None, 8).binary
    assert Units([0, 1], [1, 1]).binary
    assert not Units([0, 4], None, 8).binary
    assert not Units([0, 1], [1, 2]).binary


def test_one_unit_has_no_variance() -> None:
    with pytest.raises(NoIntervalError, match="single reward"):
        _ = Units([3]).variance
