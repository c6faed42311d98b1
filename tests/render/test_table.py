"""Sheets as text for a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from conftest import JOBS, LOGS, Run, trial, write_job
from hypothesis import given
from hypothesis import strategies as st
from metric_scripts import metric as script

from harbor_metrics.api import compute
from harbor_metrics.documents.wording import columns
from harbor_metrics.render.overview import sheets
from harbor_metrics.render.sheet import Line, Sheet
from harbor_metrics.render.table import table

SOURCES = [*(JOBS / name for name in ("single", "multi", "graded", "two-models", "interrupted"))]
SOURCES += [LOGS / "inspect", LOGS / "lm_eval"]


def test_table_fits_eighty_columns(cli: Run, tmp_path: Path) -> None:
    long = "x" * 130
    late = {"exception_type": long}
    job = write_job(tmp_path / "job", [trial("t", {"r": 1}, exception_info=late, source=long)])
    done = cli("compute", job, "--metric", script("gone.py"))
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "1 trial, 1 task" in done.stdout


def test_a_reward_key_is_not_a_command_to_a_runner(cli: Run, tmp_path: Path) -> None:
    rewards = {"##[error]no": 1, "::error::no": 0}
    job = write_job(tmp_path / "job", [trial("t", rewards)])
    shown = cli("compute", job, "--level", "off").stdout
    assert r"##\x5berror]no" in shown
    assert not re.search(r"##\[|^\s*::", shown, re.MULTILINE)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nothing_is_cut_inside_a_word_and_nothing_leaves_the_width(
    source: Path, width: int, blocks: bool
) -> None:
    made = sheets(compute(source), blocks=blocks)
    shown = table(made, width=width)
    assert max(map(columns, shown.splitlines())) <= width
    lines = [line.split() for line in shown.splitlines()]
    words = {word for line in lines for word in line}
    for sheet in made:
        cells = [*(cell for line in sheet.lines for cell in line.cells), *sheet.headings]
        assert {word for cell in cells for word in cell.split()} <= words


SHEET = Sheet(
    "title", "counts", ("metric", "value", "stderr"),
    [Line(("short", "1", "2")), Line(("a_very_long_name_of_a_metric", "3", "4"))],
    [("note", "text")],
)  # fmt: skip


def test_name_that_is_wider_than_its_column_has_a_line_of_its_own() -> None:
    assert table([SHEET], width=36) == (
        "title\n"
        "counts\n"
        "metric                value   stderr\n"
        "────────────────────────────────────\n"
        "short                     1        2\n"
        "a_very_long_name_of_a_metric\n"
        "                          3        4\n"
        "note  text\n"
    )


def test_columns_that_do_not_fit_stand_below_beside_the_names_again() -> None:
    wide = Sheet("t", "c", ("who", "a", "b"), [Line(("x", "1" * 20, "2" * 20))], [])
    assert table([wide], width=40).splitlines()[2:] == [
        "who                      a",
        "──────────────────────────",
        "x     11111111111111111111",
        "",
        "who                      b",
        "──────────────────────────",
        "x     22222222222222222222",
    ]


def test_heading_stands_only_above_numbers() -> None:
    lines = [Line(("x", "", "")), Line(("a", "1" * 20, ""), indent=1), Line(("y", "", "2" * 20))]
    shown = table([Sheet("t", "c", ("who", "a", "b"), lines, [])], width=40).splitlines()[2:]
    assert [line[:3].rstrip() for line in shown] == [
        "who",
        "───",
        "x",
        "  a",
        "",
        "who",
        "───",
        "y",
    ]


NAMES = st.text(st.sampled_from("ab_/ "), min_size=1, max_size=40).map(str.strip)
NUMBERS = st.text(st.sampled_from("0123456789"), max_size=12)


@given(st.lists(st.tuples(NAMES, NUMBERS, NUMBERS), max_size=5), st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], width: int) -> None:
    sheet = msgspec.structs.replace(SHEET, lines=[Line(row) for row in rows])
    shown = table([sheet], width=width)
    assert max(map(columns, shown.splitlines())) <= width
    for row in rows:
        assert all(number in shown for number in row[1:])


def test_headings_are_folded_only_where_there_is_no_room_for_the_columns_or_a_name() -> None:
    def heads(name: str) -> list[str]:
        sheet = Sheet("", "counts", ("metric", "passed of\ntrials"), [Line((name, "5 of 12"))], [])
        return [line.strip() for line in table([sheet], width=40).splitlines()[1:-2]]

    assert heads("a" * 21) == ["metric                  passed of trials"]
    assert heads("a b " * 6) == ["passed of", "metric                        trials"]
