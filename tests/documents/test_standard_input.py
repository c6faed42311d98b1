"""Standard input whose pipe does not block."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

LINES = [b'{"reward": 1}\n' * 100, b'{"reward": 0}\n' * 100]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("command", ["compute", "convert", "validate"])
def test_nothing_yet_is_not_the_end(command: str, tmp_path: Path, *, blocks: bool) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, blocks)
    options = ["--format", "json"] if command == "compute" else []
    arguments = [sys.executable, "-m", "harbor_metrics", command, "-", *options]
    with subprocess.Popen(
        arguments, stdin=reading, stdout=subprocess.PIPE, cwd=tmp_path
    ) as running:
        os.close(reading)
        for part in LINES if command != "validate" else [LINES[0], b'{"reward": "x"}\n']:
            time.sleep(1)
            os.write(writing, part)
        os.close(writing)
        out, _ = running.communicate()
    if command == "validate":
        assert running.returncode == 1
    elif command == "compute":
        assert json.loads(out)["groups"][0]["metrics"][0]["values"] == {"mean": 0.5}
    else:
        assert len(out.splitlines()) == 200
