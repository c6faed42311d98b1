"""Student's t and Fieller's ratio of influences."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harbor_metrics.numbers.differences import Influences, fieller, student


def influences(base: list[int], candidate: list[int]) -> Influences:
    """Of means over tasks with these values."""
    n = len(base)
    own = [[n * value - sum(side) for value in side] for side in (base, candidate)]
    return Influences(*own, denominator=n * n)


PAIRS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=40)


@given(PAIRS, st.sampled_from([0.9, 0.95, 0.99]))
def test_the_paired_t_test(pairs: list[tuple[int, int]], level: float) -> None:
    moved = influences([a for a, _ in pairs], [b for _, b in pairs])
    differences = [b - a for a, b in pairs]
    n, mean = len(pairs), Fraction(sum(differences), len(pairs))
    spread = sum((d - mean) ** 2 for d in differences) / (n - 1) / n
    assert moved.variance == spread
    assume(spread)
    found = student(float(mean), moved.variance, n - 1, level)
    assert found.low is not None
    assert found.high is not None
    assert found.p is not None
    assume(abs(found.p - (1 - level)) > 1e-9)
    assert (found.low > 0 or found.high < 0) == (found.p < 1 - level)


@given(PAIRS, st.sampled_from([0.9, 0.95]))
def test_the_ratio_leaves_out_1_where_t_rejects(pairs: list[tuple[int, int]], level: float) -> None:
    base, candidate = ([1 + pair[side] for pair in pairs] for side in (0, 1))
    moved = influences(base, candidate)
    assume(moved.variance)
    means = [Fraction(sum(side), len(side)) for side in (base, candidate)]
    ratio = fieller(means[0], means[1] - means[0], moved, level)
    assume(ratio is not None)
    assert ratio is not None
    found = student(float(means[1] - means[0]), moved.variance, len(pairs) - 1, level)
    assert found.p is not None
    assume(abs(found.p - (1 - level)) > 1e-6)
    assert (ratio.low > 0 or ratio.high < 0) == (found.p < 1 - level)
    assert ratio.low <= ratio.value + 1e-9
    assert ratio.value <= ratio.high + 1e-9


def test_no_ratio_to_a_base_that_may_be_0() -> None:
    half = Fraction(1, 2)
    assert fieller(half, 2 - half, influences([0, 0, 0, 2], [2, 2, 2, 2]), 0.95) is None
    assert fieller(Fraction(0), Fraction(2), influences([0, 0], [1, 2]), 0.95) is None


def test_a_difference_that_is_small_beside_the_base_has_its_share() -> None:
    """In binary64 the interval had no width, and did not hold its own value."""
    base = [10**9 + 7 * i for i in range(30)]
    candidate = [value + 25 + i % 7 for i, value in enumerate(base)]
    means = [Fraction(sum(side), len(side)) for side in (base, candidate)]
    moved = influences(base, candidate)
    ratio = fieller(means[0], means[1] - means[0], moved, 0.95)
    found = student(float(means[1] - means[0]), moved.variance, 29, 0.95)
    assert ratio is not None
    assert found.low is not None
    assert found.high is not None
    # The base varies so little that the share is the difference over it.
    for share, end in ((ratio.low, found.low), (ratio.high, found.high)):
        assert math.isclose(share, end / float(means[0]), rel_tol=1e-6)


def test_nothing_is_known_where_nothing_varies() -> None:
    assert student(0.5, Fraction(0), 3, 0.95).stderr is None


def test_the_squared_error_is_that_of_the_difference() -> None:
    moved = influences([1, 0, 1], [1, 1, 1])
    assert student(1 / 3, moved.variance, 2, 0.95).stderr == pytest.approx(1 / 3)
