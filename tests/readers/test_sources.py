"""The sources in a file or a directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics.errors import InputError
from harbor_metrics.readers.reading import Options
from harbor_metrics.readers.sources import sources_at
from harbor_metrics.trials.source import NotThisFormatError, Source

CSV = "task,reward\na,1\n"


def at(path: Path, as_format: str | None = None) -> list[Source]:
    return sources_at(str(path), as_format, Options())


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_source_says_its_format(tmp_path: Path) -> None:
    assert [source.kind for source in at(write(tmp_path / "x", CSV))] == ["csv"]
    assert [source.kind for source in at(write(tmp_path / "y", '{"r": 1}\n'))] == ["rewards"]


def test_files_of_a_directory_come_before_those_of_the_directories_in_it(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "b.csv", CSV)
    assert [Path(s.path).name for s in at(tmp_path, "csv")] == ["b.csv"]
    write(tmp_path / "a.csv", CSV)
    assert [Path(s.path).name for s in at(tmp_path, "csv")] == ["a.csv"]


def test_hidden_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".a.csv", CSV)
    write(tmp_path / ".deep" / "b.csv", CSV)
    with pytest.raises(NotThisFormatError, match="no file in it is a CSV"):
        at(tmp_path, "csv")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_text(" \n\n"), "is empty"),
        (lambda path: path.mkdir(), "empty directory"),
    ],
    ids=["nothing", "blank", "empty directory"],
)
def test_nothing_to_read_is_refused(make: object, words: str, tmp_path: Path) -> None:
    make(tmp_path / "x")
    with pytest.raises(InputError, match=words):
        at(tmp_path / "x")


def test_path_with_a_nul_is_refused() -> None:
    with pytest.raises(InputError, match="is n"):
        sources_at("a\0b", None, Options())


def test_file_is_not_a_job(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a file; a Harbor job is a directory"):
        at(write(tmp_path / "x", "{}"), "harbor-job")


@pytest.mark.parametrize("how", ["link", "linked folder", "in a folder"])
def test_what_a_link_leads_to_is_not_quoted(how: str, cli: Run, tmp_path: Path) -> None:
    secret = tmp_path / "home" / "token.jsonl"
    secret.parent.mkdir()
    secret.write_text('{"expires_in": 3599, "access_token": "hunter2"}\n')
    work = tmp_path / "work"
    work.mkdir()
    (work / "good.jsonl").write_text('{"reward": 1}\n')
    if how == "link":
        (work / "rewards.jsonl").symlink_to(secret)
        named = "rewards.jsonl"
    elif how == "linked folder":
        (work / "linked").symlink_to(secret.parent)
        named = "linked/token.jsonl"
    else:
        (work / "folder").mkdir()
        (work / "folder" / "rewards.jsonl").symlink_to(secret)
        named = "folder/rewards.jsonl"
    for arguments in (
        ("compute", named, "good.jsonl", "--format", "json"),
        ("compute", named),
        ("convert", named),
        ("report", named, "good.jsonl", "-o", "o.html"),
    ):
        done = cli(*arguments, cwd=work)
        assert "hunter2" not in done.stdout + done.stderr
        assert "a link to" in done.stdout + done.stderr, arguments
    assert "hunter2" not in (work / "o.html").read_text()
