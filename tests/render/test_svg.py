"""Scales, ticks and marks."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.colours import contrast

from harbor_metrics.render import svg

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300)


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_a_scale_holds_its_numbers_in_their_order(values: list[float]) -> None:
    places = svg.scale(values)
    at = [places.at(value) for value in sorted(values)]
    assert at == sorted(at)
    assert svg.LEFT <= at[0] <= at[-1] <= svg.RIGHT
    assert places.low <= min(values)
    assert max(values) <= places.high
    assert places.low < places.high


def test_amounts_have_a_scale_of_their_own() -> None:
    small = svg.scale([1e-7, 3e-7], shares=False)
    assert small.at(3e-7) - small.at(1e-7) > 80
    assert svg.scale([0, 0], shares=False).at(0) == 50


def test_shares_stand_on_one_scale() -> None:
    assert svg.scale([0.4, 0.6])[:2] == svg.scale([])[:2] == (0, 1)
    assert svg.scale([0.4, 1.6]).low < 0.4


@given(NUMBERS, NUMBERS)
def test_ticks_are_round_few_and_even(one: float, other: float) -> None:
    places = svg.scale([one, other])
    found = svg.ticks(places.low, places.high)
    assert 2 <= len(found) <= 6
    assert all(places.low <= Fraction(tick) <= places.high for tick in found)
    gaps = {b - a for a, b in pairwise(found)}
    assert len({gap.normalize() for gap in gaps}) <= 1
    assert all(gap.normalize().as_tuple().digits in ((1,), (2,), (5,)) for gap in gaps)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0, 1, "0 0.2 0.4 0.6 0.8 1"),
        (Fraction(-2, 100), Fraction(11, 100), "0 0.05 0.1"),
        (-30, 120, "0 50 100"),
        (0, 4_000_000, "0 1e+6 2e+6 3e+6 4e+6"),
    ],
)
def test_ticks(low: float, high: float, texts: str) -> None:
    assert " ".join(map(svg.tick_text, svg.ticks(Fraction(low), Fraction(high)))) == texts


def test_no_tick_is_minus_zero() -> None:
    assert svg.tick_text(Decimal("-0.0")) == "0"


@given(st.text(), st.integers(2, 60))
def test_a_cut_text_fits(text: str, most: int) -> None:
    short = svg.cut(text, most)
    assert svg.columns(short) <= most
    start, _, end = short.partition("…")
    assert short == text or (text.startswith(start) and text.endswith(end))


def test_long_names_that_begin_alike_are_told_apart() -> None:
    names = [f"starter-template__of-our-lab__{name}" for name in ("mini-swe", "opencode")]
    assert svg.told_apart(names, 30) == ["…mini-swe", "…opencode"]
    assert svg.told_apart(names, 40) == names
    long = ["a" * 30 + "1", "a" * 30 + "2"]
    assert svg.told_apart(long, 10) == ["aaaa…aaaa1", "aaaa…aaaa2"]


@pytest.mark.parametrize("colour", svg.COLOURS)
@pytest.mark.parametrize("ground", ["#ffffff", "#000000", "#16191d"])
def test_marks_are_seen_on_white_and_on_black(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= 3


def test_runs_are_told_apart_by_shape_too() -> None:
    assert len(set(svg.SHAPES)) == len(svg.SHAPES) == len(set(svg.COLOURS)) == len(svg.COLOURS)
    drawn = {svg.mark("0%", 0, i).replace(colour, "") for i, colour in enumerate(svg.COLOURS)}
    assert len(drawn) == len(svg.COLOURS)


def test_a_picture_says_what_it_is() -> None:
    drawn = svg.picture("rewards", "a < b", 10)
    assert 'role="img"' in drawn
    assert "<title>rewards</title><desc>a &lt; b</desc>" in drawn
    assert "style" not in drawn


def test_ink_is_that_of_the_page() -> None:
    drawn = svg.axis_across(svg.scale([0, 1]), 0, 10)
    assert 'stroke="currentColor"' in drawn


@given(st.lists(st.text("ab", min_size=1, max_size=9), unique=True, max_size=30))
def test_names_that_are_cut_are_told_apart(names: list[str]) -> None:
    long = [f"{'x' * 20}{name}{'y' * 20}" for name in names]
    for cut in (svg.cut_apart(long, 12), svg.told_apart(long, 12)):
        assert len(set(cut)) == len(names)
        assert all(len(each) <= 12 for each in cut)
    assert svg.cut_apart(["a", "a", "b"], 12) == ["a", "a", "b"]
