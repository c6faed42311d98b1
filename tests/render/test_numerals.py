"""Numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.evaluation.result import Uncertainty
from harbor_metrics.render.numerals import Numerals, exact, numerals, significant


def sure(stderr: float | None, low: float | None, high: float | None) -> Uncertainty:
    return Uncertainty(stderr=stderr, low=low, high=high, level=0.95, method="hall")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (10**14, "100000000000000"),
        (10**15, "1e+15"),
        (1 / 3, "0.333333"),
        (2.0, "2"),
        (-1e-9, "-1e-09"),
    ],
)
def test_number_without_an_error_has_six_significant_digits(value: float, text: str) -> None:
    assert exact(value) == text


@pytest.mark.parametrize(
    ("value", "error", "low", "high", "shown"),
    [
        (5 / 12, 0.25, 0.1293, 0.7746, ("0.42", "0.25", "[0.13, 0.77]")),
        (0.510333, 0.04916, 0.29296, 0.72387, ("0.510", "0.049", "[0.293, 0.724]")),
        (0.5, 0.0996, 0.31, 0.69, ("0.50", "0.10", "[0.31, 0.69]")),
        (1, 0, 0.7224, 1, ("1", "0", "[0.722, 1]")),
        (0, 0.0, 0, 0.2775, ("0", "0", "[0, 0.278]")),
        # What is no 0 and no 1 does not look like one.
        (0.9996, 0.012, 0.976, 0.99999, ("0.9996", "0.012", "[0.976, 0.99999]")),
        (0.0001, 0.012, -0.0001, 0.024, ("0.0001", "0.012", "[-0.0001, 0.024]")),
        (1, None, 0.2065, 1, ("1", "—", "[0.206, 1]")),
        (0.51249, None, 0.2065, 0.75, ("0.512", "—", "[0.206, 0.75]")),
        (123456.7, 2345.6, 118765.4, 128765.4, ("123500", "2300", "[118800, 128800]")),
        (83.1, 11.6, 58.57, 108, ("83", "12", "[59, 108]")),
        (-31.0452, 5.34, -45.01, -21.09, ("-31.0", "5.3", "[-45.0, -21.1]")),
        (2.5e20, 1.3e18, 2.4e20, 2.6e20, ("2.500e+20", "1.3e+18", "[2.400e+20, 2.600e+20]")),
        (2.5e-12, 1.3e-13, 2.2e-12, 2.8e-12, ("2.50e-12", "1.3e-13", "[2.20e-12, 2.80e-12]")),
        (0.5, 0.1, None, None, ("0.50", "0.10", "—")),
    ],
)
def test_two_digits_of_the_error_say_where_the_others_end(
    value: float,
    error: float | None,
    low: float | None,
    high: float | None,
    shown: tuple[str, str, str],
) -> None:
    assert numerals(value, sure(error, low, high), "significant") == Numerals(*shown)


def test_full_digits_are_those_of_the_document() -> None:
    full = numerals(1 / 3, sure(0.1 + 0.2, 0.0, 1), "full")
    assert full == Numerals("0.3333333333333333", "0.30000000000000004", "[0, 1]")
    assert exact(2.0, "full") == "2"


def test_what_is_not_known_is_a_dash() -> None:
    assert numerals(None, None, "significant") == Numerals("—")
    assert numerals(None, sure(None, None, None), "full") == Numerals("—", "—", "—")


finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e18, max_value=1e18)


@given(st.lists(finite, min_size=3, max_size=3), st.floats(1e-12, 1e12))
def test_a_value_lies_in_its_interval_as_they_are_shown(ends: list[float], error: float) -> None:
    low, value, high = sorted(ends)
    shown = numerals(value, sure(error, low, high), "significant")
    bottom, top = map(float, shown.interval[1:-1].split(", "))
    assert bottom <= float(shown.value) <= top


@given(finite, st.floats(1e-12, 1e12))
def test_only_0_and_1_look_like_0_and_1(value: float, error: float) -> None:
    shown = numerals(value, sure(error, value, value), "significant").value
    assert (float(shown) in (0, 1)) == (value in (0, 1))
    assert (float(significant(value, 3)) in (0, 1)) == (value in (0, 1))
    if value in (0, 1):
        assert shown in ("0", "1")


@given(finite, st.floats(1e-12, 1e12))
def test_rounding_is_off_by_less_than_a_tenth_of_the_error(value: float, error: float) -> None:
    shown = float(numerals(value, sure(error, value, value), "significant").value)
    assert abs(shown - value) <= max(error / 10, abs(value) * 1e-14)
