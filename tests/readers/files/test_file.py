"""Sources on standard input and in pipes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
from backports import zstd

from harbor_metrics import InputError, readers
from harbor_metrics.readers import counting, delimited, rewards, trials
from harbor_metrics.readers.files import fork, lines
from harbor_metrics.readers.files.file import File, opened
from harbor_metrics.readers.reading import Options
from harbor_metrics.readers.sources import sources_at
from harbor_metrics.trials.source import Source


def test_source_is_read_from_standard_input(tmp_path: Path) -> None:
    content = b'{"reward": 1}\nnull\n'
    command = [sys.executable, "-m", "harbor_metrics", "compute", "-", "--format", "json"]
    for data in (content, gzip.compress(content), zstd.compress(content)):
        done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["sources"][0]["path"] == "-"
        assert document["groups"][0]["metrics"][0]["values"] == {"mean": 0.5}
    done = subprocess.run(command, input=b"", capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 3
    assert b"- is empty" in done.stderr


def test_slow_pipe_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.RawIOBase):
        data = gzip.compress(b'{"reward": 1}\n')

        def read(self, size: int = -1) -> bytes:
            one, self.data = self.data[:1], self.data[1:]
            return one

    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": Slow()}))
    (source,) = readers.read("-")
    assert len(source.trials) == 1


@pytest.mark.parametrize(
    ("head", "change", "is_refused"),
    [
        (b"{}", "replaced", True),
        (b"{}", "rewritten", True),
        (b"{}", "cut", True),
        (b"{}", "grown", False),
        (b"{}", "rewritten and grown", True),
        (b"{}", "gone", True),
        (b"{}", "read", False),
        (b"PK\3\4", "grown", True),
        (b"PK\3\4", "read", False),
    ],
)
def test_file_that_changes_while_it_is_read_is_refused(
    head: bytes, change: str, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_bytes(head + b"\n" * 40)
    if change == "replaced":
        path.with_suffix(".new").write_bytes(path.read_bytes())
    os.utime(path, (1, 1))

    def read() -> None:
        with opened(str(path)) as file:
            data = Path(file.local).read_bytes()
            if change == "replaced":
                path.with_suffix(".new").replace(path)
            elif change == "gone":
                path.unlink()
            elif change == "rewritten":
                path.write_bytes(data[::-1])
            elif change == "rewritten and grown":
                path.write_bytes(data[::-1] + b"{}")
            elif change == "cut":
                path.write_bytes(data[:-1])
            elif change == "grown":
                with path.open("ab") as stream:
                    stream.write(b"{}")
            file.check(hashlib.sha256(data).hexdigest())

    if is_refused:
        with pytest.raises((InputError, FileNotFoundError), match=r"was changed|No such file"):
            read()
    else:
        read()


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("alone", [True, False])
def test_digest_is_of_the_lines_that_count_while_others_are_added(
    alone: bool, counts: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "rewards.jsonl"
    data = b'{"reward": 1}\n' * 1000
    path.write_bytes(data)
    added = []
    in_two = fork.alongside

    def alongside(work: Callable[[], bytes]) -> Callable[[], bytes | None]:
        with path.open("ab") as stream:
            added.append(stream.write(b'{"reward": 0}\n'))
        return in_two((lambda: b"") if alone else work)

    monkeypatch.setattr(lines, "_HALVES_PAY", 0)
    monkeypatch.setattr(counting, "COUNTS_PAY", 0)
    monkeypatch.setattr(fork, "pays", lambda: True)
    monkeypatch.setattr(fork, "alongside", alongside)
    (source,) = sources_at(str(path), None, Options(counts=counts))
    assert added
    assert len(source.trials) == 1000
    assert source.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ('{"reward": 1}\n', True),
        ('{"reward": 1}\n', False),
        ('{"task": "a", "rewards": {"reward": 1}}\n', True),
    ],
)
def test_what_counts_in_a_second_process_is_what_the_digest_is_of(
    line: str, counts: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A line that another writes between the two readings counts for neither."""
    path = tmp_path / "source"
    path.write_text(line * 1000)

    def alongside(work: Callable[[], bytes]) -> Callable[[], bytes | None]:
        answer = in_two(work)()
        path.write_text(line * 999 + line.replace("1", "0") + line)
        return lambda: answer

    in_two = fork.alongside
    monkeypatch.setattr(lines, "_HALVES_PAY", 0)
    monkeypatch.setattr(counting, "COUNTS_PAY", 0)
    monkeypatch.setattr(fork, "pays", lambda: True)
    monkeypatch.setattr(fork, "alongside", alongside)
    with pytest.raises(InputError, match="was changed while it was read"):
        sources_at(str(path), None, Options(counts=counts))


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(
    ("reader", "head", "row"),
    [
        (rewards, "", '{"reward": 0}\n'),
        (trials, "", '{"task": "a", "rewards": {"reward": 0}}\n'),
        (delimited, "task,reward\n", "a,0\n"),
    ],
    ids=["rewards", "trials", "csv"],
)
def test_file_that_is_written_anew_and_longer_while_it_is_read_is_refused(
    reader: Any, head: str, row: str, counts: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "source"
    path.write_text(head + row * 1000)
    really = reader.read

    def read(file: File, options: Options) -> list[Source]:
        sources: list[Source] = really(file, options)
        path.write_text(head + row.replace("0", "1") * 1001)
        return sources

    monkeypatch.setattr(counting, "COUNTS_PAY", 0)
    monkeypatch.setattr(reader, "read", read)
    with pytest.raises(InputError, match="was changed while it was read"):
        sources_at(str(path), None, Options(counts=counts))


def test_digest_of_a_csv_is_of_the_rows_that_count_while_others_are_added(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "trials.csv"
    data = b"task,reward\n" + b"a,1\n" * 1000
    path.write_bytes(data)
    rows = delimited.read_rows

    def read_rows(stream: TextIO, path_: str) -> tuple[list[str], Iterator[Any]]:
        names, placed = rows(stream, path_)

        def meanwhile() -> Iterator[Any]:
            yield from placed
            with path.open("ab") as more:
                more.write(b"b,0\n")

        return names, meanwhile()

    monkeypatch.setattr(delimited, "read_rows", read_rows)
    (source,) = sources_at(str(path), None, Options())
    assert len(source.trials) == 1000
    assert source.sha256 == hashlib.sha256(data).hexdigest()
