"""Intervals around means of rewards between 0 and 1, against published values."""

from __future__ import annotations

from fractions import Fraction

import pytest

from harbor_metrics.numbers.distributions import beta_cdf
from harbor_metrics.numbers.proportions import (
    clopper_pearson,
    effective_size,
    effective_wilson,
    jeffreys,
    korn_graubard,
    score,
    wilson,
)
from harbor_metrics.numbers.undefined import NoIntervalError
from harbor_metrics.numbers.units import Range, Units


def binary(numerators: list[int], denominators: list[int] | None = None) -> Units:
    return Units(numerators, denominators, rewards=Range.BINARY)


EIGHT_OF_TEN = binary([1] * 8 + [0] * 2)


def test_wilson_is_that_of_the_textbook() -> None:
    low, high = wilson(EIGHT_OF_TEN, 0.95)
    assert (low, high) == pytest.approx((0.4901624715, 0.9433178485), abs=1e-9)


def test_wilson_ends_at_0_and_1_exactly() -> None:
    assert wilson(binary([0] * 25), 0.95)[0] == 0.0
    assert wilson(binary([1] * 25), 0.95)[1] == 1.0


def test_ends_of_opposite_proportions_are_opposite() -> None:
    low, high = score(Fraction(1, 10**9), 50.0, 1.96)
    other_low, other_high = score(1 - Fraction(1, 10**9), 50.0, 1.96)
    assert (1 - other_high, 1 - other_low) == pytest.approx((low, high), abs=1e-15)
    assert low > 0


def test_one_reward_of_0_or_1_a_task_is_one_effective_reward() -> None:
    assert effective_size(EIGHT_OF_TEN) == 10
    assert effective_wilson(EIGHT_OF_TEN, 0.9) == wilson(EIGHT_OF_TEN, 0.9)


def test_attempts_that_agree_are_one_effective_reward_a_task() -> None:
    assert effective_size(binary([5, 0, 5], [5, 5, 5])) == 3
    assert effective_size(binary([0, 0, 0, 0], [5, 5, 5, 5])) == 4


def test_attempts_that_differ_are_never_more_than_they_are() -> None:
    alike = [1, 1, 1, 1], [2, 2, 2, 2]
    assert effective_size(binary(*alike)) == 8
    assert effective_size(Units(*alike, rewards=Range.SHARE)) > 8


def test_few_tasks_that_outweigh_all_others_are_worth_one_reward_or_more() -> None:
    units = Units([1000, 0, *[0, 1] * 20], [1000, 1000, *[1] * 40], rewards=Range.SHARE)
    assert effective_size(units) == 1


def test_wilson_of_several_attempts_is_the_effective_one() -> None:
    # The same ten rewards: tasks whose attempts agree tell less than ten of their own.
    clustered = binary([5, 3, 0, 0], [5, 3, 1, 1])
    low, high = wilson(clustered, 0.95)
    plain = wilson(EIGHT_OF_TEN, 0.95)
    assert low < plain[0] < plain[1] < high
    assert (low, high) == effective_wilson(clustered, 0.95)


@pytest.mark.parametrize("interval", [wilson, effective_wilson, korn_graubard])
def test_rewards_outside_0_and_1_are_refused_wherever_their_sums_lie(interval: type) -> None:
    # Tasks of 3 and -1, of -1 and 1, of 1 and 0.
    units = Units([2, 0, 1], [2, 2, 2], rewards=lambda: Range.of([3, -1, -1, 1, 1, 0]))
    with pytest.raises(NoIntervalError, match="between 0 and 1"):
        interval(units, 0.95)


@pytest.mark.parametrize(
    ("rewards", "range_"),
    [
        ([0, 1, 1.0], Range.BINARY),
        ([0, 0.5], Range.SHARE),
        ([1, 2], Range.POSITIVE),
        ([0.5, -0.1], Range.ANY),
        ([-0.0], Range.BINARY),
    ],
)
def test_range_is_that_of_every_reward(rewards: list[float], range_: Range) -> None:
    assert Range.of(rewards) is range_


def test_clopper_pearson_is_that_of_the_textbook() -> None:
    assert clopper_pearson(EIGHT_OF_TEN, 0.95) == pytest.approx(
        (0.4439045377, 0.9747892737), abs=1e-9
    )
    assert clopper_pearson(binary([0] * 5), 0.95) == (0.0, pytest.approx(1 - 0.025**0.2))


def test_jeffreys_leaves_the_same_chance_on_either_side() -> None:
    low, high = jeffreys(EIGHT_OF_TEN, 0.9)
    assert beta_cdf(low, 8.5, 2.5) == pytest.approx(0.05)
    assert beta_cdf(high, 8.5, 2.5) == pytest.approx(0.95)
    assert jeffreys(binary([0, 0]), 0.9)[0] == 0.0


@pytest.mark.parametrize("interval", [clopper_pearson, jeffreys])
def test_exact_intervals_need_independent_rewards_of_0_and_1(interval: type) -> None:
    with pytest.raises(NoIntervalError, match="independent rewards"):
        interval(binary([1, 2], [2, 2]), 0.95)
    with pytest.raises(NoIntervalError, match="0 or 1"):
        interval(Units([1, 2]), 0.95)
