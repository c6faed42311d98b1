"""Cells side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.wording import columns
from harbor_metrics.render.alignment import align, fold, measure

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


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 20, ["one two three"]),
        ("one two three", 9, ["one two", "three"]),
        ("one two three", 11, ["one two", "three"]),
        ("a/b_c.d", 6, ["a/b_c.", "d"]),
        ("skill_activation_evidence", 20, ["skill_activation_", "evidence"]),
        ("x" * 20, 10, ["xxxxxxxx", "xxxxxxxx", "xxxx"]),
        ("note  9 tasks", 8, ["note  9", "tasks"]),
        ("", 8, [""]),
    ],
)
def test_text_is_parted_between_words(text: str, width: int, lines: list[str]) -> None:
    assert fold(text, width) == lines


@given(st.text(st.sampled_from("ab_/ é漢"), max_size=60), st.integers(-3, 7))
def test_text_in_too_little_room_loses_nothing(text: str, width: int) -> None:
    assert "".join(fold(text, width)).replace(" ", "") == text.replace(" ", "")


@given(st.text(st.sampled_from("ab_/ é漢"), max_size=60), st.integers(8, 30))
def test_folded_text_fits_and_loses_nothing(text: str, width: int) -> None:
    first, *more = fold(text, width)
    assert columns(first) <= width
    assert all(columns(line) <= width - 2 for line in more)
    assert "".join([first, *more]).replace(" ", "") == text.replace(" ", "")


@given(st.text("ab /", max_size=60), st.lists(CELL, max_size=30), st.integers(1, 40))
@pytest.mark.parametrize(
    "command", ["harbor-metrics script check", "uv lock --script", "git -C / ls-remote"]
)
def test_a_command_stands_on_one_line(
    command: str, before: str, names: list[str], width: int
) -> None:
    """In two lines it is two, of which the second can be a file of who named it."""
    whole = f"{command} {' '.join(names)}"
    lines = fold(f"{before} {whole}", width)
    assert lines[-1].endswith(whole)
    assert not any(command in line for line in lines[:-1])


@given(st.lists(st.text("ab/(`)", max_size=7), max_size=12), st.integers(3, 40))
def test_no_word_is_lost_or_added(words: list[str], width: int) -> None:
    text = " ".join(words)
    for some in (
        text,
        f"{text} `harbor-metrics list` {text}",
        f"{text} (harbor-metrics list {text}",
    ):
        joined = "".join("".join(fold(some, width)).split(" "))
        assert joined == "".join(some.split(" "))


def test_behind_a_command_in_backquotes_lines_are_parted_again() -> None:
    assert fold("no metric (`harbor-metrics list` shows all of them)", 28) == [
        "no metric",
        "(`harbor-metrics list`",
        "shows all of them)",
    ]
    quoted = "(`harbor-metrics compute 'a` b'` does it, and so on)"
    assert fold(f"so {quoted}", 20) == ["so", quoted]
