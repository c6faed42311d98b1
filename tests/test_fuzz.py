"""No mutant of a document ends a command in a traceback, a hang or an unknown exit code."""

from __future__ import annotations

from pathlib import Path

import fuzz
import pytest

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("name", fuzz.kinds())
def test_mutants_end_no_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    fuzz.fuzz(
        fuzz.kinds()[name], 40, 1, lambda _, command, words: said.append(f"{command}: {words}")
    )
    assert said == []


def test_what_ends_badly_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind = fuzz.Kind([{"x.jsonl": b'{"reward": 1}\n'}], (("compute", "x.jsonl"),))
    said: list[str] = []

    def fail() -> int:
        raise RuntimeError("this is what is looked for")

    monkeypatch.setattr("harbor_metrics.cli._call", fail)
    assert fuzz.fuzz(kind, 2, 0, lambda _, command, words: said.append(words)) == 2
    assert all("this is what is looked for" in words for words in said)
    monkeypatch.setattr("harbor_metrics.cli._call", lambda: 4)
    assert fuzz.call(("compute", "x.jsonl")) == "exit 4"
