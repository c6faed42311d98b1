"""What a metric returns, and the independent units that it rests on."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.contract.estimate import (
    Estimate,
    Undefined,
    estimate,
    macro,
    ratio_units,
    units,
)
from harbor_metrics.errors import MetricFailure
from harbor_metrics.numbers.units import Stratum, Units
from harbor_metrics.trials.column import Column
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

ROWS = [("a", 1, "x"), ("a", 0, "y"), ("b", 1, "x"), ("c", 0.5, None)]
COLUMN = Table(
    [
        Trial(task=t, attempt=i, rewards={"r": r}, labels={"g": g})
        for i, (t, r, g) in enumerate(ROWS)
    ]
).column("r", "error")


def means(found: Units) -> tuple[Fraction, int]:
    return found.mean, found.sums.units


def test_task_is_one_unit_with_all_its_attempts() -> None:
    assert means(units(COLUMN)) == (Fraction(5, 8), 3)
    assert sorted(units(COLUMN).denominators or ()) == [1, 1, 2]


def test_every_reward_is_a_unit_without_clusters() -> None:
    assert means(units(COLUMN, None)) == (Fraction(5, 8), 4)


def test_values_of_a_label_are_clusters() -> None:
    named = Table([t for t in COLUMN.trials if t.labels["g"]]).column("r", "error")
    assert means(units(named, "g")) == (Fraction(2, 3), 2)


def test_null_label_names_no_cluster() -> None:
    with pytest.raises(MetricFailure, match="label `g` is null for some trials"):
        units(COLUMN, "g")


def test_repeated_rewards_make_counted_units_of_the_same_mean() -> None:
    few = Column([0, 1, 1, 0] * 8, [f"t{i // 2:02}" for i in range(32)])
    assert units(few).times == [16]
    assert means(units(few)) == (Fraction(1, 2), 16)
    assert means(units(few, None)) == (Fraction(1, 2), 32)


def test_units_of_a_column_are_made_once() -> None:
    assert units(COLUMN) is units(COLUMN)


def test_ratio_has_a_numerator_and_a_denominator_a_row() -> None:
    found = ratio_units(COLUMN, [1, 2, 3, 4], [1, 1, 2, 6], 1)
    assert (list(found.numerators), list(found.denominators or ())) == ([3, 3, 4], [2, 2, 6])
    assert found.mean == 1


def test_estimate_is_the_mean_of_its_units_rounded_once() -> None:
    found = estimate(Units([1, 2]), n=5)
    assert found == Estimate(value=1.5, strata=(Stratum(Fraction(1), Units([1, 2])),), n=5)
    assert isinstance(estimate(Units([10**400])), Undefined)


def test_macro_mean_weighs_means_equally_or_by_size() -> None:
    parts = [
        Estimate(value=v, n=n, strata=(Stratum(Fraction(1), Units([v])),))
        for v, n in ((1, 1), (4, 2))
    ]
    equal, sized = macro(parts), macro(parts, [1, 2])
    assert (equal.value, equal.n, sized.value) == (2.5, 3, 3.0)
    assert [weight for weight, _ in equal.strata] == [Fraction(1, 2)] * 2
    assert [weight for weight, _ in sized.strata] == [Fraction(1, 3), Fraction(2, 3)]


def test_macro_mean_of_a_mean_without_units_has_none() -> None:
    known = Estimate(value=1, strata=(Stratum(Fraction(1), Units([1])),))
    assert macro([known, Estimate(value=3)]).strata == ()


def test_strata_that_take_long_are_made_when_asked_for() -> None:
    strata = (Stratum(Fraction(1), Units([1])),)
    lazy = Estimate(value=1, later=lambda: strata)
    assert lazy.strata == ()
    assert lazy.known == Estimate(value=1, strata=strata)


@given(st.dictionaries(st.text(), st.booleans() | st.sampled_from([0.25, 0.5, 1, 3]), min_size=2))
def test_mean_of_a_number_a_task_has_the_units_of_the_mean_of_one_attempt_each(
    values: dict[str, float],
) -> None:
    found = Estimate.of_tasks(values)
    rewards = Table([Trial(task=t, attempt=1, rewards={"r": float(v)}) for t, v in values.items()])
    same = estimate(units(rewards.column("r", "error")))
    assert isinstance(found, Estimate)
    assert isinstance(same, Estimate)
    assert (found.value, found.n, found.range) == (same.value, same.n, same.range)
    assert found.strata[0].units.variance == same.strata[0].units.variance


def test_mean_over_no_tasks_is_undefined() -> None:
    assert Estimate.of_tasks({}) == Undefined("there are no tasks")
