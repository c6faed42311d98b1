"""The places of runs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.comparison.document import Row
from harbor_metrics.reports.ranks import ranks


def row(difference: float, p: float | None, *, higher: bool | None = True) -> Row:
    return Row(
        metric="mean", type="mean", kwargs={}, value="mean",
        difference=difference, p=p, higher_is_better=higher,
    )  # fmt: skip


def test_who_is_surely_better_stands_above() -> None:
    pairs = {("a", "b"): row(0.5, 0.001), ("a", "c"): row(0.1, 0.5), ("b", "c"): row(-0.4, 0.001)}
    assert ranks("abc", pairs, 0.95) == [("a", 2, 3), ("b", 1, 1), ("c", 2, 3)]


def test_less_can_be_better() -> None:
    assert ranks("ab", {("a", "b"): row(0.5, 0.001, higher=False)}, 0.95) == [
        ("a", 1, 1), ("b", 2, 2),
    ]  # fmt: skip


def test_pairs_are_counted_together() -> None:
    pairs = {pair: row(0.5, 0.02) for pair in combinations("abc", 2)}
    assert ranks("abc", pairs, 0.95) == [("a", 1, 3), ("b", 1, 3), ("c", 1, 3)]


def test_without_a_direction_there_are_no_places() -> None:
    assert ranks("ab", {("a", "b"): row(0.5, 0.001, higher=None)}, 0.95) == []


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.floats(0, 1)), min_size=6, max_size=6))
def test_every_place_is_one_of_those_there_are(found: list[tuple[int, float]]) -> None:
    pairs = dict(zip(combinations("abcd", 2), (row(*each) for each in found), strict=True))
    for rank in ranks("abcd", pairs, 0.95):
        assert 1 <= rank.low <= 4
        assert 1 <= rank.high <= 4
