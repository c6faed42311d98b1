"""Sources on standard input and in pipes."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from backports import zstd

from harbor_metrics import readers


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
