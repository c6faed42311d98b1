"""Packed files give what the plain ones give; damaged ones are refused."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from conftest import LOGS, Run, trial, write_job
from readers.contents import FORMATS

from harbor_metrics import InputError, readers
from harbor_metrics.readers.files.packed import gunzipped, unzstd


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gz", "zst"])
@pytest.mark.parametrize(
    ("kind", "content"), FORMATS[2:], ids=[f"{k}{i}" for i, (k, _) in enumerate(FORMATS[2:])]
)
def test_packed_file_gives_the_same_trials(
    kind: str, content: bytes, pack: Any, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed").write_bytes(pack(content))
    (plain,) = readers.read(str(tmp_path / "plain"))
    (packed,) = readers.read(str(tmp_path / "packed"))
    assert packed.kind == plain.kind == kind
    assert list(packed.trials) == list(plain.trials)
    assert packed.sha256 == plain.sha256


def test_file_packed_in_parts_is_read_whole(tmp_path: Path) -> None:
    lines = [f'{{"reward": {i / 7}}}\n'.encode() for i in range(2_000)]
    for name, pack in {"gz": gzip.compress, "zst": zstd.compress}.items():
        parts = (pack(b"".join(lines[:900])), pack(b""), pack(b"".join(lines[900:])))
        (tmp_path / name).write_bytes(b"".join(parts))
        (source,) = readers.read(str(tmp_path / name))
        assert len(source.trials) == 2_000


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_packed_file_is_refused(pack: Any, damage: str, cli: Run, tmp_path: Path) -> None:
    lines = [f'{{"reward": {random.Random(i).random()}}}\n'.encode() for i in range(100)]
    data = pack(b"".join(lines))
    middle = len(data) // 2
    rest = b"" if damage == "cut" else bytes(byte ^ 0x5A for byte in data[middle:])
    (tmp_path / "x").write_bytes(data[:middle] + rest)
    done = cli("compute", "x")
    assert (done.returncode, done.stdout) == (3, "")
    assert ("x is cut off" if damage == "cut" else "x is damaged") in done.stderr


def test_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.files.file.MOST_UNPACKED", 1 << 20)
    (tmp_path / "x").write_bytes(zstd.compress(bytes(3 << 20)))
    with pytest.raises(InputError, match="unpacks to more than 0 GiB, the most that is read"):
        readers.read(str(tmp_path / "x"))


def test_file_that_unpacks_to_far_more_than_it_has_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Run
) -> None:
    """What is made of a line takes four times what it unpacks to."""
    monkeypatch.setattr("harbor_metrics.readers.files.file.MOST_PLAIN", 1 << 20)
    row = b'{"reward": 1}\n'
    (tmp_path / "x").write_bytes(zstd.compress(row * 80_000 + b" " * (3 << 20) + row))
    with pytest.raises(InputError, match="unpacks to more than 500 times as many bytes"):
        readers.read(str(tmp_path / "x"))
    (tmp_path / "x").write_bytes(zstd.compress(row * 70_000))
    assert len(readers.read(str(tmp_path / "x"))[0].trials) == 70_000


def test_of_a_file_that_is_no_log_no_more_is_unpacked_than_is_looked_at(tmp_path: Path) -> None:
    """Anything may lie in the folder of a trial, and beside logs."""
    size = 40 << 20
    job = write_job(tmp_path / "job", [trial("a", {"reward": 1.0})])
    folder = next(path for path in job.iterdir() if path.is_dir())
    shutil.copytree(LOGS / "lm_eval/0.4.13", tmp_path / "logs")
    for path in (folder / "artifact.bin", tmp_path / "logs" / "artifact.bin"):
        path.write_bytes(zstd.compress(bytes(size)))
    code = (
        "import os, resource\n"
        "from harbor_metrics import compute\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size // 2}, {size // 2}))\n"
        "for path in ('job', 'logs'): print(compute(path).groups[0].counts.found > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + 9, 5 << 19])
@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gz", "zst"])
def test_packed_file_is_whole_whatever_its_size(size: int, pack: Any, tmp_path: Path) -> None:
    row = b'{"reward": 1}\n'
    path = tmp_path / "x"
    path.write_bytes(pack(row + b" " * (size - 2 * len(row)) + row))
    (source,) = readers.read(str(path))
    assert [trial.rewards for trial in source.trials] == [{"reward": 1}] * 2


def test_frame_without_data_may_come_first(tmp_path: Path) -> None:
    skipped = bytes([0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]) + b"abcd"
    path = tmp_path / "x.zst"
    path.write_bytes(skipped + zstd.compress(b'{"reward": 1}\n') + skipped)
    (source,) = readers.read(str(path))
    assert [trial.rewards for trial in source.trials] == [{"reward": 1}]


def test_killed_reader_leaves_nothing_unpacked(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "x.gz").write_bytes(gzip.compress(b'{"reward": 1}\n'))
    code = "import os, signal\nfrom harbor_metrics.readers.files.file import opened\n"
    code += "with opened('x.gz'): os.kill(os.getpid(), signal.SIGKILL)"
    env = {**os.environ, "TMPDIR": str(tmp_path / "t")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (list((tmp_path / "t").iterdir()) == []) is (sys.platform == "linux")


def test_empty_frames_and_members_take_no_longer_than_they_are_long() -> None:
    """What followed was copied for each of them: a megabyte took seconds."""
    for packed, unpacked in ((zstd.compress(b""), unzstd), (gzip.compress(b""), gunzipped)):
        spent = []
        for n in (1 << 17, 1 << 20):
            before = time.process_time()
            assert b"".join(unpacked([packed * (n // len(packed)) + packed])) == b""
            spent.append(time.process_time() - before)
        assert spent[1] < 24 * spent[0] + 0.1
