"""What a script wrote to `-o`, read from the folder that it wrote to."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harbor_metrics.documents.document import parse
from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts import answer
from harbor_metrics.scripts.answer import MAX_BYTES, MAX_KEYS, read


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def test_object_of_finite_numbers_is_the_answer(folder: int, tmp_path: Path) -> None:
    (tmp_path / "o").write_text('{"a": 1, "b": -0.5, "\\u00e9": 1e300}')
    assert read(folder, "o") == {"a": 1, "b": -0.5, "é": 1e300}


def test_missing_file_is_not_an_answer(folder: int) -> None:
    with pytest.raises(FileNotFoundError):
        read(folder, "o")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON: the file is empty"),
        ("{", "not JSON: the text ends inside an object"),
        ('{"a": NaN}', "`NaN` is not a JSON number (line 1, column 7)"),
        ('{"a": 1, "a": 2}', "duplicate key `a`"),
        ('{"a": ' + "9" * 400 + "}", "out of range: larger than any binary64 number, with 400"),
        ('{"\\ud800": 1}', "in a key or in a value"),
        ('{"a":' * 2_000, "nested"),
        ("[1]", "must be an object of numbers, not an array"),
        ("0.5", "must be an object of numbers, not a number"),
        ("{}", "an empty object"),
        ('{"": 1}', "a key in the script's output is empty"),
        ('{"a": true}', "`a` in the script's output must be a number, not a boolean"),
        ('{"a\\u001b": null}', "`a\\x1b` in the script's output must be a number, not null"),
        ('{"a": {"b": 1}}', "must be a number, not an object; the output is a flat object"),
    ],
)
def test_anything_else_fails_with_the_reason(
    text: str, words: str, folder: int, tmp_path: Path
) -> None:
    (tmp_path / "o").write_text(text)
    with pytest.raises(MetricFailure) as failed:
        read(folder, "o")
    assert words in str(failed.value)
    assert failed.value.rule == "script-failed"


def test_brackets_without_end_before_a_wrong_byte_are_no_answer(
    folder: int, tmp_path: Path
) -> None:
    (tmp_path / "o").write_bytes(b'{"a":' * 2_000 + b"\xff")
    with pytest.raises(MetricFailure, match="not UTF-8"):
        read(folder, "o")


def test_answer_is_limited_in_keys_and_bytes(folder: int, tmp_path: Path) -> None:
    text = ", ".join(f'"{i}": 1' for i in range(MAX_KEYS + 1))
    (tmp_path / "o").write_text(f"{{{text}}}")
    with pytest.raises(MetricFailure, match="has 1001 keys; at most 1000"):
        read(folder, "o")
    (tmp_path / "o").write_text(" " * (MAX_BYTES + 1))
    with pytest.raises(MetricFailure, match="larger than 1048576 bytes"):
        read(folder, "o")


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        # Relative, because a socket's name may not be long.
        server.bind(path.name)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.symlink_to("other"), "a symbolic link"),
        (lambda path: os.link(path.with_name("other"), path), "a hard link"),
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "not a regular file"),
        (socket_at, "a socket"),
    ],
    ids=["link", "hard link", "pipe", "folder", "socket"],
)
def test_only_a_file_of_its_own_is_read(
    make: Callable[[Path], None],
    words: str,
    folder: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text('{"a": 1}')
    make(tmp_path / "o")
    with pytest.raises(MetricFailure, match=words):
        read(folder, "o")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"m":1\n' + "//\n" * 349_000 + "}", "JSON has no comments (line 2, column 1)"),
        ("[" + "NaN," * 250_000 + "1]", "holds NaN"),
        ("{" + ",".join('"a":1' for _ in range(150_000)) + "}", "at most 1000 are taken"),
        ('{"' + "n" * 2_000 + '": 1}', "a key in the script's output has 2000 characters"),
    ],
    ids=["comments", "constants", "twice", "name"],
)
def test_who_explains_a_hostile_answer_stops_at_its_first_slips(
    folder: int, tmp_path: Path, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained: list[int] = []

    def noted(data: bytes, path: str) -> object:
        explained.append(len(data))
        return parse(data, path)

    monkeypatch.setattr(answer, "parse", noted)
    (tmp_path / "o").write_text(text)
    with pytest.raises(MetricFailure) as failure:
        read(folder, "o")
    assert words in str(failure.value)
    assert all(size < 10_000 for size in explained)
