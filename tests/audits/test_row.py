"""Whether a reported number holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.audits.row import (
    Absent,
    Answer,
    Between,
    Drawn,
    Instead,
    Known,
    Unknown,
    Verdict,
    agree,
    judge,
)
from harbor_metrics.trials.source import Reported
from harbor_metrics.trials.trial import NO_GROUP


def verdict(value: float | None, found: Answer, incomplete: str = "", **more: Any) -> Any:
    reported = Reported(place="p", metric="mean", value=value, group=NO_GROUP, **more)
    row = judge("path", "group", reported, found, incomplete=incomplete)
    return row.verdict, row.reason


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (0.5, 0.5 + 1e-13, True),
        (0.5, 0.5 + 1e-11, False),
        (1e20, 1e20 * (1 + 1e-13), True),
        (None, None, True),
        (None, 0.0, False),
        (10**400, 10**400, True),
        (10**400, 0.5, False),
    ],
)
def test_numbers_agree_within_rounding(one: Any, other: Any, same: bool) -> None:
    assert agree(one, other) is same
    assert agree(other, one) is same


def test_equal_number_is_equal_even_of_an_incomplete_run() -> None:
    assert verdict(0.5, Known(0.5, "as they are")) == (Verdict.EQUAL, "as they are")
    assert verdict(0.5, Known(0.5), "1 missing")[0] == Verdict.EQUAL


def test_both_undefined_is_equal_with_the_reason() -> None:
    assert verdict(None, Known(None, "no rewards")) == (
        Verdict.EQUAL, "undefined here: no rewards",
    )  # fmt: skip
    assert verdict(None, Known(None), not_finite="NaN")[0] == Verdict.EQUAL


def test_infinity_is_explained_where_the_harness_writes_it() -> None:
    beyond = Instead("Infinity", "squares overflow", 1e300)
    assert verdict(None, beyond, not_finite="Infinity")[0] == Verdict.EXPLAINED
    assert verdict(None, beyond, not_finite="-Infinity")[0] == Verdict.DIFFERS
    assert verdict(0.5, beyond)[0] == Verdict.DIFFERS
    assert verdict(None, Known(None, "no rewards"), not_finite="Infinity")[0] == Verdict.DIFFERS


def test_what_is_not_computed_is_unverified() -> None:
    assert verdict(0.5, Unknown("drawn")) == (Verdict.UNVERIFIED, "drawn")


def test_what_a_harness_writes_instead_is_explained_and_nothing_else() -> None:
    answer = Instead(0, "one sample")
    assert verdict(0, answer) == (Verdict.EXPLAINED, "one sample")
    assert verdict(0.1, answer)[0] == Verdict.DIFFERS
    assert verdict(None, answer)[0] == Verdict.EQUAL
    assert verdict(0.1, answer, "1 missing") == (Verdict.UNVERIFIED, "1 missing")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, Verdict.EQUAL), (0.549, Verdict.UNVERIFIED), (0.551, Verdict.DIFFERS)],
)
def test_a_drawn_number_is_unverified_up_to_five_errors_away(value: float, expected: Any) -> None:
    reported = Reported(place="p", metric="m", value=value, group=NO_GROUP)
    row = judge("path", "group", reported, Drawn(0.5, 0.01, "drawn"), incomplete="")
    assert row.verdict == expected
    assert row.monte_carlo_errors == (pytest.approx((value - 0.5) / 0.01) if value > 0.5 else None)


def test_a_drawn_end_is_unverified_where_it_can_be() -> None:
    assert verdict(0.5, Between(0.4, 0.6, "drawn")) == (Verdict.UNVERIFIED, "drawn")
    assert verdict(0.7, Between(0.4, 0.6, "drawn"))[0] == Verdict.DIFFERS
    assert verdict(None, Between(0.4, 0.6, "drawn")) == (
        Verdict.DIFFERS, "the log has no number, and the scores give one",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.4, Verdict.UNVERIFIED), (0.6, Verdict.UNVERIFIED), (0.61, Verdict.DIFFERS)],
)
def test_missing_trials_excuse_what_they_can_have_changed(value: float, expected: Any) -> None:
    found, reason = verdict(value, Known(0.5, reach=(0.4, 0.6)), "1 missing")
    assert found == expected
    assert reason.startswith("1 missing")


def test_what_missing_trials_can_have_changed_without_bounds_is_unverified() -> None:
    assert verdict(9.0, Known(0.5), "1 missing") == (Verdict.UNVERIFIED, "1 missing")


def test_row_is_a_flat_object() -> None:
    reported = Reported(place="p", metric="m", value=None, group=NO_GROUP, not_finite="NaN")
    assert judge("x", "g", reported, Known(0.5, "r"), incomplete="").as_json() == {
        "path": "x", "group": "g", "name": "p", "reported": "NaN", "recomputed": 0.5,
        "verdict": "differs", "reason": "r", "monte_carlo_errors": None,
    }  # fmt: skip


@given(st.integers(-(2**70), 2**70), st.sampled_from([-1, 1, 3]))
def test_integers_agree_with_themselves_alone(number: int, by: int) -> None:
    assert agree(number, number)
    assert not agree(number, number + by)


NUMBERS = st.one_of(st.none(), st.sampled_from([0, 1, 0.5, 0.25, 2**60 + 1]), st.floats(-2, 2))
ANSWERS = st.one_of(
    st.builds(Known, NUMBERS, st.just("r"), st.sampled_from([None, (0, 1), (0.25, 0.75)])),
    st.builds(Unknown, st.just("r"), NUMBERS),
    st.builds(Instead, st.one_of(NUMBERS, st.just("Infinity")), st.just("r"), NUMBERS),
    st.builds(Drawn, st.floats(0, 1), st.floats(0, 1), st.just("r")),
    st.just(Between(0.25, 0.75, "r")),
    st.builds(Absent, st.just("r"), NUMBERS),
)


@given(NUMBERS, ANSWERS, st.sampled_from(["", "1 of 40 trials are missing on disk"]))
def test_only_a_number_that_was_computed_is_equal_or_explained(
    value: float | None, answer: Any, incomplete: str
) -> None:
    found, _ = verdict(value, answer, incomplete)
    if found == Verdict.EXPLAINED:
        assert isinstance(answer, Instead)
        assert agree(value, answer.written)
    if found == Verdict.EQUAL:
        assert not isinstance(answer, Absent)
        assert agree(value, answer.value)
