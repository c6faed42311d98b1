"""Standard errors, and which interval the rewards call for."""

from __future__ import annotations

import statistics
from fractions import Fraction

import pytest
from msgspec import structs

from harbor_metrics.numbers.uncertainty import Interval, fewest, interval, range_of, stderr
from harbor_metrics.numbers.undefined import NoIntervalError
from harbor_metrics.numbers.units import Range, Stratum, Units


def alone(units: Units) -> tuple[Stratum]:
    return (Stratum(Fraction(1), units),)


def shares(*numerators: int, scale: int = 1) -> Units:
    return Units(numerators, None, scale, rewards=Range.SHARE)


def test_standard_error_is_the_deviation_over_the_root_of_n() -> None:
    values = [1, 3, 8]
    assert stderr(alone(Units(values))) == pytest.approx(statistics.stdev(values) / 3**0.5)


def test_errors_of_strata_add_by_squared_weights() -> None:
    parts = (Stratum(Fraction(1, 4), Units([0, 2])), Stratum(Fraction(3, 4), Units([0, 6])))
    assert stderr(parts) == pytest.approx((1 / 16 * 1 + 9 / 16 * 9) ** 0.5)
    assert fewest((*parts, Stratum(Fraction(0), Units([1, 2, 3])))) == 2


@pytest.mark.parametrize(
    ("units", "words"), [(Units([1]), "single reward"), (Units([3], [4]), "single cluster")]
)
def test_one_unit_has_no_standard_error(units: Units, words: str) -> None:
    with pytest.raises(NoIntervalError, match=words):
        stderr(alone(units))


def test_range_of_a_mean_of_means_is_the_widest_of_its_parts() -> None:
    parts = [Stratum(Fraction(1, 2), structs.replace(shares(0, 1), rewards=each)) for each in Range]
    assert range_of(tuple(parts)) is Range.ANY
    assert range_of(tuple(parts[:2])) is Range.SHARE


@pytest.mark.parametrize(
    ("units", "method"),
    [
        (Units([1, 1, 0], rewards=Range.BINARY), "wilson"),
        (Units([1, 2], [2, 3], rewards=Range.BINARY), "effective wilson"),
        (Units([0, 0], [2, 3], rewards=Range.BINARY), "effective wilson"),
        (shares(1, 3, scale=4), "effective wilson"),
        (Units([1, 2, 4], rewards=Range.POSITIVE), "hall"),
        (Units([1, 0, 1]), "hall"),
    ],
)
def test_method_follows_from_the_range_of_the_rewards(units: Units, method: str) -> None:
    found = interval(float(units.mean), alone(units), 0.95, "tasks")
    assert found.method == method
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high


def test_equal_shares_have_an_interval_and_no_standard_error() -> None:
    found = interval(1, alone(shares(1, 1, 1)), 0.95, "tasks")
    assert (found.stderr, found.high, found.n_effective) == (None, 1.0, 3.0)
    assert found.reason == "stderr undefined: all tasks have the same value"


def test_equal_amounts_have_no_interval() -> None:
    reason = "undefined: all tasks have the same value, so the error is unknown"
    assert interval(2, alone(Units([2, 2])), 0.95, "tasks") == Interval(
        None, None, None, "hall", reason=reason
    )


def test_a_mean_of_groups_rests_on_the_sum_of_their_variances() -> None:
    parts = tuple(Stratum(Fraction(1, 2), shares(0, 1, 1)) for _ in range(2))
    found = interval(2 / 3, parts, 0.95, "tasks")
    # Two variances of 1/9 with a quarter of the weight each: 1 + 2/9 / (1/18).
    assert (found.method, found.n_effective) == ("stratified wilson", 5.0)


def test_groups_without_spread_count_as_if_all_had_one_mean() -> None:
    parts = tuple(Stratum(Fraction(1, 2), shares(*each)) for each in ((1, 1, 1), (0, 0, 0)))
    found = interval(0.5, parts, 0.95, "tasks")
    # 1 + 1 / (1/4 · 1/2 + 1/4 · 1/2), and t with four degrees of freedom.
    assert found.n_effective == 5.0
    assert found.stderr is None
    assert found.low is not None
    assert 0 < found.low < 0.15


def test_a_mean_of_a_group_of_one_task_has_no_interval() -> None:
    parts = (Stratum(Fraction(1, 2), shares(0, 1)), Stratum(Fraction(1, 2), shares(1)))
    found = interval(0.75, parts, 0.95, "tasks")
    assert (found.low, found.reason) == (None, "undefined for a single reward")


def test_a_mean_of_groups_of_amounts_is_of_hall() -> None:
    one = Units([1, 2, 9], rewards=Range.POSITIVE)
    whole = interval(4, alone(one), 0.95, "tasks")
    parts = (Stratum(Fraction(1), one), Stratum(Fraction(0), Units([5, 6])))
    found = interval(4, parts, 0.95, "tasks")
    assert found.method == "stratified hall"
    assert (found.stderr, found.high) == (whole.stderr, pytest.approx(whole.high))


def test_over_attempts_needs_to_know_the_attempts() -> None:
    found = interval(0.5, alone(shares(0, 1)), 0.95, "attempts")
    assert found.low is None
    assert "not a mean of attempts" in str(found.reason)
