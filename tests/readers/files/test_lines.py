"""Files of lines: one that cannot be read hides no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run
from printed import group


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.jsonl", '{"r": 1}\n{"r": ' + "[" * 100_000 + "\n"),
        ("t.jsonl", '{"task": "a", "rewards": {"r": 1}}\n{"task": ' + "[" * 100_000 + "\n"),
        ("first.jsonl", "[" * 100_000 + '\n{"r": 1}\n'),
    ],
)
def test_deep_nesting_hides_nothing(name: str, text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = cli("compute", name, "--format", "json")
    assert done.returncode == 1
    assert "nested" in done.stderr
    assert group(done)["counts"]["found"] == 1
