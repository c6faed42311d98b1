"""Running one script over two trials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run


@pytest.fixture(autouse=True)
def always_own_caches(own_caches: None) -> None:
    """Every test here may make environments."""


@pytest.fixture
def outcome(cli: Run, tmp_path: Path):
    """Runs one script over two trials and gives its outcome and what was printed."""

    def run(text: str, *arguments: str, **options: object):
        (tmp_path / "m.py").write_text(text)
        (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
        metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "m.py"}})
        done = cli(
            "compute", "r.jsonl", "--metric", metric, "--format", "json", *arguments, **options
        )
        (group,) = json.loads(done.stdout)["groups"]
        return group["metrics"][-1], done

    return run
