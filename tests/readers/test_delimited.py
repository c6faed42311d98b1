"""CSV: its columns, and what is wrong in a row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics import readers
from harbor_metrics.documents.diagnostics import Span
from harbor_metrics.errors import InputError

CSV = """problem_id,attempt,score,style,category,model_name,answer,cost_usd
a,1,1,0.5,x,sail-1,"one, and
two",0.25
a,2,0,,x,sail-1,,
b,1,,0.25,007,sail-1,three,0.5
"""


def test_csv_columns_become_parts_of_trials(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CSV)
    columns = {"reward.style": "style", "text.prediction": "answer", "reward.score": "score"}
    (source,) = readers.read(str(tmp_path / "t.csv"), columns=columns)
    first, second, third = source.trials
    assert first.rewards == {"score": 1, "style": 0.5}
    assert (first.task, first.attempt, first.model) == ("a", 1, "sail-1")
    assert first.texts == {"prediction": "one, and\ntwo"}
    assert first.labels == {"category": "x"}
    assert first.usage.cost_usd == 0.25
    assert second.rewards == {"score": 0}
    assert third.rewards == {"style": 0.25}
    assert third.labels == {"category": "007"}


@pytest.mark.parametrize(
    ("text", "columns", "code", "words"),
    [
        (CSV, "task=nosuch,reward=score", 3, ["no column `nosuch` for task", "problem_id"]),
        ("task,reward\na,1\nb,high\nc,2\n", "", 1, ["line 3: column `reward`", '"high"']),
        ("task,reward\na,True\n", "", 1, ["finite number", "write 1"]),
        ("task,reward\na,nan\n", "", 1, ["finite number", "leave the cell empty"]),
        ("task,reward\na,1,2\nb,1\n", "", 1, ["line 2 has 3 cells, the header has 2"]),
        ("task,reward,reward\na,1,2\n", "", 3, ["two columns named `reward`"]),
        ("task,attempt,reward\na,x,1\n", "", 1, ["column `attempt` must be an integer"]),
        ("task,error,reward\na,False,1\n", "", 1, ["`error` must be the name of an exception"]),
        ("task,error,reward\na,nan,1\n", "", 1, ["line 2: column `error`", "leave the cell empty"]),
        ("task,reward\n,1\nb,1\n", "", 1, ["line 2: column `task` must be a task's name"]),
        ('task,reward\n"a,1\n', "", 3, ["not CSV"]),
        ("task,reward\n\xff,1\n", "", 0, []),
    ],
)
def test_mistake_in_a_csv_is_named(
    text: str, columns: str, code: int, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text)
    done = cli("compute", "t.csv", "--columns", columns, "--format", "json")
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr
    if code == 1:
        groups = json.loads(done.stdout)["groups"]
        assert [group["counts"]["unread"] for group in groups] in ([1], [])


def test_csv_that_is_not_utf_8_is_refused(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"task,reward\n\xe9,1\n")
    done = cli("compute", "t.csv")
    assert done.returncode == 3
    assert "not UTF-8: byte 0xe9" in done.stderr


@pytest.mark.parametrize(
    ("content", "numbers"),
    [("\n\ntask,score\na,1\nb,x\n", 5), ("task,score\ra,1\rb,x\r", 3)],
    ids=["blank lines", "cr"],
)
def test_csv_below_blank_lines_or_with_old_line_ends_is_read(
    content: str, numbers: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content.encode())
    (source,) = readers.read(str(path))
    assert [(t.task, t.rewards) for t in source.trials] == [("a", {"reward": 1})]
    assert [d.span and d.span.line for d in source.diagnostics] == [numbers]


def test_a_wrong_cell_is_pointed_at(tmp_path: Path) -> None:
    text = 'task;reward;x\n"a; ""b""";zz;3\n"c\nd";1;2\ne;"n\nn";3\n\nf;1\ng;1;2;3\n'
    (tmp_path / "t.csv").write_text(text)
    diagnostics = readers.read(str(tmp_path / "t.csv"))[0].diagnostics
    lines = text.split("\n")
    assert lines[1][11:13] == "zz"
    assert [d.span for d in diagnostics] == [
        Span(2, 12, 2, 14),
        Span(5, 3, 6, 3),
        Span(8, 4, 8, 4),
        Span(9, 7, 9, 8),
    ]


def test_each_wrong_cell_of_a_row_has_its_place(tmp_path: Path) -> None:
    text = 'task,reward.a,label.b,reward.c,reward.d\n\nt,x,"two\nlines, and ""more""",y,z\n'
    (tmp_path / "t.csv").write_text(text)
    (source,) = readers.read(str(tmp_path / "t.csv"))
    places = [diagnostic.span for diagnostic in source.diagnostics]
    assert places == [Span(3, 3, 3, 4), Span(4, 22, 4, 23), Span(4, 24, 4, 25)]


def test_column_of_trials_that_are_left_out_is_refused_unless_it_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("task,reward,left_out\na,1,\nb,0,True\n")
    with pytest.raises(InputError, match="`left_out` says which trials are left out") as refused:
        readers.read(str(path))
    assert str(refused.value.help).endswith(" --columns label.left_out=left_out")
    (found,) = readers.read(str(path), columns={"label.left_out": "left_out"})
    assert [trial.labels.get("left_out") for trial in found.trials] == [None, "True"]
