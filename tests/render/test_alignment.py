"""Cells side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.wording import columns
from harbor_metrics.render.alignment import align, measure

CELL = st.text(st.sampled_from("ab é日\u0301"), max_size=6)
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1)


def test_text_stands_on_the_left_and_numbers_on_the_right() -> None:
    rows = [("metric", "value", "n"), ("日本", "0.5", "10")]
    widths = measure(rows)
    assert widths == [6, 5, 2]
    assert [align(row, widths, right=(1, 2)) for row in rows] == [
        "metric  value   n",
        "日本      0.5  10",
    ]


def test_a_colour_takes_no_column() -> None:
    assert align(["x", "\x1b[31mfailed\x1b[0m"], [3, 8], right=(1,)) == (
        "x      \x1b[31mfailed\x1b[0m"
    )


@given(ROWS)
def test_the_last_column_ends_in_the_same_place_in_every_row(
    rows: list[tuple[str, str, str]],
) -> None:
    rows = [(*row[:2], f"{row[2]}|") for row in rows]
    ends = {columns(align(row, measure(rows), right=(1, 2))) for row in rows}
    assert len(ends) == 1
