"""Rows of CSV, in a file of trials and in one of labels."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from harbor_metrics import readers
from harbor_metrics.errors import InputError
from harbor_metrics.readers import labels, rows


@pytest.mark.parametrize(
    "text",
    [
        "t" * 2000,
        "task,reward\n" + "t" * 2000,
        "task,reward\nt,1\n" + "t" * 990 + ',"' + "1\n" * 20,
        "task,reward\n" + '"\n",' * 300,
        " " * 2000 + "\ntask,reward\n",
    ],
    ids=range(5),
)
def test_a_row_that_does_not_end_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MOST_OF_A_ROW", 1000)
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match="a row is longer than"):
        readers.read(str(tmp_path / "t.csv"), as_format="csv")


def test_rows_of_the_most_characters_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MOST_OF_A_ROW", 1000)
    (tmp_path / "t.csv").write_text("task,reward\n" + ("t" * 997 + ",1\n") * 5)
    (source,) = readers.read(str(tmp_path / "t.csv"))
    assert len(source.trials) == 5


def test_a_cell_is_as_long_as_a_row_may_be(tmp_path: Path) -> None:
    text = "t" * 200_000
    (tmp_path / "t.csv").write_text(f"task,reward,label.side\nt,1,{text}\n")
    (source,) = readers.read(str(tmp_path / "t.csv"))
    (tmp_path / "l.csv").write_text(f"task,side\nt,{text}\n")
    assert labels.read(str(tmp_path / "l.csv")) == {"t": {"side": text}}
    assert source.trials[0].labels == {"side": text}


CELLS = {"1": 1, "0.5": 0.5, "007": "007", "1e3": "1e3", "nan": "nan", "x": "x", '"a;b"': "a;b"}


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_label_is_the_same_in_a_file_of_trials_and_in_one_of_labels(
    tmp_path: Path, cell: str, delimiter: str
) -> None:
    lines = [("task", "reward", "side"), ("t", "1", cell)]
    (tmp_path / "t.csv").write_text("".join(delimiter.join(line) + "\n" for line in lines))
    others = "".join(delimiter.join((line[0], line[2])) + "\n" for line in lines)
    (tmp_path / "l.csv").write_text(others)
    (source,) = readers.read(str(tmp_path / "t.csv"))
    found = labels.read(str(tmp_path / "l.csv"))
    assert found == {"t": {"side": CELLS[cell]}} == {"t": source.trials[0].labels}


@pytest.mark.parametrize("names", ["task,Reward,reward", "task,reward,reward", "task,reward,TASK"])
def test_two_columns_of_one_name_are_refused(names: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{names}\na,1,0\n")
    with pytest.raises(InputError, match="has two columns named"):
        readers.read(str(tmp_path / "t.csv"))


def test_an_empty_cell_is_no_label(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("task,side,level\nt,, \nu,x,1\n")
    assert labels.read(str(tmp_path / "l.csv")) == {"t": {}, "u": {"side": "x", "level": 1}}


def test_a_cell_of_very_many_digits_that_is_no_number_is_looked_through_once() -> None:
    assert rows.number("1" * 1_000_000 + "x") is None


@pytest.mark.parametrize(
    "header",
    ['reward,"x\n1,0"', 'reward,"x', '"reward" x,y', '"a;b;c",reward,"x\n1,0",1'],
    ids=range(4),
)
def test_header_whose_quotes_do_not_close_on_its_line_is_refused(
    header: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(header + "\n0,b\n")
    with pytest.raises(InputError):
        readers.read(str(path))
    for refused in (
        lambda: readers.read(str(path), as_format="csv"),
        lambda: labels.read(str(path)),
    ):
        with pytest.raises(InputError, match="the header line is not CSV"):
            refused()


@pytest.mark.parametrize("quoted", ['"y;reward;z;w"', '"a;;""\t\t\t;;b"', '";;;;"'])
def test_what_stands_in_quotes_delimits_nothing(quoted: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for header, row in ((f"x,{quoted},reward", "a,b,1"), (f"{quoted},reward", "b,1")):
        path.write_text(f"{header}\n{row}\n")
        names = next(csv.reader([header]))
        (trial,) = readers.read(str(path))[0].trials
        assert (trial.rewards, trial.labels[names[-2]]) == ({"reward": 1}, "b")


def test_blank_line_of_a_single_column_is_not_passed_over(tmp_path: Path) -> None:
    """Some programs write a missing value so, and for others there is nothing."""
    for text, places in (("reward\n1\n\n0\n", [3]), ("task,reward\na,1\n\nb,0\n", [])):
        (tmp_path / "r.csv").write_text(text)
        (source,) = readers.read(str(tmp_path / "r.csv"))
        assert [
            d.span and d.span.line for d in source.diagnostics if d.rule == "invalid-trial"
        ] == places
        assert (len(source.trials), len(source.unread)) == (2, len(places))
