"""Files of lines: one that cannot be read hides no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run
from printed import group

from harbor_metrics import InputError, compute


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


@pytest.mark.parametrize("first", ["\n", '{"r": 1}\n'])
def test_line_longer_than_any_is_refused(
    first: str, tmp_path: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.files.lines.MOST_OF_A_LINE", 1 << 20)
    path = tmp_path / "r.jsonl"
    path.write_text(first + '{"r": 1' + " " * (3 << 20) + "}\n")
    with pytest.raises(InputError, match=r"r\.jsonl .*a line of it is longer than 1 MiB"):
        compute(path)
    # Who is asked for mistakes alone has all of the file, and reads it.
    assert cli("validate", path).returncode == 0
