"""`-` is standard input, whatever lies in the current folder under that name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

LINES = '{"task": "a", "rewards": {"r": 1}}\n{"task": "b", "rewards": {"r": 0}}\n'


@pytest.fixture(params=["parquet", "document", "link", "rewards", "folder"])
def called_so(request: pytest.FixtureRequest, cli: Run, tmp_path: Path) -> Path:
    """Something of a stranger's in the current folder that is called `-`."""
    path = tmp_path / "-"
    (tmp_path / "theirs.jsonl").write_text('{"task": "x", "rewards": {"r": 9}}\n')
    if request.param == "parquet":
        assert cli("convert", "theirs.jsonl", "-o", "t.parquet").returncode == 0
        (tmp_path / "t.parquet").rename(path)
    elif request.param == "document":
        assert cli("compute", "theirs.jsonl", "-o", "r.json").returncode == 0
        (tmp_path / "r.json").rename(path)
    elif request.param == "link":
        (tmp_path / "mine.jsonl").write_text(LINES)
        path.symlink_to("mine.jsonl")
    elif request.param == "rewards":
        path.write_text('{"r": 9}\n')
    else:
        path.mkdir()
    return path


@pytest.mark.usefixtures("called_so")
def test_what_is_called_so_takes_the_place_of_nothing(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(LINES.replace('"a"', '"c"').replace('"b"', '"d"'))
    for sources, n in ((["-"], 2), (["mine.jsonl", "-"], 4), (["-", "mine.jsonl"], 4)):
        done = cli("compute", *sources, "--format", "json", input=LINES)
        assert done.returncode == 0, done.stderr
        (group,) = json.loads(done.stdout)["groups"]
        assert (group["counts"]["found"], group["metrics"][0]["values"]) == (n, {"mean": 0.5})
    assert cli("convert", "-", input=LINES).stdout.count("\n") == 2
    done = cli("report", "-", "-o", "page.html", input=LINES)
    assert done.returncode == 0, done.stderr
    assert "2 trials" in (tmp_path / "page.html").read_text()
    assert cli("audit", "-", input=LINES).returncode == 1


@pytest.mark.usefixtures("called_so")
def test_where_no_source_is_named_it_is_no_path(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(LINES)
    before = sorted(path.name for path in tmp_path.iterdir())
    for command in (
        ["compute", "mine.jsonl", "--registry", "-"],
        ["compute", "mine.jsonl", "--labels", "-", "--group-by", "x"],
        ["add", "-", "d", "mean"],
    ):
        done = cli(*command)
        assert done.returncode == 3, done.stderr
        assert "- stands for standard input" in done.stderr or "- is not a file" in done.stderr
    for command in (
        ["compute", "mine.jsonl", "-o", "-"],
        ["convert", "mine.jsonl", "-o", "-"],
        ["report", "mine.jsonl", "-o", "-"],
    ):
        done = cli(*command)
        assert done.returncode in (2, 3), done.stderr
        assert "- is not a file" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.parquet", "r.json"])
def test_an_address_is_no_path_of_a_folder_that_is_called_like_it(
    name: str, cli: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "s3:" / "bucket"
    folder.mkdir(parents=True)
    (tmp_path / "theirs.jsonl").write_text(LINES)
    if name == "mine.jsonl":
        (folder / name).write_text(LINES)
    else:
        command = "compute" if name == "r.json" else "convert"
        assert cli(command, "theirs.jsonl", "-o", str(folder / name)).returncode == 0
    address = f"s3://bucket/{name}"
    for command in (["convert"], ["audit"]):
        done = cli(*command, address)
        assert (done.returncode, done.stdout) == (3, "")
        assert "is an address" in done.stderr
    done = cli("compute", "theirs.jsonl", "--labels", address)
    assert done.returncode == 3
    assert "is an address" in done.stderr


@pytest.mark.parametrize("more", [["--metric", "last", "--only-asked"], ["--group-by", "kind"]])
def test_standard_input_is_read_once_whatever_is_read_again(
    more: list[str], cli: Run, tmp_path: Path
) -> None:
    """Beside a large source that is counted first, and kept when a metric asks for its trials."""
    size = 1_200_000 // 60
    rest = '"rewards": {"r": 1}, "labels": {"kind": "k"}}'
    lines = "".join(f'{{"task": "x{i}", {rest}\n' for i in range(size))
    (tmp_path / "large.jsonl").write_text(lines)
    mine = LINES.replace("}}", '}, "labels": {"kind": "k"}}')
    metric = '{"type": "mean", "kwargs": {"reducer": "last"}}'
    more = ["--metric", metric] if "last" in more else more
    done = cli("compute", "large.jsonl", "-", *more, "--format", "json", input=mine)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == size + 2
    done = cli("compare", "large.jsonl", "-", "--unpaired", "drop", *more, input=mine)
    assert "is empty" not in done.stderr
